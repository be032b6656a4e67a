"""Chat models: their choice, requests, replies, errors and budgets."""
