"""Greedy search in parts, so that a reader sees a translation while it is written."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from bytenet.datasets import EOS_ID, PAD_ID
from bytenet.decoding.batches.batching import pad_batch
from bytenet.decoding.batches.graph_cache import GraphCache
from bytenet.decoding.searches.search import empty_symbols, symbol_offsets
from bytenet.decoding.translator import Translator
from bytenet.lite.characters import check_length, has_symbols
from bytenet.lite.white_space import readable


class DraftSearch:
    """Translates one line by greedy search and gives back its symbols some at a time.

    Between two parts the caller may do other work, or leave the rest. The whole draft is what the translator would
    write with a beam of 1. Graphs are kept for each padded length. They are not compiled with XLA.

    Args:
        translator: its model and its limits are used.
        part_symbols: number of symbols that are computed at once.
    """

    def __init__(self, translator: Translator, part_symbols: int = 4):
        self._translator = translator
        model, min_length = translator.model, translator.decoding.min_length
        offsets = symbol_offsets(model.vocab_size, translator.batch_search.forbidden_ids, min_length)

        @tf.function(autograph=False)
        def go_on(memory, state, previous_ids, start, stop):
            model_step = model.make_step()

            def step(position, previous_ids, state, symbols):
                logits, state = model_step(previous_ids, state, memory, position)
                allowed = tf.cast(logits, tf.float32) + offsets(position)
                ids = tf.argmax(allowed, axis=-1, output_type=tf.int32)  # (1,)
                return position + 1, ids, state, symbols.write(position - start, ids)

            _, previous_ids, state, symbols = tf.while_loop(
                lambda position, *_: position < stop,
                step,
                (start, previous_ids, state, empty_symbols(part_symbols, [1])),
            )
            return previous_ids, state, symbols.stack()[:, 0]  # (part_symbols,)

        def trace(length: int):
            @tf.function(autograph=False)
            def begin(source_ids):
                memory = model.encode(source_ids)
                return memory, model.initial_state(memory, translator.batch_search.limit(length))

            graph = begin.get_concrete_function(tf.TensorSpec([1, length], tf.int32))
            memory, state = graph(tf.fill([1, length], PAD_ID))
            go_on(memory, state, tf.fill([1], PAD_ID), tf.constant(0), tf.constant(0))  # traces it, and makes no step
            return graph

        self._begin, self._go_on, self._part_symbols = GraphCache(trace), go_on, part_symbols

    def __call__(self, line: str) -> Iterator[str]:
        """Translate a line.

        Args:
            line: one sentence, without a line end.

        Yields:
            The next characters of the draft, until its end or the length limit. Nothing if the line has no symbols to
            read, see `has_symbols`.

        Raises:
            InputError: as for `Translator.translate`.
        """
        translator = self._translator
        line = readable(line, translator.vocabulary.known)
        source_ids = translator.vocabulary.encode(line)
        if not has_symbols(source_ids):
            return
        check_length(len(source_ids), translator.model.length_policy.longest)
        length = translator.batch_search.shapes.padded_length(len(source_ids))
        memory, state = self._begin(length)(tf.constant(pad_batch([source_ids], 1, length)))
        previous_ids: Any = tf.fill([1], PAD_ID)
        ids = np.zeros(0, np.int32)
        limit = translator.batch_search.limit(len(source_ids))
        for start in range(0, limit, self._part_symbols):
            stop = min(start + self._part_symbols, limit)
            bounds = tf.constant(start), tf.constant(stop)
            previous_ids, state, symbols = self._go_on(memory, state, previous_ids, *bounds)
            ids = np.concatenate([ids, symbols.numpy()[: stop - start]])
            if text := translator.finisher.part(line, source_ids, ids, start):
                yield text
            if EOS_ID in ids:
                return
