"""Fuzzers of everything that reads a file: `python -m tests.fuzz`, or `make fuzz`."""
