"""Corpora larger than memory: how fast they are sharded and trained from, and the memory for it."""
