"""What the tests of runs that start from other runs share."""

from contextlib import contextmanager

from bytenet.errors import InputError
from bytenet.training.callbacks import StateKeeper

RECURRENT = ("model.family=recurrent", "model.num_sets=null", "model.dilations=null")


@contextmanager
def failing_at_the_first_step(monkeypatch):
    """Inside this context, a run fails before it has a checkpoint."""

    def fail(self, batch, logs=None):
        raise InputError("the loss is nan")

    with monkeypatch.context() as patch:
        patch.setattr(StateKeeper, "on_train_batch_end", fail)
        yield
