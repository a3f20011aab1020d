"""What to do when the loss or the weights of a training are no longer finite numbers."""

ADVICE_ON_DIVERGENCE = (
    "Checkpoints of earlier steps, if there are any, are intact. Try these settings in this order: a lower "
    "training.learning_rate, more training.warmup_steps, training.clip_norm (1.0 is a good value), "
    "training.mixed_precision: false. Variants with SELU or without normalisation may need all of them."
)
