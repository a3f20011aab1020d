"""Callbacks of `fit`: counting, evaluating, logging, saving, and showing the progress."""

from bytenet.training.callbacks.checkpoint_saver import CheckpointSaver
from bytenet.training.callbacks.continuous_evaluation import ContinuousEvaluation
from bytenet.training.callbacks.gradient_accumulation import GradientAccumulation, make_update
from bytenet.training.callbacks.plateau_cuts import PlateauCuts
from bytenet.training.callbacks.progress_line import ProgressLine
from bytenet.training.callbacks.scores_of_chief import ScoresOfChief
from bytenet.training.callbacks.state_keeper import StateKeeper
from bytenet.training.callbacks.training_log import TrainingLog
from bytenet.training.callbacks.whole_set_evaluation import WholeSetEvaluation

__all__ = [
    "CheckpointSaver",
    "ContinuousEvaluation",
    "GradientAccumulation",
    "PlateauCuts",
    "ProgressLine",
    "ScoresOfChief",
    "StateKeeper",
    "TrainingLog",
    "WholeSetEvaluation",
    "make_update",
]
