"""Baselines: other ways to answer the same questions, through the same runner."""
