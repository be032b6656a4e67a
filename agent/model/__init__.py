"""Chat models: which one, how it is asked, what it replied, what went wrong, and what a turn may spend on it."""
