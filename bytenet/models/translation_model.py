"""What decoding, training, evaluation and profiling may ask of any model."""

from abc import abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

import keras

from bytenet.models.length import PAIR_LENGTH, LengthRule


class TranslationModel(keras.Model):
    """A model that predicts each target character from the source and the characters before it.

    Ids: 0 is padding and the start of every target, 1 the end symbol. `S` and `T` below are padded lengths.
    `step` over time gives the same logits as `call`. The first axis of every tensor in `memory` and `state`
    is the batch; `select` lets hypotheses go on from each other's states, and that is all that a beam needs.

    Attributes:
        vocab_size: number of ids V, the same for source and target.
        length_rule: how long a target may be, see `bytenet.models.length`.
        family: name of the family of models, for messages.
        variants: its named variants, as arguments of the class.
        thesis_settings: what the thesis's code does wherever it differs from this project's defaults.
    """

    vocab_size: int
    length_rule: LengthRule
    family: str = ""
    variants: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    thesis_settings: Mapping[str, Any] = MappingProxyType({})

    @classmethod
    def from_variant(cls, variant: str, vocab_size: int, thesis: bool = False, **overrides) -> Self:
        """Make a named variant of the family.

        Args:
            variant: a key of `variants`.
            vocab_size: number of ids V.
            thesis: take the thesis's choices instead of this project's, see `thesis_settings`.
            **overrides: arguments of the class that win over both.

        Raises:
            ValueError: for an unknown variant.
        """
        if variant not in cls.variants:
            raise ValueError(f"Unknown {cls.family} variant {variant!r}; known are {', '.join(cls.variants)}.")
        settings = {**cls.variants[variant], **(cls.thesis_settings if thesis else {}), **overrides}
        return cls(vocab_size=vocab_size, **settings)

    @property
    def needs_pair_length(self) -> bool:
        """Whether a target is never longer than its padded source.

        In measuring, a source is then padded to the length of its pair, as in the thesis's code.
        """
        return self.length_rule is PAIR_LENGTH

    @abstractmethod
    def call(self, inputs, training=False):
        """Logits of all target characters at once, each from the true characters before it.

        Args:
            inputs: dict of `source_ids` int32 `(batch, S)` and `target_ids` int32 `(batch, T)`; the targets are
                shifted by one inside. With k times as many targets as sources, both numbers known, k targets side
                by side belong to one source, which is encoded once.
            training: whether dropout is on and batch normalisation uses the batch's statistics.

        Returns:
            float32 `(batch, T, vocab_size)`, a row for each target.
        """

    @abstractmethod
    def encode(self, source_ids):
        """int32 `(batch, S)` → memory, a nest of tensors whose first axis is the batch."""

    @abstractmethod
    def initial_state(self, memory, max_length: int):
        """State before the first step: a nest of tensors whose first axis is the batch, of fixed shapes.

        Args:
            memory: as given by `encode`.
            max_length: most steps that will be made; for a model whose state has room for each of them.
        """

    @abstractmethod
    def step(self, previous_ids, state, memory, position):
        """Predict one character.

        Args:
            previous_ids: int32 `(batch,)`, the characters before this one; 0 at the start.
            state: as given by `initial_state` or the previous `step`.
            memory: as given by `encode`.
            position: int32 scalar, 0 for the first target character.

        Returns:
            float32 `(batch, vocab_size)` logits, and the next state.
        """

    def make_step(self):
        """`step`, with whatever is the same at every position computed once; what a loop over positions calls.

        Returns:
            A function with the arguments and results of `step`, for as long as the weights stay as they are.
        """
        return self.step

    def select(self, state, rows):
        """The state of hypotheses that each go on from one row of `state`.

        Args:
            state: as given by `initial_state` or the previous `step`.
            rows: int32 `(batch,)`, as many as there are; a row may be named often or never.

        Returns:
            A state with which row i goes on as `rows[i]` would have.
        """
        return keras.tree.map_structure(lambda tensor: keras.ops.take(tensor, rows, axis=0), state)

    def max_target_length(self, source_length: int) -> int:
        """Longest target, end symbol counted, for a source of so many symbols, end symbol counted."""
        return int(self.length_rule(source_length))

    def compute_output_shape(self, input_shape):
        """`(batch, T, vocab_size)` for the shapes of `call`'s inputs by name."""
        return (*input_shape["target_ids"], self.vocab_size)

    def get_config(self):
        """The arguments to make it again with."""
        return super().get_config() | self._config


def memory_of_targets(memory, source_ids, target_ids):
    """A memory with a row for each target, where several targets belong to one source.

    Args:
        memory: of the sources, a nest of tensors whose first axis is the batch.
        source_ids: int32 `(batch, S)`.
        target_ids: int32 `(k * batch, T)`. If either number of rows is not known, k is taken to be 1.
    """
    sources, targets = source_ids.shape[0], target_ids.shape[0]
    if sources is None or targets is None or sources == targets:
        return memory
    return keras.tree.map_structure(lambda tensor: keras.ops.repeat(tensor, targets // sources, axis=0), memory)
