"""What programs and people rely on: Python names, the HTTP API, MCP tools, the command line, keys of JSON.

    python -m tests.interface

writes each of them as it is now into a text file here. It refuses where something is gone that `removed.toml` does not
tell of; `test_interface.py` says the same.
"""
