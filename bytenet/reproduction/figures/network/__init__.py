"""The network: its blocks and their weights."""
