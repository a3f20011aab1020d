"""Corpora larger than memory: how fast they are dealt into shards and trained from, and the memory for it."""
