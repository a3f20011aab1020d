"""The longest sequences of a run, compared with those that its model can read."""

from collections.abc import Iterable

from bytenet.config import Config
from bytenet.datasets import BatchPlan, Pairs, Vocabulary, pair_lengths
from bytenet.errors import ConfigError


def check_longest(config: Config, plans: Iterable[BatchPlan], validation: Pairs | None, vocabulary: Vocabulary) -> None:
    """Raise a ConfigError if the model cannot read the longest batch or the longest validation pair.

    Args:
        config: reads the length policy of the model from it.
        plans: of all batches of the run.
        validation: the validation pairs, which the limits of lengths do not shorten.
        vocabulary: of the run.
    """
    longest = config.model.length_policy.longest
    if longest is None:
        return
    lengths = {"batch of training": max(length for plan in plans for length in plan.padded_lengths)}
    if validation:
        lengths["validation pair"] = int(max(pair_lengths(validation, vocabulary)))
    for what, length in lengths.items():
        if length > longest:
            raise ConfigError(
                f"The longest {what} has {length:,} symbols, with the end symbol and padding, but the model reads at "
                f"most {longest:,}. Set model.max_positions to {length}"
                + (", or data.max_length lower." if what.startswith("batch") else ", or leave out the pair.")
            )
