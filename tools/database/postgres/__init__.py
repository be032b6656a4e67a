"""PostgreSQL: read-only transactions under the server's own limits and row-level security."""
