"""What translates: the interface of all engines, the engines for trained models, and the engines by their languages."""
