"""Schemas as text for prompts."""
