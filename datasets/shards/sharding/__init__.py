"""From streams of text to a folder of shards, in one pass and in bounded memory.

The way of a pair: `inputs` reads lines, `text_block` measures them, `filters` and `duplicates` choose, `shard_corpus`
distributes them over shards, `shard_files` and `tf_record` write them, in processes of their own (`writer_processes`).
"""
