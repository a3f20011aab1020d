"""Narrow models of all families and variants, with random weights everywhere. Nothing here needs TensorFlow."""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
import pytest

from bytenet.config import ModelConfig
from bytenet.config.families import family_configs
from bytenet.models import TranslationModel

VOCAB_SIZE = 11
# Sizes that keep models narrow. A family ignores sizes that are not among its settings. Tests that need dropout set it.
NARROW = {
    "dim": 8, "num_sets": 1, "dilations": (1, 3), "num_layers": 1, "encoder_layers": 1, "decoder_layers": 2, "heads": 2,
    "feed_forward_dim": 16,
    "encoder_widths": (8, 8), "encoder_kernel_sizes": (3, 3), "decoder_widths": (8, 8), "decoder_kernel_sizes": (3, 3),
    "output_dim": 8, "embedding_dim": 8, "readout_dim": 6, "dropout": 0.0,
}  # fmt: skip
# Sizes for one family in place of those above. None is the variant's own value.
NARROW_BY_FAMILY: dict[str, dict[str, object]] = {"recurrent": {"encoder_layers": None, "decoder_layers": None}}
# Settings, besides the variants, that change what a family computes.
MORE_CASES = {
    "bytenet": {
        "simplified, add, pair": {"variant": "simplified", "join": "add", "length_rule": "pair"},
        "add, one tap, unfold twice": {
            "join": "add", "decoder_kernel_size": 1, "unfold_scale": 2.0, "unfold_offset": 0,
        },
        "four taps, pair": {"decoder_kernel_size": 4, "length_rule": "pair"},
        "two sets, unfold half": {"num_sets": 2, "unfold_scale": 0.5, "unfold_offset": 0},
        "any order of dilations": {"dilations": (3, 1, 1, 5)},
        "window of the source": {"source_attention": "window", "attention_radius": 2, "attention_slope": 0.8},
        "wide window, one attention of two": {
            "source_attention": "window", "attention_radius": 30, "attention_blocks": (1,), "attention_slope": 1.3,
        },
        "whole source, added": {"source_attention": "full", "attention_heads": 2, "join": "add"},
    },
    "recurrent": {
        "madsen, two layers": {"variant": "madsen", "encoder_layers": 2},
        "LSTM, both directions, one-sided stacks": {
            "variant": "bahdanau", "encoder_cell": "lstm", "decoder_cell": "lstm", "encoder_layers": 2,
            "meeting": "end", "readout_state": "previous",
        },
        "GRU, normalised, both directions": {
            "variant": "sutskever", "encoder_cell": "gru", "decoder_cell": "gru", "cell_normalization": "layer",
            "directions": "both",
        },
        "ReLU RNN, concat, no feeding, near a prediction": {
            "encoder_cell": "rnn", "decoder_cell": "rnn", "cell_activation": "relu", "score": "concat",
            "input_feeding": False, "window": "predictive",
        },
        "location, near a prediction": {"score": "location", "max_positions": 60, "window": "predictive"},
        "dot, wide window of steps": {"score": "dot", "window": "monotonic", "window_radius": 40},
    },
    "transformer": {
        "learned positions, tied softmax": {"positions": "learned", "max_positions": 60, "tied_embeddings": "softmax"},
        "wide heads, narrow values, own tables": {
            "head_dim": 6, "value_dim": 5, "tied_embeddings": "none", "positions": "sinusoidal_halves",
        },
    },
    "convs2s": {
        "layers of all shapes, chosen attention": {
            "encoder_widths": (6, 10), "encoder_kernel_sizes": (4, 1), "decoder_widths": (8, 8, 10, 6),
            "decoder_kernel_sizes": (3, 3, 2, 1), "attention_layers": (1, 3), "output_dim": 12,
        },
        "order of the text, no positions": {
            "equations": "text", "source_positions": False, "target_positions": False,
        },
        "tied softmax, weights as they are": {"tied_embeddings": "softmax", "weight_normalization": False},
    },
}  # fmt: skip


class Case(NamedTuple):
    """A configuration for the tests of the promises."""

    name: str
    config: ModelConfig


def _cases() -> list[Case]:
    cases = []
    for family, config_class in family_configs().items():
        settings = {variant: {"variant": variant} for variant in config_class.VARIANTS}
        settings |= {"as in the thesis": {"settings": "thesis"}} if config_class.THESIS else {}
        settings |= MORE_CASES.get(family, {})
        # With narrow sizes, variants that differ only in their sizes are the same model, and one of them is enough.
        configs = []
        for name, values in settings.items():
            config = narrow(config_class, **values)
            unnamed = replace(config, variant=config_class.variant)
            if unnamed not in configs:
                configs.append(unnamed)
                cases.append(Case(f"{family}: {name}", config))
    return cases


def narrow(config_class: type[ModelConfig], **settings: object) -> ModelConfig:
    """A configuration of a family with the narrow sizes, unless `settings` override them."""
    names = {field.name for field in fields(config_class)}
    sizes = NARROW | NARROW_BY_FAMILY.get(config_class.family, {})
    return config_class(**({key: value for key, value in sizes.items() if key in names} | settings))


CASES = _cases()
# The first case of each family, for tests that do not depend on the variant.
FAMILY_CASES = list({case.config.family: case for case in reversed(CASES)}.values())
# The variants, for tests that do not depend on sizes.
VARIANT_CASES = [case for case in CASES if case.name.rpartition(": ")[2] not in MORE_CASES.get(case.config.family, {})]


def parametrize(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """Run a test for each of the cases."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def randomize(model: TranslationModel, seed: int = 0) -> None:
    """Set weights so that every part matters: no bias, offset or running mean is zero, and logits have size 1."""
    random = np.random.default_rng(seed)
    for weight in model.weights:
        shape = tuple(weight.shape)
        if "kernel" in weight.name:
            values = random.normal(scale=1.2 * np.prod(shape[:-1]) ** -0.5, size=shape)
        elif weight.name == "moving_variance":
            values = random.uniform(0.5, 2.0, size=shape)
        else:
            values = random.normal(scale=0.5, size=shape)
        weight.assign(values)


def draw_sentences(lengths: Iterable[int], seed: int = 0) -> list[list[int]]:
    """Sentences of ids with the given lengths. Each ends with the end symbol; length 0 gives an empty row."""
    random = np.random.default_rng(seed)
    return [[*random.integers(2, VOCAB_SIZE, size=length - 1).tolist(), 1] if length else [] for length in lengths]


def pad(sentences: Sequence[Sequence[int]], length: int | None = None) -> np.ndarray:
    """Sentences as one int32 array, padded to the longest sentence or to `length` if that is longer."""
    length = max([length or 0, *map(len, sentences)])
    return np.array([[*ids, *[0] * (length - len(ids))] for ids in sentences], "int32").reshape(-1, length)
