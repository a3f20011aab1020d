"""Settings that make a training as in the thesis."""

from bytenet.reproduction.figures.shared.curves import WATCHED

#: First weights for the thesis's SELU runs: eq. 3.5.2 with the fan of its code. Of those tried (also the code's own,
#: and eq. 3.5.2 itself) they alone give the first cross entropy of figure D.3.1. Which ones the thesis used is not
#: known: the published code has none of SELU's own.
SELU_WEIGHTS = "model.initializer=thesis_selu"

#: What the thesis's code does on language wherever it differs from the defaults.
AS_THESIS = (
    "model.settings=thesis", "data.min_length=0", "data.unknown=drop", "training.loss=sentence",
    "training.clip_norm=null", "training.keep_model=last", "evaluation.batch_norm_statistics=batch",
    "decoding.length_penalty=0.0", *WATCHED,
)  # fmt: skip
