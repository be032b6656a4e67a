"""Gold queries that there is reason to doubt, with the evidence."""
