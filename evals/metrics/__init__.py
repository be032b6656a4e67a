"""Judging predictions, and scores over many of them."""
