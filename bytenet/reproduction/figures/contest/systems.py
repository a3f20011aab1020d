"""The systems of the contest, their tuned settings, and the number of steps that takes the same time for each.

All are trained on the same batches of Multi30k, in characters. In `family-contest` at scale cpu, all have the same
dropout and learning rate. `family-contest-tuning` tries other ones on the validation set, with the same tries for each
system. `family-contest` at scale thesis and `family-contest-longer` have the best try of each.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from bytenet.csv_log import read_csv_log
from bytenet.reproduction.engine.experiment import Scale
from bytenet.reproduction.figures.shared.training_length import SMOKE_CORPUS, length_settings
from bytenet.reproduction.figures.shared.validation_scores import SELECTED_BY, kept_model_columns
from bytenet.reproduction.jobs.training_run import TrainingRun
from bytenet.run_folder import RunFolder

CONVS2S_WIDTH = 128
"""The width of the small ConvS2S."""


def convs2s_layers(side: str, layers: int, kernel_size: int = 5) -> tuple[str, str]:
    """The settings for a number of equal layers in the small ConvS2S.

    Args:
        side: "encoder" or "decoder".
        layers: number of layers.
        kernel_size: taps of each. The default is that of the small ConvS2S.
    """
    return f"model.{side}_widths={[CONVS2S_WIDTH] * layers}", f"model.{side}_kernel_sizes={[kernel_size] * layers}"


@dataclass(frozen=True)
class Choice:
    """The tuned settings.

    Attributes:
        dropout: dropout rate.
        learning_rate: highest learning rate.
    """

    dropout: float
    learning_rate: float


@dataclass(frozen=True)
class System:
    """A model of the contest.

    Attributes:
        preset: the preset with its sizes.
        steps_a_minute: training steps per minute, compiled with XLA, on the machine of the experiment. Those below are
            of two cores of an Intel Xeon that multiplies matrices at 400 GFLOP/s, by the mean time of
            `family-training`. A training takes as many steps on every machine, so that trainings from several machines
            can be joined.
        smoke: sizes of the smallest model.
        settings: what differs from the preset.
        longer: settings for sentences longer than those of the corpus.
    """

    preset: str
    steps_a_minute: float
    smoke: tuple[str, ...]
    settings: tuple[str, ...] = ()
    longer: tuple[str, ...] = ()


_GATED_SMOKE = (
    "model.dim=8", "model.output_dim=8", "model.encoder_widths=[8]", "model.encoder_kernel_sizes=[3]",
    "model.decoder_widths=[8]", "model.decoder_kernel_sizes=[3]", "model.attention_layers=[1]",
)  # fmt: skip
_ATTENTION_SMOKE = (
    "model.dim=8", "model.heads=2", "model.feed_forward_dim=8", "model.encoder_layers=1", "model.decoder_layers=1",
)  # fmt: skip
_BYTENET_SMOKE = ("model.dim=8", "model.num_sets=1", "model.dilations=[1, 2]")
_RECURRENT_SMOKE = ("model.dim=8", "model.encoder_layers=1", "model.decoder_layers=1")
SYSTEMS = {
    "ByteNet": System("multi30k", 205, _BYTENET_SMOKE),
    "ConvS2S": System("multi30k-convs2s", 263, _GATED_SMOKE, longer=("model.max_positions=2048",)),
    "Transformer": System("multi30k-transformer", 217, _ATTENTION_SMOKE),
    "Bahdanau": System("multi30k-bahdanau", 77, _RECURRENT_SMOKE),
    "Luong": System("multi30k-luong", 80, _RECURRENT_SMOKE),
    "Sutskever": System("multi30k-sutskever", 130, _RECURRENT_SMOKE),
}
#: ByteNet without and with attention to the source. With attention, a step takes 1.15 times as long (window) and 1.14
#: times as long (full): medians of 7 turns each, side by side in one run, with sentences of 80 characters. A step has
#: 1.15 times as many operations.
ATTENTIONS = {
    "ByteNet": SYSTEMS["ByteNet"],
    "ByteNet, window": System(
        "multi30k", 178, _BYTENET_SMOKE, ("model.source_attention=window", "model.attention_slope=1.15")
    ),
    "ByteNet, full": System("multi30k", 178, _BYTENET_SMOKE, ("model.source_attention=full",)),
}

#: All systems by name.
ALL_SYSTEMS = SYSTEMS | ATTENTIONS
#: The systems that take part in the contest.
COMPETITORS = ("ByteNet", "ByteNet, window", "ConvS2S", "Transformer", "Bahdanau", "Luong", "Sutskever")

#: Settings tried on the validation set with seed 1, the same for each system.
TRIES = (Choice(0.15, 1e-3), Choice(0.3, 1e-3), Choice(0.15, 2e-3))
#: Settings of the contest at scale cpu. `family-contest-tuning` shows whether they were the best.
CHOSEN = dict.fromkeys(ALL_SYSTEMS, TRIES[0])

#: Time of a training on two cores, by scale: what a session on an ordinary machine allows, and the whole contest.
MINUTES: dict[Scale, int] = {"smoke": 10, "cpu": 10, "thesis": 120}


def _tuned(name: str, milliseconds: float, choice: Choice, settings: tuple[str, ...] = ()) -> tuple[System, Choice]:
    system = ALL_SYSTEMS[name]
    return replace(system, steps_a_minute=60_000 / milliseconds, settings=system.settings + settings), choice


_SLOW, _, _FAST = TRIES
#: Each system has the try of `family-contest-tuning` with its highest chrF. The short encoder was not tried there: it
#: has the dropout and the rate of ConvS2S. Milliseconds per step: medians of 5 turns on one core of an AMD EPYC,
#: compiled with XLA, with batches of 31 sentences of 81 characters (the mean of captions). The first four systems were
#: measured in one run. The other four were measured in a second run, with ByteNet again: 590 ms in the first run, 588
#: in the second.
TUNED: dict[str, tuple[System, Choice]] = {
    "ByteNet, window": _tuned("ByteNet, window", 689, _FAST),
    # Its parts helped most with 3,000 pairs (docs/factors.md). So it was found with more tries than the others had.
    "ConvS2S, short encoder": _tuned(
        "ConvS2S", 351, _FAST, (*convs2s_layers("encoder", 4), "model.attention_layers=[6]")
    ),
    "ByteNet": _tuned("ByteNet", 589, _FAST),
    "ConvS2S": _tuned("ConvS2S", 557, _FAST),
    "Transformer": _tuned("Transformer", 528, _FAST),
    "Bahdanau": _tuned("Bahdanau", 938, _FAST),
    "Luong": _tuned("Luong", 1263, _FAST),
    "Sutskever": _tuned("Sutskever", 653, _SLOW),
}
#: Time of a training that tries settings. At scale cpu it is that of the contest, so the first try of each system is
#: the contest's own training.
TUNING_MINUTES: dict[Scale, int] = {"smoke": 10, "cpu": 10, "thesis": 25}
_STEPS_AN_EPOCH = 919
_EVALUATIONS = 6  # on the validation set, approximately
#: How the validation set is measured. No other measurements take time of the training.
VALIDATION = (
    f"training.early_stopping_metric={SELECTED_BY}", "evaluation.continuous_every_seconds=null",
    "evaluation.max_sentences=500",
)  # fmt: skip


def training_of(name: str, system: System, scale: Scale, choice: Choice, minutes: int) -> TrainingRun:
    """The training of a system with a choice of settings.

    Args:
        name: the name of the system in the tables.
        system: the system.
        scale: "smoke" trains a few steps.
        choice: the tuned settings.
        minutes: time on the machine of `System.steps_a_minute`, without compiling.
    """
    settings = (
        f"model.dropout={choice.dropout}", f"training.learning_rate={choice.learning_rate}",
        *length_settings(scale, round(system.steps_a_minute * minutes), _STEPS_AN_EPOCH, _EVALUATIONS), *VALIDATION,
        *system.settings,
    )  # fmt: skip
    words = re.sub("[, ]+", "-", name.lower())
    together = f"contest-{words}-{choice.dropout:g}-{choice.learning_rate:g}"
    return TrainingRun(
        f"{together}-{minutes}", system.preset, settings + (SMOKE_CORPUS + system.smoke if scale == "smoke" else ()),
        together=together, cost=minutes,
    )  # fmt: skip


def tuned_trainings(names: Collection[str], scale: Scale, minutes: int) -> dict[str, TrainingRun]:
    """The trainings of systems with their best settings, by their names.

    Args:
        names: some of `TUNED`.
        scale: "smoke" trains a few steps.
        minutes: time on one core of an AMD EPYC, without compiling.
    """
    tuned = {name: TUNED[name] for name in names}
    return {name: training_of(name, system, scale, choice, minutes) for name, (system, choice) in tuned.items()}


def scores_and_speed_of(folder: RunFolder) -> dict[str, float]:
    """`kept_model_columns` of a training, and its target characters a second."""
    metrics = read_csv_log(folder.metrics_path)
    return kept_model_columns(metrics) | {"characters_a_second": metrics["characters"][-1] / metrics["seconds"][-1]}
