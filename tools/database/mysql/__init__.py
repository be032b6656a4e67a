"""MySQL and MariaDB: read-only transactions with a time limit, results taken row by row."""
