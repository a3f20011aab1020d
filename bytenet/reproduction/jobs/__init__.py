"""The trainings of experiments, the processes that train them, and their scheduler."""
