"""Two translators, there and back, that learn from pairs and from monolingual text."""

import math
from collections.abc import Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import keras
import tensorflow as tf

from bytenet.config import SemiSupervisedConfig
from bytenet.decoding.beam import beam_search
from bytenet.decoding.greedy import greedy_search
from bytenet.layers import batch_norm_statistics
from bytenet.models import TranslationModel
from bytenet.training.metrics import CharacterError
from bytenet.training.tasks.marginal import expected_back, first_of_equals, log_likelihoods, log_marginal
from bytenet.training.tasks.monolingual_text import DIRECTIONS, FORTH_AND_BACK, directions_taught, directions_trained


class TranslatorPair(keras.Model):
    """A forward and a backward translator for `fit`, on batches of pairs and of monolingual text.

    A training step adds the gradients of both translators' cross entropy on the pairs to those of the monolingual
    texts: what one translator finds for a sentence by beam search is to be translated back into it by the other. The
    search gives symbols, through which no gradient goes; both translators then read them as they read a target or a
    source in training, all steps at once. Each translator is updated by its own optimiser. Without monolingual text,
    the two train as two supervised runs: to the last bit where sums are added up in the same order, which neither XLA
    nor TensorFlow's arithmetic optimisation of graphs promises.

    Each part of a step is traced (and compiled) once a batch shape of its own, not once for every combination; with
    several replicas the whole step is traced for every combination.

    Args:
        forward, backward: compiled and built, each with its optimiser.
        settings: of the run.
        sides: which monolingual texts there are, of "source" and "target".
        forbidden_ids: symbols that the search never chooses.
        jit_compile: compile the parts of a step with XLA.
        devices: for placement "apart", the devices of the two translators.

    Input of `fit`: dicts of `pairs` (as `training_dataset` gives them, with the weights of both directions) and, for
    each side that has text, `source` or `target`: ids int32 `(rows, length)` and weights float32 `(rows,)`.

    Reference:
        Madsen 2017, section 2.7, eq. 2.7.1 to 2.7.4 and B.5.4.
    """

    def __init__(
        self,
        forward: TranslationModel,
        backward: TranslationModel,
        settings: SemiSupervisedConfig,
        sides: Sequence[str],
        forbidden_ids: Sequence[int] = (),
        jit_compile: bool = False,
        devices: Sequence[str] = (),
    ):
        super().__init__(name="translator_pair")
        self.forward = forward
        self.backward = backward
        self.vocab_size = forward.vocab_size
        self.settings = settings
        self.search_lengths: dict[str, dict[int, int]] = {side: {} for side in sides}
        self._forbidden_ids = tuple(forbidden_ids)
        self._device = dict(zip(DIRECTIONS, devices, strict=True)) if devices else {}
        self._trained = directions_trained(settings)
        # Variables, so that one traced step serves runs with other weights; not Keras's, so that no checkpoint
        # brings back the weights of another run.
        self._weights = {side: tf.Variable(0.0, trainable=False) for side in FORTH_AND_BACK}
        self._character_error = CharacterError()
        self._means = {
            name: keras.metrics.Mean(name=name)
            for name in (*self._loss_names().values(), *(f"{side}_marginal" for side in sides))
        }
        self.compile(optimizer=self.translator(self._trained[0]).optimizer, jit_compile=jit_compile)
        self.text_part = self._part(self._gradients_of_text)
        self.pairs_part = self._part(self._learn_from_pairs)
        self.built = True

    @property
    def translators(self) -> list[TranslationModel]:
        """Forward and backward."""
        return [self.forward, self.backward]

    def translator(self, direction: str) -> TranslationModel:
        """The translator of a direction, "forward" or "backward"."""
        return self.forward if direction == "forward" else self.backward

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Of the epoch: each translator's loss, the first trained one's character error, and the marginals."""
        return [*self._means.values(), self._character_error]

    def set_texts(self, settings: SemiSupervisedConfig, search_lengths: Mapping[str, Mapping[int, int]]) -> None:
        """Take over what a run says of its monolingual texts.

        Args:
            settings: with their weights.
            search_lengths: for each side, by padded length of a batch, most symbols of a translation.
        """
        self._weights["source"].assign(settings.source_weight)
        self._weights["target"].assign(settings.target_weight)
        self.search_lengths = {side: dict(search_lengths[side]) for side in self.search_lengths}

    def make_train_function(self, force=False):
        """Make what `fit` calls for each step: batches are taken outside of the graph, so that it knows their shape.

        One replica calls the parts of a step one by one. A graph around them would be another for each combination of
        batch shapes, and each would hold a copy of all parts.
        """
        if self.train_function is not None and not force:
            return
        strategy = self.distribute_strategy

        def run(batch, limits):
            return strategy.run(self._replica_step, args=(batch, limits))

        @tf.function(autograph=False)
        def run_on_replicas(batch, limits):
            return {name: strategy.reduce("MEAN", value, axis=None) for name, value in run(batch, limits).items()}

        step = run if strategy.num_replicas_in_sync == 1 else run_on_replicas

        def take_and_step(iterator):
            batch, limits = next(iterator), {}
            for side, lengths in self.search_lengths.items():
                ids = strategy.experimental_local_results(batch[side][0])[0]
                limits[side] = lengths[ids.shape[1]]
            return step(batch, limits)

        self.train_function = take_and_step

    def _part(self, function):
        if self.distribute_strategy.num_replicas_in_sync > 1:
            return function  # replicas cannot wait for each other in a function of its own
        return tf.function(function, jit_compile=self.jit_compile or None, autograph=False)

    def _loss_names(self) -> dict[str, str]:
        return {name: "loss" if name == self._trained[0] else f"{name}_loss" for name in self._trained}

    def _replica_step(self, batch: dict[str, Any], limits: dict[str, int]) -> dict[str, tf.Tensor]:
        """One step on this replica's part of a batch, with the longest translations of its texts; the epoch's means."""
        losses, gradients = {}, {}
        for side, limit in limits.items():
            losses[f"{side}_marginal"], gradients[side] = self.text_part(batch[side], side, limit)
        return self.pairs_part(batch["pairs"], losses, gradients)

    def _learn_from_pairs(
        self, pairs: dict[str, tf.Tensor], losses: dict[str, tf.Tensor], gradients: dict[str, dict[str, tf.Tensor]]
    ) -> dict[str, tf.Tensor]:
        """Update the trained translators by the gradients of pairs and texts; the epoch's means.

        One part does both: every further compiled function would have to be handed all variables once more, which for
        a small model takes as long as the update itself.

        Args:
            pairs: the batch.
            losses: of the texts, by name.
            gradients: of the texts, by side and name of the translator.
        """
        losses = dict(losses)
        for name, loss_name in self._loss_names().items():
            inputs = {key: pairs[key] for key in ("source_ids", "target_ids")}
            if name == "backward":
                inputs = {"source_ids": inputs["target_ids"], "target_ids": inputs["source_ids"]}
            translator, target_ids = self.translator(name), inputs["target_ids"]
            with self._on_device_of(name):
                with tf.GradientTape() as tape:
                    logits = translator(inputs, training=True)
                    # Keras divides it by the number of replicas.
                    loss = translator.compute_loss(
                        x=inputs, y=target_ids, y_pred=logits, sample_weight=pairs[f"{name}_weights"], training=True
                    )
                gradient = _gradient(tape, loss, translator)
                for of_text in gradients.values():
                    if name in of_text:
                        gradient += of_text[name]
                self._update(translator, gradient)
            losses[loss_name] = loss * self.distribute_strategy.num_replicas_in_sync
            if name == self._trained[0]:
                self._character_error.update_state(target_ids, logits)
        for name, value in losses.items():
            self._means[name].update_state(value)
        return self.get_metrics_result()

    def _gradients_of_text(
        self, text: tuple[tf.Tensor, tf.Tensor], side: str, max_length: int
    ) -> tuple[tf.Tensor, dict]:
        """What monolingual text adds: minus its mean log marginal, and the gradients by name of the translator.

        Args:
            text: ids int32 `(rows, length)` and weights float32 `(rows,)`.
            side: "source" or "target".
            max_length: most symbols of a translation.
        """
        ids, row_weights = text  # (rows, length), (rows,)
        forth_name, back_name = FORTH_AND_BACK[side]
        taught = directions_taught(side, self.settings)
        marginal_of = log_marginal if self.settings.objective == "marginal" else expected_back
        hypotheses, log_probabilities = self.search(side, ids, max_length)
        rows, beam_size, length = hypotheses.shape
        flat = tf.reshape(hypotheses, [rows * beam_size, length])
        counts = log_probabilities > -float("inf")
        if self.settings.duplicates == "merge":
            counts &= first_of_equals(hypotheses)

        forth, forth_tape = log_probabilities, None
        if self.settings.objective == "marginal":
            with self._on_device_of(forth_name), _tape_if(forth_name in taught) as forth_tape:
                forth = self._log_likelihoods(forth_name, ids, flat)
        with self._on_device_of(back_name), _tape_if(back_name in taught) as back_tape:
            back = self._log_likelihoods(back_name, flat, tf.repeat(ids, beam_size, axis=0))
        values, shares = marginal_of(tf.reshape(forth, [rows, beam_size]), tf.reshape(back, [rows, beam_size]), counts)

        share_of_mean = row_weights / (rows * self.distribute_strategy.num_replicas_in_sync)
        # B.5.4: both translators learn each hypothesis by its share, which is a constant.
        upstream = tf.reshape(-self._present_weight(side) * share_of_mean[:, None] * shares, [-1])
        gradients = {}
        for name, tape, likelihoods in ((forth_name, forth_tape, forth), (back_name, back_tape, back)):
            if tape is not None:
                with self._on_device_of(name):
                    gradients[name] = _gradient(tape, likelihoods, self.translator(name), upstream)
        return -tf.reduce_mean(row_weights * values), gradients

    def search(self, side: str, ids: tf.Tensor, max_length: int) -> tuple[tf.Tensor, tf.Tensor]:
        """Translate monolingual text forth; to be called outside of any tape.

        Args:
            side: "source" or "target".
            ids: of the text, int32 `(rows, length)`.
            max_length: most symbols of a translation.

        Returns:
            Hypotheses int32 `(rows, b, max_length)` and their log-probabilities, −inf for those that do not exist.
        """
        name, _ = FORTH_AND_BACK[side]
        translator, beam_size = self.translator(name), self.settings.beam_size
        limits = tf.where(ids[:, 0] != 0, max_length, 0)
        arguments = {"length_limits": limits, "forbidden_ids": self._forbidden_ids}
        with self._on_device_of(name), batch_norm_statistics(translator, self.settings.batch_norm_statistics):
            if beam_size == 1:
                found = greedy_search(translator, ids, max_length, **arguments)
            else:
                found = beam_search(translator, ids, beam_size, max_length, **arguments)
            # What does not exist holds any symbols; as padding it is left out of batch statistics.
            exists = found.log_probabilities > -float("inf")
            hypotheses = tf.where(exists[..., None], found.ids, 0)
            hypotheses = tf.ensure_shape(hypotheses, [ids.shape[0], beam_size, max_length])
        return hypotheses, found.log_probabilities

    def _log_likelihoods(self, name: str, source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
        return log_likelihoods(self.translator(name), source_ids, target_ids, training=name in self._trained)

    def _present_weight(self, side: str) -> tf.Tensor:
        steps = self.settings.ramp_steps
        if not steps:
            return self._weights[side]
        done = tf.cast(self.optimizer.iterations.value + 1, tf.float32)
        return self._weights[side] * tf.minimum(done / steps, 1.0)

    def _update(self, translator: TranslationModel, gradient: tf.Tensor) -> None:
        weights = translator.trainable_variables
        parts = tf.split(gradient, [math.prod(weight.shape) for weight in weights])
        shaped = [tf.reshape(part, weight.shape) for part, weight in zip(parts, weights, strict=True)]
        translator.optimizer.apply(shaped, weights)

    def _on_device_of(self, name: str):
        return tf.device(self._device[name]) if self._device else nullcontext()


@contextmanager
def _tape_if(learns: bool):
    """A gradient tape for a translator that learns; nothing for one that does not."""
    if not learns:
        yield None
        return
    with tf.GradientTape() as tape:
        yield tape


def _gradient(
    tape: tf.GradientTape, values: tf.Tensor, translator: TranslationModel, upstream: tf.Tensor | None = None
) -> tf.Tensor:
    """The gradient of all trained weights, in their order, as one vector: hundreds of tensors cost time to hand on."""
    weights = [weight.value for weight in translator.trainable_variables]
    found = tape.gradient(values, weights, upstream, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return tf.concat([tf.reshape(gradient, [-1]) for gradient in found], axis=0)
