"""Training: losses, optimisers, checkpoints, callbacks, and the run that uses them all."""

__all__ = ["train"]


def __getattr__(name: str):
    # Losses, metrics and schedules run on every Keras backend; only `train` needs TensorFlow.
    if name == "train":
        from bytenet.training.trainer import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
