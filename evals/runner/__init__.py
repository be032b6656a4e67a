"""Runs the agent over a dataset: concurrent, resumable, and without a second call for the same prompt."""
