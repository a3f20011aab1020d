"""The logs that runs leave for TensorBoard."""

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from bytenet.run_folder import RunFolder


def read_log(folder: RunFolder, name: str) -> EventAccumulator:
    return EventAccumulator(str(folder.logs / name)).Reload()
