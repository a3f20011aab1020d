"""Semi-supervised ByteNet on image captions, beyond the thesis."""
