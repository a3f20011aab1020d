"""A forward and a backward translator that learn from pairs and from monolingual text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import keras
import tensorflow as tf

from bytenet.config import SemiSupervisedConfig
from bytenet.models import TranslationModel
from bytenet.training.metrics import CharacterError, loss_name
from bytenet.training.optimizers.flat_gradients import apply_flat_gradient, flat_gradient
from bytenet.training.tasks.direction import Side, directions_trained
from bytenet.training.tasks.text_gradients import TextGradients


class TranslatorPair(keras.Model):
    """A forward and a backward translator for `fit`, on batches of pairs and of monolingual text.

    A training step adds two kinds of gradients: of the cross entropy of both translators on the pairs, and of the
    monolingual texts. One translator finds translations of a sentence by beam search, and the other one should
    translate them back into the sentence. No gradient flows through the search, as it returns symbols; then both
    translators read these symbols as they read a target or a source in training, all at once. Each translator is
    updated by its own optimiser. Without monolingual text, the two train like two supervised runs. They are equal bit
    for bit only if all sums have the same order. XLA and TensorFlow's arithmetic optimisation of graphs do not
    guarantee this.

    Each part of a step is traced and compiled once for each shape of its own batch, not for every combination of
    shapes. With several replicas, the whole step is traced for every combination.

    Args:
        forward, backward: compiled and built, each with its own optimiser.
        settings: reads everything but the starts, the placement and the batches.
        sides: sides that have monolingual text, of "source" and "target".
        forbidden_ids: symbols that the search never chooses.
        jit_compile: compile the parts of a step with XLA.
        devices: for placement "apart", the devices of the two translators.

    Input of `fit`: dicts with `pairs` (from `training_dataset`, with the weights of both directions) and, for each
    side that has text, `source` or `target`: ids int32 `(rows, length)` and weights float32 `(rows,)`.

    Reference:
        Madsen 2017, section 2.7, eq. 2.7.1 to 2.7.4 and B.5.4.
    """

    def __init__(
        self,
        forward: TranslationModel,
        backward: TranslationModel,
        settings: SemiSupervisedConfig,
        sides: Sequence[Side],
        forbidden_ids: Sequence[int] = (),
        jit_compile: bool = False,
        devices: Sequence[str] = (),
    ):
        super().__init__(name="translator_pair")
        self.forward = forward
        self.backward = backward
        self.vocab_size = forward.vocab_size
        self.settings = settings
        self.text_gradients = TextGradients(self.translators, settings, forbidden_ids, devices)
        self.search_lengths: dict[Side, dict[int, int]] = {side: {} for side in sides}
        self._trained = directions_trained(settings)
        self._character_error = CharacterError()
        self._means = {
            name: keras.metrics.Mean(name=name)
            for name in (*map(self._loss_name, self._trained), *(f"{side}_marginal" for side in sides))
        }
        self.compile(optimizer=self.translator(self._trained[0]).optimizer, jit_compile=jit_compile)
        self.text_part = self._part(self.text_gradients.loss_and_gradients)
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
        """Metrics of the epoch: the losses, the marginals, and the character error of the first trained translator."""
        return [*self._means.values(), self._character_error]

    def set_texts(self, settings: SemiSupervisedConfig, search_lengths: Mapping[Side, Mapping[int, int]]) -> None:
        """Set what may differ between the runs that use this model.

        Args:
            settings: reads the weights of the texts.
            search_lengths: for each side, by padded length of a batch, most symbols of a translation.
        """
        self.text_gradients.weights["source"].assign(settings.source_weight)
        self.text_gradients.weights["target"].assign(settings.target_weight)
        self.search_lengths = {side: dict(search_lengths[side]) for side in self.search_lengths}

    def make_train_function(self, force=False):
        """Make the function that `fit` calls for each step on one replica; see `replicated_step` for several.

        It calls the parts of a step one by one. A graph around the parts would be traced for each combination of batch
        shapes, with a copy of all parts each time.
        """
        if self.train_function is None or force:
            strategy = self.distribute_strategy
            self.train_function = lambda batches: strategy.run(self.replica_step, args=self.next_batch(batches))

    def next_batch(self, batches: Iterator[dict[str, Any]]) -> tuple[dict[str, Any], dict[Side, int]]:
        """The arguments of the next step. It is called outside of the graph, where the shapes of a batch are known.

        Returns:
            Pairs and texts; and by side, most symbols of a translation of its text.
        """
        batch, limits = next(batches), {}
        for side, lengths in self.search_lengths.items():
            ids, *_ = self.distribute_strategy.experimental_local_results(batch[side][0])
            limits[side] = lengths[ids.shape[1]]
        return batch, limits

    def _part(self, function: Callable) -> Callable:
        """A part of a step, traced by itself."""
        if self.distribute_strategy.num_replicas_in_sync > 1:
            return function  # replicas cannot wait for each other in a function of its own
        return tf.function(function, jit_compile=self.jit_compile or None, autograph=False)

    def _loss_name(self, name: str) -> str:
        return loss_name(name, name == self._trained[0])

    def replica_step(self, batch: dict[str, Any], limits: dict[Side, int]) -> dict[str, tf.Tensor]:
        """One step on this replica's part of the arguments of `next_batch`. Gives the means of the epoch."""
        losses, gradients = {}, {}
        for side, limit in limits.items():
            losses[f"{side}_marginal"], gradients[side] = self.text_part(batch[side], side, limit)
        return self.pairs_part(batch["pairs"], losses, gradients)

    def _learn_from_pairs(
        self, pairs: dict[str, tf.Tensor], losses: dict[str, tf.Tensor], gradients: dict[str, dict[str, tf.Tensor]]
    ) -> dict[str, tf.Tensor]:
        """Update the trained translators by the gradients of pairs and texts. Gives the means of the epoch.

        One part does both, because each compiled function is passed all variables, which for a small model takes as
        long as the update.

        Args:
            pairs: the batch.
            losses: of the texts, by name.
            gradients: of the texts, by side and name of the translator.
        """
        losses = dict(losses)
        for name in self._trained:
            inputs = {key: pairs[key] for key in ("source_ids", "target_ids")}
            if name == "backward":
                inputs = {"source_ids": inputs["target_ids"], "target_ids": inputs["source_ids"]}
            translator, target_ids = self.translator(name), inputs["target_ids"]
            with self._on_device_of(name):
                with tf.GradientTape() as tape:
                    logits = translator(inputs, training=True)
                    # Keras divides the loss by the number of replicas.
                    loss = translator.compute_loss(
                        x=inputs, y=target_ids, y_pred=logits, sample_weight=pairs[f"{name}_weights"], training=True
                    )
                gradient = flat_gradient(tape, loss, translator)
                for text_gradients in gradients.values():
                    if name in text_gradients:
                        gradient += text_gradients[name]
                apply_flat_gradient(translator, gradient)
            losses[self._loss_name(name)] = loss * self.distribute_strategy.num_replicas_in_sync
            if name == self._trained[0]:
                self._character_error.update_state(target_ids, logits)
        for name, value in losses.items():
            self._means[name].update_state(value)
        return self.get_metrics_result()

    def search(self, side: Side, ids: tf.Tensor, max_length: int) -> tuple[tf.Tensor, tf.Tensor]:
        """Search for translations of monolingual text, see `TextGradients.search`."""
        return self.text_gradients.search(side, ids, max_length)

    def _on_device_of(self, name: str) -> AbstractContextManager:
        return self.text_gradients.on_device_of(name)
