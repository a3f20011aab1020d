"""What a run can learn: each task gives the trainer models, batches, validators, columns and messages."""

from bytenet.config import Config
from bytenet.training.tasks.semi_supervised import SemiSupervisedTask
from bytenet.training.tasks.supervised import SupervisedTask
from bytenet.training.tasks.task import Direction, Task

__all__ = ["Direction", "SemiSupervisedTask", "SupervisedTask", "Task", "make_task"]


def make_task(config: Config) -> Task:
    """The task of a configuration, with its data read and its batches planned.

    Raises:
        InputError: the corpus or the configuration cannot be used.
    """
    return SemiSupervisedTask(config) if config.semi_supervised.enabled else SupervisedTask(config)
