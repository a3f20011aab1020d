"""What `bytenet data` reports about a corpus before anything is trained on it."""
