"""Prompts and the parsers of their replies, one task per file (docs/prompts.md lists them)."""
