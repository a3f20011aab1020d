"""The work of the server: requests become sentences, sentences become batches, a few threads translate them."""
