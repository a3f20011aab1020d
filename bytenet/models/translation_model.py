"""What decoding, training, evaluation and profiling may ask of any model."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Self

import keras

from bytenet.config import ModelConfig


class ProfilePart(NamedTuple):
    """Where a profile counts the operations of a layer.

    Attributes:
        part: of the network, a name shared by layers that belong together.
        kind: what its operations count as where their own types do not say.
    """

    part: str
    kind: str = "other"


class TranslationModel(keras.Model):
    """A model that predicts each target character from the source and the characters before it.

    Ids: 0 is padding and the start of every target, 1 the end symbol. `S` and `T` below are padded lengths.
    `step` over time gives the same logits as `call`. The first axis of every tensor in `memory` and `state`
    is the batch; `select` lets hypotheses go on from each other's states, and that is all that a beam needs.

    A family gives `config_class`, `parts`, `encode`, `decode`, `initial_state` and `step`, and keeps the promise by
    the tests of all families.

    Args:
        config: all hyper-parameters, of the family's class.
        vocab_size: number of ids V, the same for source and target; padding, end and unknown symbols counted.

    Attributes:
        config_class: the family's configuration.
        profile_parts: the parts of the network in profiles, by the names of the layers.
        length_policy: how long a target may be, and how sources are padded.
    """

    config_class: ClassVar[type[ModelConfig]]
    profile_parts: ClassVar[Mapping[str, ProfilePart]] = MappingProxyType({})

    def __init__(self, config: ModelConfig, vocab_size: int, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(config, self.config_class):
            raise TypeError(
                f"{type(self).__name__} takes a {self.config_class.__name__}; found a {type(config).__name__}."
            )
        self.config = config
        self.vocab_size = vocab_size
        self.length_policy = config.length_policy

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        """The layers by the name of their attribute, each with the shape of its input after batch and length."""
        return {}

    def build(self, input_shape):
        """Make the weights of all parts, in their order."""
        for name, shape in self.parts.items():
            getattr(self, name).build((None, None, *shape))

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
        source_ids, target_ids = inputs["source_ids"], inputs["target_ids"]
        memory = memory_of_targets(self.encode(source_ids, training=training), source_ids, target_ids)
        previous_ids = keras.ops.pad(target_ids, [[0, 0], [1, 0]])[:, :-1]
        return self.decode(memory, previous_ids, training=training)

    @abstractmethod
    def encode(self, source_ids, training: bool = False):
        """int32 `(batch, S)` → memory, a nest of tensors whose first axis is the batch."""

    @abstractmethod
    def decode(self, memory, previous_ids, training: bool = False):
        """Logits of all steps at once.

        Args:
            memory: as given by `encode`.
            previous_ids: int32 `(batch, T)`, at each step the character before it; 0 at the first.
            training: as in `call`.

        Returns:
            float32 `(batch, T, vocab_size)`.
        """

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
        return int(self.length_policy.max_target_length(source_length))

    def compute_output_shape(self, input_shape):
        """`(batch, T, vocab_size)` for the shapes of `call`'s inputs by name."""
        return (*input_shape["target_ids"], self.vocab_size)

    def get_config(self):
        """The vocabulary's size and all values of the configuration, from which `from_config` makes the model again."""
        values = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self.config).items()}
        return super().get_config() | {"vocab_size": self.vocab_size} | values

    @classmethod
    def from_config(cls, config) -> Self:
        names = {field.name for field in fields(cls.config_class)}
        values = {key: value for key, value in config.items() if key in names}
        return cls(cls.config_class(**values), **{key: value for key, value in config.items() if key not in names})


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
