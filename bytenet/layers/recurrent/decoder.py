"""The interface of all recurrent decoders."""

from abc import ABC, abstractmethod


class RecurrentDecoder(ABC):
    """What a decoder layer offers to `bytenet.models.RecurrentTranslator`.

    Shapes are for B sources of S symbols, T target characters, and R = B · beam_size rows of a search. The hypotheses
    of a source follow each other. Float tensors have the layer's compute dtype.
    """

    @abstractmethod
    def remember(self, encoded, states, source_ids) -> dict:
        """Keep what the steps need of the source.

        Args:
            encoded: the outputs of the encoder, float `(B, S, channels)`.
            states: for each layer of the encoder the list of its last states, float `(B, channels)`.
            source_ids: int32 `(B, S)`, 0 where padded; None if padding is read like symbols.

        Returns:
            The memory: tensors of B rows by their names, see the class.
        """

    @abstractmethod
    def decode(self, embedded, memory, training: bool = False):
        """Compute all steps at once.

        Args:
            embedded: the characters before each step, float `(B, T, channels)`.
            memory: the result of `remember`.
            training: whether dropout is on.

        Returns:
            float `(B, T, channels)`, for the head.
        """

    @abstractmethod
    def attention_weights(self, embedded, memory):
        """How much each step attends to each source symbol. Arguments are those of `decode`.

        Returns:
            float `(B, T, S)`; None without attention.
        """

    @abstractmethod
    def initial_state(self, memory, beam_size: int) -> dict:
        """The state before the first step.

        Args:
            memory: the result of `remember`.
            beam_size: number of hypotheses of each source.

        Returns:
            `hypotheses`: a list of tensors, float `(R, units)`, whose rows a search rearranges. There may be more, with
            the same rows for all hypotheses of a source.
        """

    @abstractmethod
    def make_step(self):
        """Make a function that computes one step. It may compute in advance what is the same in all steps.

        Returns:
            `step(embedded, state, memory, position)`, valid until the weights change. It takes the character before the
            step, float `(R, channels)`; the result of `initial_state` or of the step before; the result of `remember`;
            and an int32 scalar, 0 for the first step. It returns float `(R, channels)`, for the head, equal to
            `decode(...)[:, position]`; and the next state.
        """
