"""What a training with a preset can be expected to reach, from figures that were measured with it."""

from collections.abc import Iterable
from dataclasses import dataclass

import yaml
from pydantic import TypeAdapter

from bytenet.config.preset_files import measured_files
from bytenet.config.settings_text import parse_override

# Other values of these settings change the scores by chance at most.
_SAME_SCORES = {
    "training.seed",
    "training.keep_checkpoints",
    "training.checkpoint_every_steps",
    "training.checkpoint_every_seconds",
}
# For some presets, others with better settings for the same corpus, as `bytenet train` takes them. The scores of
# multi30k-convs2s were not measured. Its learning rate, its encoder and its attention were worse in short trainings
# (docs/factors.md).
_PAIRS_30K_CONVS2S = "pairs-30k-convs2s --set data.corpus=multi30k"
_BETTER = {"multi30k": ("multi30k-bahdanau", _PAIRS_30K_CONVS2S), "multi30k-convs2s": (_PAIRS_30K_CONVS2S,)}


@dataclass(frozen=True)
class ReachedScores:
    """The scores after some minutes of a training.

    Attributes:
        minutes: since its start.
        bleu: sacreBLEU's BLEU.
        chrf: sacreBLEU's chrF2.
    """

    minutes: int
    bleu: float
    chrf: float


@dataclass(frozen=True)
class MeasuredTraining:
    """One training with a preset.

    Attributes:
        machine: that it ran on.
        commit: of the program.
        scored: which translations the scores are of, and what else the scores depend on.
        reached: in the order of the minutes. The last one is the end of the training.
        start: the value of `training.start`; None if the training began with random weights.
        trained_on: the training pairs, in few words.
        measured_on: the validation pairs, in few words.
    """

    machine: str
    commit: str
    scored: str
    reached: tuple[ReachedScores, ...]
    start: str | None = None
    trained_on: str = "the corpus of the preset"
    measured_on: str = "validation pairs"


def measured(preset: str) -> MeasuredTraining | None:
    """The figures that were measured with a preset, or None if there are none."""
    file = measured_files().get(preset)
    return (
        None if file is None else TypeAdapter(MeasuredTraining).validate_python(yaml.safe_load(file.read_text("utf-8")))
    )


def expectation(preset: str, overrides: Iterable[str] = ()) -> str | None:
    """What to expect of a training with a preset, and which presets are better, for people; None if neither is known.

    Args:
        preset: its name.
        overrides: settings that are changed, as "section.key=value". After most changes, nothing is expected.
    """
    changed = {setting.key: setting.value for setting in map(parse_override, overrides)}
    start = changed.pop("training.start", None)
    if changed.keys() - _SAME_SCORES:
        return None
    texts = [_sentences(preset, start), _better_presets(preset) if start is None else None]
    return " ".join(text for text in texts if text) or None


def measurement(preset: str, start: str | None = None) -> str | None:
    """What a preset reached at the end without further settings, in a line, or None if it was not measured.

    Args:
        preset: its name.
        start: the value of `training.start`.
    """
    figures = _figures(preset, start)
    if figures is None:
        return None
    end = figures.reached[-1]
    how = f"preset {preset}" if start is None else f"preset {preset} with training.start={start}"
    return (
        f"On {figures.trained_on}, {how} reached {end.bleu:.1f} BLEU (greedy, {figures.measured_on}) in {end.minutes} "
        f"minutes on {figures.machine}."
    )


def scores_at_the_end(preset: str, start: str | None = None) -> str | None:
    """The scores and the time of a whole training with a preset, for people, or None if it was not measured.

    Args:
        preset: its name.
        start: the value of `training.start`.
    """
    figures = _figures(preset, start)
    if figures is None:
        return None
    end = figures.reached[-1]
    return f"{end.bleu:.1f} BLEU after {end.minutes} minutes on {figures.machine} ({figures.scored})"


def _better_presets(preset: str) -> str | None:
    better = [f"{choice} reached {scores_at_the_end(choice.split()[0])}" for choice in _BETTER.get(preset, ())]
    return f"Better settings for the same corpus: {'; '.join(better)}." if better else None


def _figures(preset: str, start: str | None) -> MeasuredTraining | None:
    """The figures of a preset that were measured with this start, or None."""
    figures = measured(preset)
    return figures if figures is not None and figures.start == start else None


def _sentences(preset: str, start: str | None) -> str | None:
    figures = _figures(preset, start)
    if figures is None:
        return None
    reached = ", ".join(f"{row.bleu:.1f} BLEU after {row.minutes} minutes" for row in figures.reached)
    return (
        f"What to expect: {reached} (the end). Measured once, on {figures.machine}, with commit {figures.commit}: "
        f"{figures.scored}."
    )
