"""Log-probabilities of given translations."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from bytenet.datasets import PAD_ID, Vocabulary
from bytenet.decoding.batches.batching import BatchShapes
from bytenet.decoding.batches.pair_graphs import PairGraphs
from bytenet.errors import InputError
from bytenet.lite.characters import check_length, fits
from bytenet.lite.scoring import check_log_probabilities
from bytenet.lite.white_space import readable
from bytenet.models.translation_model import TranslationModel


class PairScores(NamedTuple):
    """Log-probabilities of sentence pairs, in the order of the pairs.

    Attributes:
        log_probabilities: float64 `(pairs,)`, log P(target | source) in nats. The end symbol counts.
        num_characters: int64 `(pairs,)`, symbols of the target. The end symbol counts.
    """

    log_probabilities: np.ndarray
    num_characters: np.ndarray

    @property
    def bits_per_character(self) -> np.ndarray:
        """float64 `(pairs,)`: −log₂ P over the number of target symbols."""
        return -self.log_probabilities / np.log(2) / self.num_characters


def teacher_forced_log_probabilities(model: TranslationModel, inputs: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Score each target by one pass over the whole sentence.

    Args:
        model: any `TranslationModel`.
        inputs: `source_ids` int32 `(batch, S)` and `target_ids` int32 `(batch, T)`, 0 where padded.

    Returns:
        float32 `(batch,)`: log P(target | source) in nats, without the padding.
    """
    logits = tf.cast(model(inputs, training=False), tf.float32)
    labels = inputs["target_ids"]
    # LiteRT has these operations, but no sparse cross entropy.
    log_probabilities = tf.gather(tf.nn.log_softmax(logits), labels, batch_dims=2)
    return tf.reduce_sum(tf.where(labels == PAD_ID, 0.0, log_probabilities), axis=1)


def stepped_log_probabilities(model: TranslationModel, inputs: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Score each target symbol by symbol, as a search writes it.

    The result is the same as with one pass over the sentence. For args and result see
    `teacher_forced_log_probabilities`. LiteRT can run the steps of every family.
    """
    target_ids = inputs["target_ids"]
    memory = model.encode(inputs["source_ids"])
    model_step = model.make_step()
    num_steps = tf.reduce_max(tf.reduce_sum(tf.cast(target_ids != PAD_ID, tf.int32), axis=1))

    def step(position, previous_ids, state, sums):
        logits, state = model_step(previous_ids, state, memory, position)
        labels = target_ids[:, position]
        log_probabilities = tf.gather(tf.nn.log_softmax(tf.cast(logits, tf.float32)), labels, batch_dims=1)
        log_probabilities.set_shape(labels.shape)  # some models lose the number of rows
        return position + 1, labels, state, sums + tf.where(labels == PAD_ID, 0.0, log_probabilities)

    start = (
        tf.constant(0),
        tf.zeros_like(target_ids[:, 0]),
        model.initial_state(memory, tf.shape(target_ids)[1]),
        tf.zeros_like(target_ids[:, 0], tf.float32),
    )
    return tf.while_loop(lambda position, *_: position < num_steps, step, start)[-1]


class PairScorer:
    """Computes the log-probability of each target given its source. Each character is predicted from the true ones.

    Source and target are padded to the same length, as in training. The vocabulary's rule for unknown characters
    applies: an unknown character of a target costs what the model gives the unknown symbol, or is left out. A source is
    read as in the search: a blank one is empty, and unknown white space is a blank. The graph of each shape of batch is
    kept for later calls.

    Args:
        model: any `TranslationModel`.
        vocabulary: the model's vocabulary.
        batch_size: number of pairs in a batch.
        trained_lengths: the lengths that pairs were padded to in training, for a model that reads padding; None for
            a model that does not.
        row_factor: the numbers of rows of batches are powers of it, or `batch_size`.

    Raises:
        ValueError: model and vocabulary have different numbers of symbols; `batch_size` is below 1, or `row_factor` is
            below 2.
    """

    def __init__(
        self,
        model: TranslationModel,
        vocabulary: Vocabulary,
        batch_size: int = 32,
        trained_lengths: Sequence[int] | None = None,
        row_factor: int = 2,
    ):
        model.check_vocabulary(vocabulary.size)
        self._vocabulary = vocabulary
        self._longest = model.length_policy.longest

        def score(source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
            return teacher_forced_log_probabilities(model, {"source_ids": source_ids, "target_ids": target_ids})

        self._graphs = PairGraphs(score, BatchShapes(batch_size, self._longest, trained_lengths, row_factor))

    def fits(self, text: str) -> bool:
        """Whether the model can read and write a text: it is not too long, and no character is refused."""
        return fits(text, self._vocabulary.encode, self._longest)

    def __call__(self, sources: Sequence[str], targets: Sequence[str]) -> PairScores:
        """Score pairs.

        Args:
            sources: sentences.
            targets: their translations, one for each source.

        Returns:
            Log-probability and number of characters of each pair.

        Raises:
            InputError: the numbers of sources and targets differ, or a text has an unknown character under the rule
                "error"; or a text is too long for the model. It names the line.
            ModelError: a log-probability is not a number.
        """
        if len(sources) != len(targets):
            raise InputError(f"{len(sources)} sources but {len(targets)} targets; expected one target for each source.")
        source_ids = self._encode([readable(source, self._vocabulary.known) for source in sources], "source")
        target_ids = self._encode(targets, "target")
        scores = np.zeros(len(sources), np.float64)
        for batch, scores_of_batch in self._graphs(source_ids, target_ids):
            scores[batch] = scores_of_batch
        return PairScores(check_log_probabilities(scores), np.array([len(ids) for ids in target_ids], np.int64))

    def _encode(self, texts: Sequence[str], side: str) -> list[np.ndarray]:
        """The ids of texts. Errors name the line of a text, counted from 1."""
        try:
            ids = self._vocabulary.encode_batch(texts)
        except InputError as error:
            encode = self._vocabulary.encode
            line = next(line for line, text in enumerate(texts, 1) if not fits(text, encode, longest=None))
            raise InputError(f"{error} It is in line {line} of the {side} texts.") from error
        for line, symbols in enumerate(ids, 1):
            check_length(len(symbols), self._longest, f"Line {line:,} of the {side} texts")
        return ids

    def make_graphs(self, longest: int) -> None:
        """Make the graphs of all batches of pairs of up to `longest` symbols, with the end symbol, in advance."""
        self._graphs.make_graphs(longest)


def log_probabilities(
    model: TranslationModel,
    vocabulary: Vocabulary,
    sources: Sequence[str],
    targets: Sequence[str],
    batch_size: int = 32,
    trained_lengths: Sequence[int] | None = None,
) -> PairScores:
    """Score pairs once. For arguments, result and errors see `PairScorer`."""
    return PairScorer(model, vocabulary, batch_size, trained_lengths)(sources, targets)
