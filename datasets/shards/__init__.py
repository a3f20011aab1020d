"""Corpora larger than memory: dealt at random into compressed files, and trained from one file at a time.

`dealing` makes the folder of shards in one pass over the text. `folder` reads it, `plan` decides which pairs form which
batch of an epoch, and `dataset` makes the batches.
"""
