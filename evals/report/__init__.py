"""One self-contained page about one or more finished runs."""
