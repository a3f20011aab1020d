"""A translator as a graph: lines in, translations out."""

import re

import tensorflow as tf

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.datasets.text.characters import blank_code_points
from bytenet.datasets.text.graph_encoding import decode_graph, encode_graph, is_blank_graph
from bytenet.decoding.batches.batching import SHORTEST
from bytenet.decoding.export.preparation import target_limits
from bytenet.decoding.searches.search import SearchResult
from bytenet.decoding.translator import Translator
from bytenet.lite.white_space import unknown_white_space


class TextGraph(tf.Module):
    """Normalisation, vocabulary, search, limits and blank lines of a translator, in functions that TensorFlow saves.

    The number of lines and their lengths are not fixed.

    Args:
        translator: whose model, vocabulary and options are used. See `check_exportable`.
        jit_compile: compile the search with XLA when it runs. It compiles once for each shape, so batches are padded
            to few shapes, as `Translator` does.
    """

    def __init__(self, translator: Translator, jit_compile: bool = False):
        super().__init__()
        # TensorFlow saves the variables that it finds among the attributes. It does not look into the translator. It
        # would save the model as a Keras model, whose default signature fails.
        self.model_variables = [variable.value for variable in translator.model.variables]
        self._translator = translator
        self._jit_compile = jit_compile
        self._compiled = tf.function(self._searched, jit_compile=jit_compile, autograph=False)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")], autograph=False)
    def translate(self, text):
        """Translate lines: tf.string `(batch,)` → a dict of `translation`, tf.string, and `score`, float32."""
        result = self._result(text, tf.constant(1))
        return {"translation": self._texts(result)[:, 0], "score": result.scores[:, 0]}

    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, name="text"), tf.TensorSpec([], tf.int32, name="n")],
        autograph=False,
    )
    def n_best(self, text, n):
        """The `n` best hypotheses of each line, best first, those without text last: a dict of tensors `(batch, n)`.

        `translation` is tf.string, `score` and `log_probability` are float32, `ended` is bool, as in `Translation`. If
        a line has fewer hypotheses, the others are empty with log-probability −∞.
        """
        beam_size = self._translator.decoding.beam_size
        message = f"n must be from 1 to {beam_size}, the beam size; found"
        with tf.control_dependencies([tf.debugging.Assert((n >= 1) & (n <= beam_size), [message, n])]):
            n = tf.identity(n)
        result = self._result(text, n)
        exists = tf.math.is_finite(result.log_probabilities)
        texts = tf.where(exists, self._texts(result), "")
        ranked = {
            "translation": texts,
            "score": tf.where(exists, result.scores, result.log_probabilities),
            "log_probability": result.log_probabilities,
            "ended": result.ended & exists,
        }
        without_text = tf.reshape(is_blank_graph(tf.reshape(texts, [-1])), tf.shape(texts))
        # Those that do not exist have no text, and they come last already.
        order = tf.argsort(tf.cast(without_text, tf.int32), axis=1, stable=True)
        return {name: tf.gather(values, order, batch_dims=1) for name, values in ranked.items()}

    def _result(self, text, n_best) -> SearchResult:
        """The search for all lines. A line without symbols to read has one empty hypothesis, which has ended."""
        # The vocabulary's rule may refuse an unknown blank.
        readable = tf.where(is_blank_graph(text), "", self._readable(text))
        source_ids = encode_graph(self._translator.vocabulary, readable)
        lengths = tf.math.count_nonzero(source_ids, axis=1, dtype=tf.int32)
        blank = lengths <= 1  # only the end symbol, see `has_symbols`
        longest = tf.maximum(tf.reduce_max(lengths), 1)
        with tf.control_dependencies(self._check(longest)):
            source_ids = source_ids[:, :longest]
        # No step is taken for a limit of 0.
        limits = tf.where(blank, 0, target_limits(self._translator, lengths))
        source_ids, limits = self._padded(source_ids, limits)
        result = SearchResult(*(values[: tf.size(text)] for values in self._compiled(source_ids, limits, n_best)))
        return result._replace(ended=result.ended | blank[:, None])

    def _readable(self, text):
        """The lines with a blank for each unknown white space, see `readable`."""
        known = self._translator.vocabulary.known
        spaces = sorted(unknown_white_space(map(chr, blank_code_points().tolist()), known))
        return tf.strings.regex_replace(text, "|".join(map(re.escape, spaces)), " ") if spaces else text

    def _searched(self, source_ids, limits, n_best):
        max_length = target_limits(self._translator, tf.shape(source_ids)[1])
        return self._translator.batch_search.search().in_graph(source_ids, max_length, limits, n_best)

    def _check(self, length) -> list:
        longest = self._translator.model.length_policy.longest
        if longest is None:
            return []
        message = f"A line has more symbols, with the end symbol, than the model reads: at most {longest}, found"
        return [tf.debugging.Assert(length <= longest, [message, length])]

    def _padded(self, source_ids, limits):
        """Fill up the batch to at least one row and one symbol, and for XLA to powers of two.

        Rows that only fill the batch are empty, with a limit of 0.
        """
        rows, length = tf.unstack(tf.shape(source_ids))
        new_rows, new_length = tf.maximum(rows, 1), tf.maximum(length, 1)
        if self._jit_compile:
            new_rows, new_length = _power_of_two(rows), tf.maximum(_power_of_two(length), SHORTEST)
            if self._translator.model.length_policy.longest is not None:
                new_length = tf.minimum(new_length, self._translator.model.length_policy.longest)
        source_ids = tf.pad(source_ids, [[0, 0], [0, new_length - length]], constant_values=PAD_ID)
        fillers = tf.pad(tf.fill([new_rows - rows, 1], EOS_ID), [[0, 0], [0, new_length - 1]], constant_values=PAD_ID)
        return tf.concat([source_ids, fillers], axis=0), tf.pad(limits, [[0, new_rows - rows]])

    def _texts(self, result: SearchResult):
        """The hypotheses as text: tf.string `(batch, n)`."""
        batch, n_best, length = tf.unstack(tf.shape(result.ids))
        texts = decode_graph(self._translator.vocabulary, tf.reshape(result.ids, [-1, length]))
        return tf.reshape(texts, [batch, n_best])


def _power_of_two(size):
    """The first of 1, 2, 4, ... that is at least `size`, an int32 scalar."""
    powers = tf.constant([2**exponent for exponent in range(31)])
    return powers[tf.searchsorted(powers, size[None])[0]]
