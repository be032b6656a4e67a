"""A conversation at the terminal, typed or piped in with one question per line."""
