"""Checkpoints from which a run goes on exactly as if it had never stopped: their files, content and average."""

from bytenet.training.checkpoints.content import (
    check_settings_of_checkpoint,
    restore_checkpoint,
    restore_run,
    save_checkpoint,
    spread_metric_sums,
    training_variables,
)
from bytenet.training.checkpoints.files import check_not_lost, checkpoints, latest_checkpoint, note_beginning

__all__ = [
    "check_not_lost",
    "check_settings_of_checkpoint",
    "checkpoints",
    "latest_checkpoint",
    "note_beginning",
    "restore_checkpoint",
    "restore_run",
    "save_checkpoint",
    "spread_metric_sums",
    "training_variables",
]
