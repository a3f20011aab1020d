"""Semi-supervised ByteNet on Synthetic Digits, and the attention baseline beside it."""
