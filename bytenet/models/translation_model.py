"""The interface of all models, for decoding, training, evaluation and profiling."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Self

import keras

from bytenet.config import ModelConfig
from bytenet.layers.fast import make_dropout
from bytenet.models.batch_rows import memory_of_targets, previous_symbols, rows_of_parents


class ProfilePart(NamedTuple):
    """The group under which a profile counts the operations of a layer.

    Attributes:
        part: name of a part of the network. Layers that belong together share it.
        kind: kind of the operations whose own types do not show it.
    """

    part: str
    kind: str = "other"


class TranslationModel(keras.Model):
    """A model that predicts each target character from the source and the characters before it.

    Ids: 0 is padding and the start of every target, 1 is the end symbol. `S` and `T` below are padded lengths.
    `step` at one position after the other gives the same logits as `call`. The first axis of every tensor in `memory`
    is the batch of sources. A search may keep several hypotheses of each source: then `state` and `previous_ids` have a
    row for each hypothesis, and the hypotheses of a source follow each other. `select` lets a hypothesis continue from
    another one of the same source.

    A family defines `config_class`, `parts`, `encode`, `decode`, `initial_state` and `make_step`. The tests in
    `tests/contract` run with every family.

    Args:
        config: all hyper-parameters; an instance of `config_class`.
        vocab_size: number of ids V, the same for source and target, with padding, end and unknown symbols.

    Raises:
        TypeError: `config` has another type.

    Attributes:
        config_class: the family's configuration class.
        profile_parts: the parts of the network in profiles, by the names of the layers.
        length_policy: how long a target may be, and how sources are padded.
    """

    config_class: ClassVar[type[ModelConfig]]
    profile_parts: ClassVar[Mapping[str, ProfilePart]] = MappingProxyType({})

    def __init__(self, config: ModelConfig, vocab_size: int, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(config, self.config_class):
            raise TypeError(
                f"config is a {type(config).__name__}; {type(self).__name__} expects a {self.config_class.__name__}."
            )
        self.config = config
        self.vocab_size = vocab_size
        self.length_policy = config.length_policy
        self._character_dropout = make_dropout(config.character_dropout, name="character_dropout", dtype="float32")

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        """The layers by the names of their attributes. The values are the input shapes without batch and length."""
        return {}

    def build(self, input_shape):
        """Make the weights of all parts, in the order of `parts`."""
        for name, shape in self.parts.items():
            getattr(self, name).build((None, None, *shape))

    def call(self, inputs, training=False):
        """Compute the logits of all target characters at once. Each is predicted from the true characters before it.

        Args:
            inputs: dict of `source_ids`, int32 `(batch, S)`, and `target_ids`, int32 `(batch, T)`. The model shifts the
                targets by one. There may be k times as many targets as sources, if both numbers are known: then k
                successive targets belong to one source, which is encoded once.
            training: whether dropout is on and batch normalisation uses the statistics of the batch. With
                `character_dropout`, the decoder then reads some of the target characters as 0.

        Returns:
            float32 `(batch, T, vocab_size)`, where `batch` is the number of targets.

        Raises:
            ValueError: the number of targets is known and no multiple of the number of sources.
        """
        source_ids, target_ids = inputs["source_ids"], inputs["target_ids"]
        memory = memory_of_targets(self.encode(source_ids, training=training), source_ids, target_ids)
        previous_ids = previous_symbols(target_ids)
        if self._character_dropout is not None and training:
            kept = self._character_dropout(keras.ops.ones(keras.ops.shape(previous_ids)), training=True)
            previous_ids = keras.ops.where(kept > 0, previous_ids, 0)  # the embedding of 0 is zero
        return self.decode(memory, previous_ids, training=training)

    @property
    def training_passes(self) -> int:
        """How often a training step predicts a batch, each time with other dropout: 1, or 2 for R-Drop."""
        return getattr(getattr(self, "loss", None), "passes", 1)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of a batch, as in `keras.Model`.

        With two `training_passes`, a training step predicts the batch once more. The compiled loss then gets both
        predictions in one tensor, `(batch, 2, T, vocab_size)`.
        """
        if training and self.training_passes == 2:
            y_pred = keras.ops.stack([y_pred, self(x, training=True)], axis=1)
        return super().compute_loss(x, y, y_pred, sample_weight, training)

    @abstractmethod
    def encode(self, source_ids, training: bool = False):
        """Encode sources, int32 `(batch, S)`. Returns the memory: a nest of tensors whose first axis is the batch."""

    @abstractmethod
    def decode(self, memory, previous_ids, training: bool = False):
        """Compute the logits of all steps at once.

        Args:
            memory: the result of `encode`.
            previous_ids: int32 `(batch, T)`, the character before each step; 0 at the first step.
            training: as in `call`.

        Returns:
            float32 `(batch, T, vocab_size)`.
        """

    def attention_weights(self, memory, previous_ids) -> list:
        """How much each step attends to each source symbol, for all steps at once.

        Args:
            memory: the result of `encode`.
            previous_ids: as in `decode`.

        Returns:
            For each layer that attends to the source, from below, float `(batch, heads, T, S)`; sums over S are 1. An
            empty list for a model without attention.
        """
        return []

    @property
    def has_attention(self) -> bool:
        """Whether the model attends to the source."""
        return type(self).attention_weights is not TranslationModel.attention_weights

    def alignment(self, memory, previous_ids):
        """Which source symbols each target symbol attends to, as one matrix.

        Arguments are those of `attention_weights`. A family may combine its layers in another way.

        Returns:
            float `(batch, T, S)`, the mean over the heads of the last layer; sums over S are 1.
        """
        return keras.ops.mean(self.attention_weights(memory, previous_ids)[-1], axis=1)

    @abstractmethod
    def initial_state(self, memory, max_length: int, beam_size: int = 1):
        """The state before the first step: a nest of tensors. Steps keep their shapes.

        Args:
            memory: the result of `encode`.
            max_length: largest number of steps. A model whose state grows with the steps allocates this many.
            beam_size: number of hypotheses of each source.
        """

    def step(self, previous_ids, state, memory, position):
        """Predict one character. In a loop over positions, the result of `make_step` is faster.

        Args:
            previous_ids: int32 `(batch * beam_size,)`, the characters before this one; 0 at the start.
            state: the result of `initial_state`, `select` or the previous `step`.
            memory: the result of `encode`, with a row for each source.
            position: int32 scalar, 0 for the first target character.

        Returns:
            The logits, float32 `(batch * beam_size, vocab_size)`, and the next state.
        """
        return self.make_step()(previous_ids, state, memory, position)

    @abstractmethod
    def make_step(self):
        """Make a `step` for a loop over positions. It computes only once what is the same at every position.

        Returns:
            A function with the arguments and results of `step`. It is valid until the weights change.
        """

    def select(self, state, parents):
        """Rearrange the hypotheses of each source: hypothesis j of source i continues from hypothesis `parents[i, j]`.

        Args:
            state: the result of `initial_state` or of the previous `step`.
            parents: int32 `(batch, beam_size)`, from 0 to `beam_size - 1`. A parent may occur several times or not at
                all.

        Returns:
            The state of the new hypotheses.
        """
        rows = rows_of_parents(parents)
        return keras.tree.map_structure(lambda tensor: keras.ops.take(tensor, rows, axis=0), state)

    def max_target_length(self, source_length: int) -> int:
        """The length of the longest target for a source of `source_length` symbols. Both count the end symbol."""
        return int(self.length_policy.max_target_length(source_length))

    def max_target_lengths(self, source_lengths):
        """`max_target_length` in a graph: int32 of any shape → the same shape."""
        return self.length_policy.max_target_length(source_lengths)

    def compute_output_shape(self, input_shape):
        """`(batch, T, vocab_size)`, from the shapes of the inputs of `call` by their names."""
        return (*input_shape["target_ids"], self.vocab_size)

    def check_vocabulary(self, size: int) -> None:
        """Raise a ValueError if a vocabulary of `size` symbols cannot be the model's."""
        if size != self.vocab_size:
            raise ValueError(
                f"The vocabulary has {size} symbols, but the model has {self.vocab_size}; expected the vocabulary that "
                "the model was trained with."
            )

    def get_config(self):
        """The size of the vocabulary and all values of the configuration, for `from_config`."""
        values = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self.config).items()}
        return super().get_config() | {"vocab_size": self.vocab_size} | values

    @classmethod
    def from_config(cls, config) -> Self:
        names = {field.name for field in fields(cls.config_class)}
        values = {key: value for key, value in config.items() if key in names}
        return cls(cls.config_class(**values), **{key: value for key, value in config.items() if key not in names})
