"""What a character costs when it is decoded, by the length of the translation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bytenet.datasets.vocabulary import EOS_ID, PAD_ID
from bytenet.decoding import Decoder
from bytenet.models import TranslationModel
from bytenet.profiling.measurement import Spread, seconds_in_turns


@dataclass(frozen=True)
class DecodingCost:
    """Milliseconds that a step of decoding took, one character for each sentence of the batch.

    Attributes:
        length: characters decoded a sentence.
        milliseconds: a step, the encoder's time shared out over the steps.
    """

    length: int
    milliseconds: Spread


def measure_decoding(
    model: TranslationModel,
    lengths: Sequence[int],
    batch_size: int = 1,
    beam_size: int = 1,
    repeats: int = 7,
    jit_compile: bool = False,
) -> list[DecodingCost]:
    """Time whole searches that cannot end before `length` characters, since they may not choose the end symbol.

    The lengths take turns, so that a machine that slows down for a while slows all of them; each is run once
    before, for tracing and compilation.

    Args:
        model: any `TranslationModel`; its weights do not matter.
        lengths: characters to decode; the source is as long.
        batch_size: sentences decoded at once.
        beam_size: 1 for greedy search.
        repeats: measurements of each length.
        jit_compile: compile the search with XLA.

    Returns:
        A cost for each length, in their order.
    """
    decoder = Decoder(model, beam_size, forbidden_ids=(PAD_ID, EOS_ID), jit_compile=jit_compile)
    random = np.random.default_rng(0)
    sources = {
        length: random.integers(EOS_ID + 1, model.vocab_size, (batch_size, length)).astype("int32")
        for length in lengths
    }

    def search(length: int) -> None:
        found = decoder(sources[length], max_length=length)
        if found.lengths.numpy().min() != length:
            raise RuntimeError(f"The search ended before {length} characters.")

    taken = seconds_in_turns({str(length): partial(search, length) for length in lengths}, repeats)
    return [DecodingCost(length, Spread.of(taken[str(length)]).scaled(1000 / length)) for length in lengths]
