"""Captures whole searches for translations."""

import os
import statistics
import time
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bytenet.config import Config
from bytenet.datasets import EOS_ID, PAD_ID, Vocabulary, read_corpus, training_pairs
from bytenet.decoding import CompiledSearch
from bytenet.models import TranslationModel, build_model
from bytenet.profiling.traces.capture.trace_folder import changed_settings, new_trace_folder, write_notes
from bytenet.training.compiled_models.trainable_model import set_up_keras
from bytenet.training.starts import take_over_start


@dataclass(frozen=True)
class Search:
    """The searches to capture.

    Attributes:
        beam_size: hypotheses; 1 is greedy search.
        batch_size: sentences translated at once.
        max_length: characters of every translation. A search cannot end earlier, since it may not choose the end
            symbol.
        count: number of captured searches.
        jit_compile: whether XLA compiles the search.
    """

    beam_size: int = 1
    batch_size: int = 1
    max_length: int = 100
    count: int = 3
    jit_compile: bool = False


def capture_decoding(
    model: TranslationModel,
    source_ids: np.ndarray,
    folder: str | os.PathLike[str],
    search: Search = Search(),
    settings: dict[str, Any] | None = None,
) -> Path:
    """Capture whole searches, each as one step. The graph is traced and compiled before.

    Args:
        model: any `TranslationModel`. Its weights do not affect the time.
        source_ids: int32 `(batch, source_length)`, 0 is padding.
        folder: folder for the trace; must be new or empty.
        search: the searches.
        settings: settings to note beside the trace.

    Returns:
        The trace file.

    Raises:
        InputError: the folder is not empty, or the model cannot read so many characters.
    """
    model.length_policy.check(max(source_ids.shape[1], search.max_length))
    folder = new_trace_folder(folder)
    decoder = CompiledSearch(model, search.beam_size, forbidden_ids=(PAD_ID, EOS_ID), jit_compile=search.jit_compile)

    def seconds_of_search() -> float:
        began = time.perf_counter()
        decoder(source_ids, max_length=search.max_length).ids.numpy()
        return time.perf_counter() - began

    seconds_of_search()
    before = [seconds_of_search() for _ in range(search.count)]
    tf.profiler.experimental.start(str(folder))
    try:
        for number in range(1, search.count + 1):
            with tf.profiler.experimental.Trace("search", step_num=number, _r=1):
                seconds_of_search()
    finally:
        tf.profiler.experimental.stop()
    return write_notes(
        folder,
        {
            "what": "decoding",
            "steps": [1, search.count],
            "batch_shapes": [list(source_ids.shape)] * search.count,
            "seconds_before": before,
            "settled_seconds_before": statistics.median(before),
            "compiled": search.jit_compile,
            "beam_size": search.beam_size,
            "characters": search.max_length,
            "settings": settings or {},
        },
    )


def capture_decoding_of(config: Config, folder: str | os.PathLike[str], search: Search = Search()) -> Path:
    """Capture searches of an untrained model on sentences of its corpus; see `capture_decoding`.

    Args:
        config: configuration of the model and its corpus. With `training.start`, the model has the sizes of that one.
            If the corpus has fewer sentences than a batch, they are repeated.
        folder: folder for the trace; must be new or empty.
        search: the searches.
    """
    started, vocabulary = take_over_start(config)
    pairs = training_pairs(read_corpus(config.data), config.data).once
    vocabulary = vocabulary or Vocabulary.from_pairs(pairs, config.data)
    set_up_keras(started)
    model = build_model(started.model, vocabulary.size)
    encoded = [vocabulary.encode(text) for text in islice(cycle(pairs.source), search.batch_size)]
    source_ids = keras.utils.pad_sequences(encoded, padding="post", dtype="int32")
    return capture_decoding(model, source_ids, folder, search, changed_settings(config))
