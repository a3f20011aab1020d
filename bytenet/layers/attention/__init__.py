"""Attention by dot products, with several heads, and its stacks and cache."""
