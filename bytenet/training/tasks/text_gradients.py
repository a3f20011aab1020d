"""What monolingual text teaches: the search for its translations, and the gradients of translating them back."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import tensorflow as tf

from bytenet.config import SemiSupervisedConfig
from bytenet.decoding.searches.beam import beam_search
from bytenet.decoding.searches.greedy import greedy_search
from bytenet.layers import batch_norm_statistics
from bytenet.models import TranslationModel
from bytenet.training.optimizers.flat_gradients import flat_gradient, tape_if
from bytenet.training.tasks.direction import DIRECTIONS, FORTH_AND_BACK, Side, directions_taught, directions_trained
from bytenet.training.tasks.marginal import expected_back, first_of_equals, log_likelihoods, log_marginal


class TextGradients:
    """Search, loss and gradients of monolingual text for two translators.

    Args:
        translators: forward and backward, compiled and built.
        settings: reads everything but the starts, the placement and the batches.
        forbidden_ids: symbols that the search never chooses.
        devices: of the two translators, if each has its own.

    Attributes:
        weights: by side, of the gradients of its text; 0 at first. They are variables, so that runs with other weights
            can use a traced step. They are not Keras's variables, so that a checkpoint does not bring back the weights
            of another run.

    Reference:
        Madsen 2017, section 2.7, eq. 2.7.1 to 2.7.4 and B.5.4.
    """

    def __init__(
        self,
        translators: Sequence[TranslationModel],
        settings: SemiSupervisedConfig,
        forbidden_ids: Sequence[int],
        devices: Sequence[str],
    ):
        self._translators = dict(zip(DIRECTIONS, translators, strict=True))
        self._settings = settings
        self._forbidden_ids = tuple(forbidden_ids)
        self._devices = dict(zip(DIRECTIONS, devices, strict=True)) if devices else {}
        self._trained = directions_trained(settings)
        self.weights = {side: tf.Variable(0.0, trainable=False) for side in FORTH_AND_BACK}

    def loss_and_gradients(
        self, text: tuple[tf.Tensor, tf.Tensor], side: Side, max_length: int
    ) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        """The loss of monolingual text, which is minus its mean log marginal, and the gradients by translator.

        Args:
            text: ids int32 `(rows, length)` and weights float32 `(rows,)`.
            side: "source" or "target".
            max_length: most symbols of a translation.
        """
        ids, row_weights = text  # (rows, length), (rows,)
        forth_name, back_name = FORTH_AND_BACK[side]
        taught = directions_taught(side, self._settings)
        marginal_of = log_marginal if self._settings.objective == "marginal" else expected_back
        hypotheses, log_probabilities = self.search(side, ids, max_length)
        rows, beam_size, length = hypotheses.shape
        flat = tf.reshape(hypotheses, [rows * beam_size, length])
        counts = log_probabilities > -float("inf")
        if self._settings.duplicates == "merge":
            counts &= first_of_equals(hypotheses)

        forth, forth_tape = log_probabilities, None
        if self._settings.objective == "marginal":
            with self.on_device_of(forth_name), tape_if(forth_name in taught) as forth_tape:
                forth = self._log_likelihoods(forth_name, ids, flat)
        with self.on_device_of(back_name), tape_if(back_name in taught) as back_tape:
            back = self._log_likelihoods(back_name, flat, tf.repeat(ids, beam_size, axis=0))
        values, shares = marginal_of(tf.reshape(forth, [rows, beam_size]), tf.reshape(back, [rows, beam_size]), counts)

        share_of_mean = row_weights / (rows * tf.distribute.get_strategy().num_replicas_in_sync)
        # B.5.4: both translators learn each hypothesis by its share, which counts as a constant.
        upstream = tf.reshape(-self._present_weight(side) * share_of_mean[:, None] * shares, [-1])
        gradients = {}
        for name, tape, likelihoods in ((forth_name, forth_tape, forth), (back_name, back_tape, back)):
            if tape is not None:
                with self.on_device_of(name):
                    gradients[name] = flat_gradient(tape, likelihoods, self._translators[name], upstream)
        return -tf.reduce_mean(row_weights * values), gradients

    def search(self, side: Side, ids: tf.Tensor, max_length: int) -> tuple[tf.Tensor, tf.Tensor]:
        """Search for translations of monolingual text. Call it outside of any tape.

        Args:
            side: "source" or "target".
            ids: of the text, int32 `(rows, length)`.
            max_length: most symbols of a translation.

        Returns:
            Hypotheses int32 `(rows, b, max_length)`, and their log-probabilities float32 `(rows, b)`, which are −inf
            for hypotheses that do not exist.
        """
        name, _ = FORTH_AND_BACK[side]
        translator, beam_size = self._translators[name], self._settings.beam_size
        limits = tf.where(ids[:, 0] != 0, max_length, 0)
        arguments = {"length_limits": limits, "forbidden_ids": self._forbidden_ids}
        with self.on_device_of(name), batch_norm_statistics(translator, self._settings.batch_norm_statistics):
            if beam_size == 1:
                result = greedy_search(translator, ids, max_length, **arguments)
            else:
                result = beam_search(translator, ids, beam_size, max_length, **arguments)
            # The symbols of hypotheses that do not exist are arbitrary. Padding keeps them out of batch statistics.
            exists = result.log_probabilities > -float("inf")
            hypotheses = tf.where(exists[..., None], result.ids, 0)
            hypotheses = tf.ensure_shape(hypotheses, [ids.shape[0], beam_size, max_length])
        return hypotheses, result.log_probabilities

    def _log_likelihoods(self, name: str, source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
        return log_likelihoods(self._translators[name], source_ids, target_ids, training=name in self._trained)

    def _present_weight(self, side: Side) -> tf.Tensor:
        """The weight of a text in the present step."""
        steps = self._settings.ramp_steps
        if not steps:
            return self.weights[side]
        optimizer = self._translators[self._trained[0]].optimizer
        done = tf.cast(optimizer.iterations.value + 1, tf.float32)
        return self.weights[side] * tf.minimum(done / steps, 1.0)

    def on_device_of(self, name: str) -> AbstractContextManager:
        """The context in which a translator computes."""
        return tf.device(self._devices[name]) if self._devices else nullcontext()
