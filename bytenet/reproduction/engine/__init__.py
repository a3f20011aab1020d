"""What an experiment is, how it is run, and how its results are judged and kept."""
