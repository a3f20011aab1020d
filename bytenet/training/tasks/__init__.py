"""What a run can learn. Each task gives the trainer its models, batches, run folders, columns and messages.

Importing this package does not import TensorFlow, so that `starts` can be used without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bytenet.config import Config

if TYPE_CHECKING:
    from bytenet.datasets import Vocabulary
    from bytenet.training.distribution.workers import Workers
    from bytenet.training.tasks.direction import Direction
    from bytenet.training.tasks.semi_supervised_task import SemiSupervisedTask
    from bytenet.training.tasks.supervised_task import SupervisedTask
    from bytenet.training.tasks.task import Task

_MODULES = {
    "Direction": "direction",
    "SemiSupervisedTask": "semi_supervised_task",
    "SupervisedTask": "supervised_task",
    "Task": "task",
}

__all__ = ["Direction", "SemiSupervisedTask", "SupervisedTask", "Task", "make_task"]


def make_task(config: Config, vocabulary: "Vocabulary | None" = None, workers: "Workers | None" = None) -> "Task":
    """The task of a configuration, with its data read and its batches planned.

    Args:
        config: of the run.
        vocabulary: of the model that the run starts from; None is the vocabulary of the pairs.
        workers: that train together; None if this process trains alone.

    Raises:
        InputError: the corpus or the configuration cannot be used.
    """
    from bytenet.training.tasks.semi_supervised_task import SemiSupervisedTask
    from bytenet.training.tasks.supervised_task import SupervisedTask

    kind = SemiSupervisedTask if config.semi_supervised.enabled else SupervisedTask
    return kind(config, vocabulary, workers)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
