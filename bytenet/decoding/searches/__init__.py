"""The searches: greedy, beam and random translations, for batches of sentences."""
