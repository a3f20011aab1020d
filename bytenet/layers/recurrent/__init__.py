"""Layers of recurrent translators: cells, encoders, attention to the source, and decoders (see `RecurrentDecoder`)."""
