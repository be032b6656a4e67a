"""Runs of the agent over a dataset: concurrent, resumable, with cached model replies."""
