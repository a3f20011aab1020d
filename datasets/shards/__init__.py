"""Corpora larger than memory: distributed at random over compressed files, and trained from one file at a time.

`sharding` makes the folder of shards in one pass over the text. `folder` reads it, `plan` decides which pairs form
which batch of an epoch, and `dataset` makes the batches.
"""
