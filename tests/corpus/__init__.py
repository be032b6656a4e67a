"""Hostile code and statements, tried by the tests and by the benches `sandbox` and `fuzz` in a checkout."""
