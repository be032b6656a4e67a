"""Answers: their data, events, phrasing, and the commands about them."""
