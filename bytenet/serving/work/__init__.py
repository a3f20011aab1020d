"""The work of the server: requests become sentences, sentences become batches, one thread translates them."""
