"""A run for tests that do no real training."""

from bytenet.reproduction.jobs.training_run import TrainingRun

RUN = TrainingRun("one", "digits", ("model.dim=4",))
