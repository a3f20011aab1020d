"""The models of `quality-factors` and `quality-factors-convs2s`, and the changes to their settings, one at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bytenet.config import load_config
from bytenet.datasets import read_corpus
from bytenet.datasets.selection import select_training_pairs
from bytenet.reproduction.engine.experiment import Scale
from bytenet.reproduction.figures.contest.systems import CONVS2S_WIDTH, SYSTEMS, VALIDATION, convs2s_layers
from bytenet.reproduction.figures.shared.corpus_files import as_split
from bytenet.reproduction.figures.shared.training_length import SMOKE_CORPUS, length_settings
from bytenet.reproduction.jobs.training_run import TrainingRun


@dataclass(frozen=True)
class Change:
    """A change to the settings of a model.

    Attributes:
        settings: that make it.
        time_of_step: time of a training step, divided by the time of a step without the change. Medians of 7 turns
            each, side by side on one core of an Intel Xeon, beside other trainings (for "the three changes with a gain
            together" of an AMD EPYC). A change that does not change the work of a step has 1.
        steps_an_epoch: number of steps in an epoch, divided by the number without the change.
        prepare: writes the files that the change needs, see `TrainingRun`.
    """

    settings: tuple[str, ...] = ()
    time_of_step: float = 1.0
    steps_an_epoch: float = 1.0
    prepare: Callable[[Path], list[str]] | None = None


@dataclass(frozen=True)
class ChangedModel:
    """A model, and the changes that are tried.

    Attributes:
        name: of the model without a change, in the table.
        preset: the preset that it starts from.
        settings: what differs from the preset.
        steps: number of training steps without a change.
        changes: by name.
        dim: its width.
        smoke: sizes of the smallest model.
        folder: beginning of the names of the run folders.
    """

    name: str
    preset: str
    settings: tuple[str, ...]
    steps: int
    changes: dict[str, Change]
    dim: int
    smoke: tuple[str, ...]
    folder: str

    def names(self, scale: Scale) -> list[str]:
        """The name of the model without a change, then the names of the changes; "smoke" has one of them."""
        names = [self.name, *self.changes]
        return names[:2] if scale == "smoke" else names

    def training(self, name: str, scale: Scale) -> TrainingRun:
        """The training of the model without a change, or with one.

        Args:
            name: one of `names`.
            scale: "smoke" trains a few steps.
        """
        change = Change() if name == self.name else self.changes[name]
        steps = round(self.steps / change.time_of_step)
        length = length_settings(scale, steps, round(_STEPS_AN_EPOCH * change.steps_an_epoch), _EVALUATIONS)
        smoke = (*SMOKE_CORPUS, *self.smoke) if scale == "smoke" else ()
        words = "".join(letter for letter in name if letter.isalnum() or letter in " -.").strip().replace(" ", "-")
        return TrainingRun(
            f"{self.folder}{words}",
            self.preset,
            (*_CORPUS, *self.settings, *length, *VALIDATION, *change.settings, *smoke),
            prepare=change.prepare,
            together=f"{self.folder}{words}",
            cost=1.0,
        )


PAIRS = 3_000
_CORPUS = (
    "data.corpus=multi30k",
    "data.source_language=de",
    "data.target_language=en",
    f"data.max_train_pairs={PAIRS}",
)
_STEPS_AN_EPOCH = 217  # with batches of 1,280 characters
_EVALUATIONS = 5  # on the validation set, approximately
_PRESET = "pairs-2k"


def _other_direction(folder: Path) -> list[str]:
    """Write the training pairs of the other direction as synthetic pairs. Returns the settings of the files.

    Training puts a tag in front of the sources of synthetic pairs.
    """
    data = load_config(_PRESET, _CORPUS).data
    pairs = select_training_pairs(read_corpus(data).train, data)
    return as_split(folder, "synthetic", pairs.reversed())


_WEIGHT_DECAY = ("training.optimizer=adamw", "training.optimizer_arguments={weight_decay: 0.01}")
#: Changes that do not change the work of a step.
_SHARED = {
    "dropout .2 instead of .35": Change(("model.dropout=0.2",)),
    "dropout .5": Change(("model.dropout=0.5",)),
    "label smoothing .1": Change(("training.label_smoothing=0.1",)),
    "target characters hidden, .1": Change(("model.character_dropout=0.1",)),
    "no average of the weights": Change(("training.ema_momentum=null",)),
    "learning rate 1e-3 instead of 2e-3": Change(("training.learning_rate=1e-3",)),
    "updates of 4 batches": Change(("training.accumulate_batches=4",)),
    "both directions in one model, with a tag": Change(steps_an_epoch=2.0, prepare=_other_direction),
}
_WINDOW = ("model.source_attention=window", "model.attention_slope=1.15")
BYTENET = ChangedModel(
    _PRESET,
    _PRESET,
    (),
    3_255,  # 15 epochs
    {
        **_SHARED,
        "R-Drop of 5": Change(("training.r_drop=5",), time_of_step=2.19),
        "weight decay .01 (AdamW)": Change(_WEIGHT_DECAY, time_of_step=1.25),
        "batches of 2,560 characters instead of 1,280": Change(
            ("data.batch_chars=2560",), time_of_step=2.04, steps_an_epoch=0.5
        ),
        "width 64 instead of 96": Change(("model.dim=64",), time_of_step=0.67),
        "width 128": Change(("model.dim=128",), time_of_step=1.6),
        "2 sets of blocks instead of 3": Change(("model.num_sets=2",), time_of_step=0.68),
        "4 sets of blocks": Change(("model.num_sets=4",), time_of_step=1.42),
        "attention to a window of the source": Change(_WINDOW, time_of_step=1.16),
        "no attention": Change(("model.source_attention=none",), time_of_step=0.94),
        "the four changes with a higher BLEU together": Change(
            (*_WINDOW, "model.num_sets=2", "model.dropout=0.2", "training.ema_momentum=null"), time_of_step=0.68
        ),
    },
    96,
    SYSTEMS["ByteNet"].smoke,
    "factor-",
)


def _convs2s_width(width: int) -> tuple[str, ...]:
    """The settings for another width of the small ConvS2S, which has 8 and 6 layers."""
    layers = (f"model.encoder_widths={[width] * 8}", f"model.decoder_widths={[width] * 6}")
    return (f"model.dim={width}", f"model.output_dim={width}", *layers)


#: The training and the search of pairs-2k, on top of multi30k-convs2s.
_AS_PAIRS_2K = (
    "model.dropout=0.35", "model.unfold_scale=1.2", "model.unfold_offset=24", "data.batch_chars=1280",
    "data.num_buckets=3", "training.learning_rate=2e-3", "training.warmup_steps=200", "training.ema_momentum=0.995",
    "decoding.beam_size=5",
)  # fmt: skip
_SHORT_ENCODER = convs2s_layers("encoder", 4)
_LAST_ATTENTION = ("model.attention_layers=[6]",)
CONVS2S = ChangedModel(
    "ConvS2S",
    "multi30k-convs2s",
    _AS_PAIRS_2K,
    3_012,  # the time of 3,255 steps of ByteNet: a step takes 1.08 times as long
    {
        **_SHARED,
        "R-Drop of 5": Change(("training.r_drop=5",), time_of_step=1.93),
        "weight decay .01 (AdamW)": Change(_WEIGHT_DECAY),
        "batches of 2,560 characters instead of 1,280": Change(
            ("data.batch_chars=2560",), time_of_step=1.84, steps_an_epoch=0.5
        ),
        "width 96 instead of 128": Change(_convs2s_width(96), time_of_step=0.63),
        "width 192": Change(_convs2s_width(192), time_of_step=1.99),
        "4 layers in the encoder instead of 8": Change(_SHORT_ENCODER, time_of_step=0.77),
        "12 and 9 layers instead of 8 and 6": Change(
            (*convs2s_layers("encoder", 12), *convs2s_layers("decoder", 9)), time_of_step=1.5
        ),
        "one table for target embeddings and softmax": Change(("model.tied_embeddings=softmax",)),
        "attention in the last layer only": Change(_LAST_ATTENTION, time_of_step=0.87),
        "the three changes with a gain together": Change(
            ("model.dropout=0.2", *_SHORT_ENCODER, *_LAST_ATTENTION), time_of_step=0.64
        ),
    },
    CONVS2S_WIDTH,
    SYSTEMS["ConvS2S"].smoke,
    "factor-convs2s-",
)
