"""Settings of small models and small corpora, as overrides and as options."""

SMALL = ["model.variant=simplified", "model.dim=4", "model.num_sets=1", "model.dilations=[1]"]
SMALL_SEMI_SUPERVISED = [
    *SMALL, "data.num_train=24", "data.num_monolingual=40", "data.batch_size=4", "semi_supervised.batch_size=4",
    "training.jit_compile=false",
]  # fmt: skip


def set_options(settings):
    """The options of a command with these settings."""
    return [argument for setting in settings for argument in ("--set", setting)]
