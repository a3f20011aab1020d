"""What can be exported, and the length limits of an exported search."""

import tensorflow as tf

from bytenet.decoding.translator import Translator
from bytenet.errors import InputError


def check_exportable(translator: Translator) -> None:
    """Raise an InputError if a graph cannot do what the translator does."""
    kind = translator.model.config.kind
    if translator.model.length_policy.reads_padding:
        raise InputError(
            f"This {kind} reads padding (mask_padding: false), so a translation depends on the lengths that its "
            "training padded to. It can only become a .bytenet file for this package: --engine full."
        )
    for name, option in (
        ("coverage_penalty", "--coverage-penalty 0"),
        ("replace_unknown", "--no-replace-unknown"),
        ("samples", "--samples 0"),
        ("mbr", "--no-mbr"),
    ):
        if getattr(translator.decoding, name):
            raise InputError(
                f"decoding.{name} works only with this package, outside the graph of the search. Export with {option}, "
                "or as a .bytenet file with --engine full."
            )


def check_no_reranker(translator: Translator) -> None:
    """Raise an InputError if the translator has a reranker, which needs a second model."""
    if translator.reranker is not None:
        raise InputError(
            "An export has one model, but decoding.rerank_with names a second one. Export with --rerank-weight 0. To "
            "rank with both, give --rerank-with to `bytenet translate`."
        )


def target_limits(translator: Translator, source_lengths):
    """The largest numbers of symbols of translations in a graph: int32 of any shape → the same shape."""
    limits = translator.model.max_target_lengths(source_lengths)
    longest = translator.decoding.max_length
    return limits if longest is None else tf.minimum(limits, longest)
