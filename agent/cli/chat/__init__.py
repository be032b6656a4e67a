"""A conversation at the terminal: typed there, or piped in a line a question."""
