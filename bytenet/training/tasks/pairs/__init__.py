"""The pairs that a run learns from, in memory or in shards on disk, and the order of their batches."""
