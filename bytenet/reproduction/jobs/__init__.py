"""The trainings of experiments: what is trained, and the processes that train several at a time."""
