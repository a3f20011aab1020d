"""What translates: the interface of all engines, the engine for run folders, and the engines by their languages."""
