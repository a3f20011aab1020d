"""What a run can learn. Each task gives the trainer its models, batches, run folders, columns and messages."""

from bytenet.config import Config
from bytenet.datasets import Vocabulary
from bytenet.training.distribution.workers import Workers
from bytenet.training.tasks.direction import Direction
from bytenet.training.tasks.semi_supervised_task import SemiSupervisedTask
from bytenet.training.tasks.supervised_task import SupervisedTask
from bytenet.training.tasks.task import Task

__all__ = ["Direction", "SemiSupervisedTask", "SupervisedTask", "Task", "make_task"]


def make_task(config: Config, vocabulary: Vocabulary | None = None, workers: Workers | None = None) -> Task:
    """The task of a configuration, with its data read and its batches planned.

    Args:
        config: of the run.
        vocabulary: of the model that the run starts from; None is the vocabulary of the pairs.
        workers: that train together; None if this process trains alone.

    Raises:
        InputError: the corpus or the configuration cannot be used.
    """
    kind = SemiSupervisedTask if config.semi_supervised.enabled else SupervisedTask
    return kind(config, vocabulary, workers)
