"""Measurements on the validation set: the whole set, and random batches in between.

The thesis measured on its test sets. Here, every choice that a run makes depends on the validation set alone.
"""

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import Pairs, Vocabulary, evaluation_dataset, length_groups, pair_lengths
from bytenet.datasets.text.graph_encoding import encode_graph
from bytenet.decoding import CompiledSearch
from bytenet.evaluation import (
    bleu,
    chrf,
    pooled_misclassification,
    sentence_misclassification,
    thesis_bleu,
)
from bytenet.layers import batch_norm_statistics
from bytenet.training.losses import sentence_cross_entropy
from bytenet.training.optimizers.averaging import averaged_weights

_LENGTH_GROUPS = 4


class BatchSampler:
    """Draws random batches of pairs from the buckets of the training.

    Args:
        pairs: at least one.
        vocabulary: of the run.
        padded_lengths: of the training batches.
        batch_size: pairs in a batch. A bucket with fewer pairs gives all of them.
        seed: the draw depends only on the seed, the step and the pairs.
    """

    def __init__(self, pairs: Pairs, vocabulary: Vocabulary, padded_lengths: Sequence[int], batch_size: int, seed: int):
        self._pairs = pairs
        self._batch_size = batch_size
        self._seed = seed
        self._groups = length_groups(pair_lengths(pairs, vocabulary), padded_lengths)

    def batch(self, step: int) -> tuple[Pairs, int]:
        """The pairs drawn at a step, and their padded length with the end symbol."""
        random = np.random.default_rng([self._seed, step])
        sizes = np.array([len(members) for _, members in self._groups])
        length, members = self._groups[random.choice(len(sizes), p=sizes / sizes.sum())]
        rows = random.choice(members, size=min(self._batch_size, len(members)), replace=False)
        return self._pairs.take(rows), length


class ValidationFunctions:
    """The searches of a model in training, traced once for each shape, and its loss, traced once.

    Args:
        model: used with its present weights at each call.
        config: reads `evaluation.beam_size`, and the length penalty and the least length from `decoding`.
        forbidden_ids: symbols that a search never chooses.

    Attributes:
        model: as given.
        greedy_search: for random batches; the thesis watched training with it.
        whole_set_search: for the whole set, with `evaluation.beam_size`, and the length penalty and the least length of
            `decoding`. The coverage penalty, reranking, minimum Bayes risk and the replacement of unknown symbols are
            left out.
        sentence_losses: function from inputs of the model to the nats of each sentence, float32 `(batch,)`.
    """

    def __init__(self, model: keras.Model, config: Config, forbidden_ids: Sequence[int]):
        self.model = model
        beam_size, decoding = config.evaluation.beam_size, config.decoding
        self.greedy_search = CompiledSearch(model, forbidden_ids=forbidden_ids)
        self.whole_set_search = self.greedy_search
        if beam_size > 1 or decoding.min_length:
            self.whole_set_search = CompiledSearch(
                model, beam_size, decoding.length_penalty, forbidden_ids=forbidden_ids,
                length_penalty_rule=decoding.length_penalty_rule, min_length=decoding.min_length,
            )  # fmt: skip
        # One trace for all shapes. With several, the last bits would depend on which shapes the process met before, and
        # a resumed run meets others.
        ids = tf.TensorSpec((None, None), tf.int32)
        self.sentence_losses = tf.function(
            lambda inputs: sentence_cross_entropy(model(inputs, training=False), inputs["target_ids"]),
            input_signature=[{"source_ids": ids, "target_ids": ids}],
        )


