"""`bytenet score`: the log-probability of given translations."""

from itertools import chain
from pathlib import Path

import click

from bytenet.cli.common.json_output import print_json
from bytenet.cli.common.messages import say
from bytenet.cli.common.unknown_characters import say_unknown


@click.command()
@click.argument("model_paths", metavar="MODEL...", required=True, nargs=-1, type=click.Path(path_type=Path))
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--batch-size", type=click.IntRange(min=1), help="Number of pairs that are scored at once.")
@click.option("--json", "as_json", is_flag=True, help="Print all scores as one JSON object.")
def score(model_paths: tuple[Path, ...], source: Path, target: Path, batch_size: int | None, as_json: bool) -> None:
    """Score the lines of TARGET as translations of the lines of SOURCE, with MODEL: a run folder, a .bytenet file, or
    the name of a pretrained model.

    Several MODEL score together, as they translate together in `bytenet translate`: the probability of each character
    is the mean of theirs.

    Each pair gives one line: log-probability in nats, number of characters with the end symbol, and bits per
    character, separated by tabs. The bits per character of all pairs together go to stderr.
    """
    from bytenet.datasets import read_parallel
    from bytenet.trained_model import open_models

    models = open_models(model_paths)
    pairs = read_parallel(source, target)

    from bytenet.decoding import log_probabilities
    from bytenet.decoding.opening import load_together
    from bytenet.evaluation import bits_per_character

    first = models[0]
    scores = log_probabilities(
        load_together(models), first.vocabulary, pairs.source, pairs.target,
        batch_size or first.config.decoding.batch_size, first.trained_lengths,
    )  # fmt: skip
    total = bits_per_character(scores.log_probabilities, scores.num_characters)
    columns = (scores.log_probabilities, scores.num_characters, scores.bits_per_character)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    say_unknown(first.vocabulary, chain(pairs.source, pairs.target))
    if as_json:
        names = ("log_probability", "num_characters", "bits_per_character")
        pair_scores = [dict(zip(names, row, strict=True)) for row in rows]
        print_json({"score": total.to_dict(), "pairs": pair_scores})
        return
    for log_probability, num_characters, bits in rows:
        click.echo(f"{log_probability:.4f}\t{num_characters}\t{bits:.4f}")
    say(str(total))
