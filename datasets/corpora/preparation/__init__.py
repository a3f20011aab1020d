"""From published files to sentence pairs: where files are, downloads, archives, and held-out pairs."""
