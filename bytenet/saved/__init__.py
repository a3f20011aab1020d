"""Saved arrays and models. On reading, descriptions and sizes are checked before anything is allocated."""
