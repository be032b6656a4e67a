"""The HTTP API: one module a part."""
