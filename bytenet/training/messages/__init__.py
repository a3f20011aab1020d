"""What a training says at its start and at its end, and warnings about its settings."""
