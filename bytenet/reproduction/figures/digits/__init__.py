"""Synthetic Digits, learned from pairs alone."""
