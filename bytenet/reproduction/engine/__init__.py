"""An experiment: what it is, how it runs, and how its results are judged and saved."""
