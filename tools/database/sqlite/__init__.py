"""The SQLite engine: guarded connections, limits, schema reading and compile checks."""
