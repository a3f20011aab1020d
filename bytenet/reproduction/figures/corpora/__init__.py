"""The corpora: lengths of their sentences, and pairs of them."""
