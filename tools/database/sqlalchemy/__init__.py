"""Other databases with a dialect of SQLAlchemy, with fewer guarantees."""
