"""DuckDB: its own files, tables in files of other kinds, and data frames."""
