"""MySQL and MariaDB: read-only transactions under the server's time limit, results taken row by row."""
