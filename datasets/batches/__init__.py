"""Batches: lengths, buckets, the plan of every epoch, and the `tf.data` pipeline that follows it."""