class Validator:
    """Measures a model on the validation set.

    Args:
        functions: of the model. Its present weights are used, or their averages if its optimiser keeps any.
        vocabulary: of the run.
        pairs: the validation set.
        padded_lengths: of the training batches.
        config: reads the length policy of the model, sizes and statistics from `evaluation`, and
            `decoding.max_length`.
        language: target language of the model.
    """

    def __init__(
        self,
        functions: ValidationFunctions,
        vocabulary: Vocabulary,
        pairs: Pairs,
        padded_lengths: Sequence[int],
        config: Config,
        language: str,
    ):
        self._functions = functions
        self._model = functions.model
        self._vocabulary = vocabulary
        self._batch_size = config.evaluation.continuous_batch_size
        self._statistics = config.evaluation.batch_norm_statistics
        # If the result of a sentence depends on its batch, batches must look like those of the training.
        by_batch = self._statistics == "batch"
        policy = config.model.length_policy
        self._padded_lengths = padded_lengths if by_batch else policy.lengths_to_pad_to(padded_lengths)
        limit = config.evaluation.max_sentences
        self.pairs = pairs if limit is None else pairs.take(range(min(limit, len(pairs))))
        self._language = language
        self._max_length = config.decoding.max_length

    def whole_set(self) -> tuple[dict[str, float], list[str]]:
        """Scores on all validation pairs, and their translations.

        Returns:
            `val_loss` (nats per character), `val_bleu`, `val_chrf`, `val_misclassification` (the thesis's rate over
            sentences); and the translations in order.
        """
        with averaged_weights(self._model), batch_norm_statistics(self._model, self._statistics):
            nats, characters = 0.0, 0
            hypotheses = [""] * len(self.pairs)
            batches = evaluation_dataset(
                self.pairs, self._vocabulary, self._batch_size, _LENGTH_GROUPS, padded_lengths=self._padded_lengths
            )
            for inputs, indices in batches:
                nats += float(tf.reduce_sum(self._functions.sentence_losses(inputs)))
                characters += int(tf.math.count_nonzero(inputs["target_ids"]))
                ids = self._translate(self._functions.whole_set_search, inputs["source_ids"], self._max_length)
                texts = self._vocabulary.decode_batch(ids)
                for index, text in zip(indices.numpy(), texts, strict=True):
                    if index >= 0:
                        hypotheses[index] = text
        references = self.pairs.target
        scores = {
            "val_loss": nats / characters,
            "val_bleu": bleu(hypotheses, references, bootstrap=0, language=self._language).value,
            "val_chrf": chrf(hypotheses, references, bootstrap=0).value,
            "val_misclassification": sentence_misclassification(hypotheses, references).value,
        }
        return scores, hypotheses

    def random_batch(self, sampler: "BatchSampler", step: int) -> dict[str, float]:
        """Scores on a random batch that is translated greedily, like the thesis measured during training.

        Args:
            sampler: chooses the pairs.
            step: of the training.

        Returns:
            `cross_entropy` (nats per character), `sentence_cross_entropy` (nats per sentence, the thesis's),
            `misclassification` (pooled over symbols) and `bleu` (the thesis's).
        """
        batch, length = sampler.batch(step)
        inputs = {
            "source_ids": encode_graph(self._vocabulary, tf.constant(batch.source), length),
            "target_ids": encode_graph(self._vocabulary, tf.constant(batch.target), length),
        }
        with averaged_weights(self._model), batch_norm_statistics(self._model, self._statistics):
            losses = self._functions.sentence_losses(inputs)
            predicted_ids = self._translate(self._functions.greedy_search, inputs["source_ids"])
        target_ids = inputs["target_ids"].numpy()
        nats = float(tf.reduce_sum(losses))
        return {
            "cross_entropy": nats / int(np.count_nonzero(target_ids)),
            "sentence_cross_entropy": nats / len(batch),
            "misclassification": pooled_misclassification(predicted_ids, target_ids).value,
            "bleu": thesis_bleu(
                self._vocabulary.decode_batch(predicted_ids),
                batch.target,
                self._language,
                bootstrap=0,
                split_last_period=True,
            ).value,
        }

    def _translate(self, search: CompiledSearch, source_ids: tf.Tensor, max_length: int | None = None) -> np.ndarray:
        """The best hypotheses, int32 `(batch, length)`. Rows without a source stay empty."""
        lengths = np.count_nonzero(source_ids, axis=1)
        if self._model.length_policy.pads_to_pair:  # all sources have the length of the longest pair in the batch
            lengths = np.where(lengths > 0, source_ids.shape[1], 0)
        limits = [self._model.max_target_length(int(length)) if length else 0 for length in lengths]
        if max_length is not None:
            limits = [min(limit, max_length) for limit in limits]
        return search(source_ids, length_limits=limits).ids.numpy()[:, 0]
