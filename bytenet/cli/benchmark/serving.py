"""`bytenet benchmark serving`: how many requests a server answers, and how fast."""

import unicodedata
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click

from bytenet.cli.benchmark.output import Columns, print_rows
from bytenet.cli.common.json_output import print_json
from bytenet.cli.common.messages import say
from bytenet.cli.common.number_range import NumberRange
from bytenet.lite.lines import lines_in_words
from bytenet.lite.sentences import max_sentence_chars
from bytenet.lite.white_space import is_blank


@click.command()
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.option(
    "--texts", "texts_path", type=click.Path(path_type=Path, dir_okay=False),
    help="File with one text per line.  [default: sources of the run's training pairs]",
)  # fmt: skip
@click.option(
    "--max-texts", type=click.IntRange(min=1), default=2000, show_default=True,
    help="Largest number of texts, from the beginning.",
)  # fmt: skip
@click.option("--clients", type=click.IntRange(min=1), default=32, show_default=True, help="Clients at the same time.")
@click.option(
    "--seconds", type=NumberRange(min=0, min_open=True), default=600, show_default=True,
    help="Time in which all clients send requests. One client alone sends them before and after, 1/20 as long.",
)  # fmt: skip
@click.option("--beam-size", type=click.IntRange(min=1), help="Number of hypotheses that are kept.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def serving(
    model: Path,
    texts_path: Path | None,
    max_texts: int,
    clients: int,
    seconds: float,
    beam_size: int | None,
    as_json: bool,
) -> None:
    """Measure `bytenet serve MODEL` with many clients at once. Each client sends one request after the other.

    First, the clients send each text once. Then one client alone and all clients take turns.
    Server and clients share this machine. Each answer is compared with the translation that `bytenet translate` writes.
    Blanks around a line are removed. A line that the server would split because of its length is left out.
    At the end, the server is killed and started again.

    MODEL is a run folder, a .bytenet file, or the name of a pretrained model (see `bytenet models`). Only a run folder
    works without --texts.
    """
    from bytenet.datasets import read_corpus, read_lines, training_pairs
    from bytenet.model_file import ModelFile
    from bytenet.profiling.benchmarks.serving import measure_serving
    from bytenet.trained_model import open_model

    opened = open_model(model)
    config = opened.config
    if texts_path is not None:
        lines = read_lines(texts_path)
    elif isinstance(opened, ModelFile):
        raise click.UsageError(f"{model} does not say what it was trained on. Give texts with --texts FILE.")
    else:
        lines = training_pairs(read_corpus(config.data), config.data).real.source
    longest = max_sentence_chars(config.data.max_length, config.model.length_policy.longest)
    whole = _whole_sentences(lines, longest)
    texts = list(dict.fromkeys(whole))[:max_texts]
    blank_or_long = f"blank, or longer than {longest:,} characters"
    if not texts:
        raise click.UsageError(f"There is no text: all lines are {blank_or_long}.")
    if left_out := len(lines) - len(whole):
        say(f"{lines_in_words(left_out)} left out: {blank_or_long}")
    options = [] if beam_size is None else ["--beam-size", str(beam_size)]
    cost = measure_serving(model, texts, config.data.languages, clients, seconds, options, say=say)
    if as_json:
        print_json(asdict(cost) | {"speedup": cost.speedup})
        return
    loads = [cost.each_text_once, cost.one_client[0], cost.many_clients, cost.one_client[1]]
    columns: Columns = {
        "clients": lambda load: load.clients,
        "seconds": lambda load: f"{load.seconds:.0f}",
        "requests/s": lambda load: f"{load.requests_a_second:.1f}",
        "median ms": lambda load: _milliseconds(load.median_ms),
        "p99 ms": lambda load: _milliseconds(load.p99_ms),
        "answers by status": lambda load: ", ".join(f"{status}: {count:,}" for status, count in load.statuses.items()),
        "texts": lambda load: f"{load.texts:,}",
        "wrong": lambda load: load.wrong,
    }
    print_rows(loads, columns, as_json=False)
    no_ratio = "one client alone got no answer, so there is no ratio"
    click.echo(f"\n{no_ratio if cost.speedup is None else f'{cost.speedup:.1f} times the requests of one client'}")
    memory = f"{cost.first_minute_bytes / 1e6:,.0f} MB in the first minute"
    if cost.later_bytes is not None:
        memory += f", {cost.later_bytes / cost.first_minute_bytes - 1:+.1%} after it"
    click.echo(f"memory of the server: {memory}")
    click.echo(
        f"first answer {cost.seconds_to_first_answer:.1f} seconds after the start, and "
        f"{cost.seconds_to_answer_again:.1f} seconds after a start that follows kill -9"
    )


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _whole_sentences(lines: Iterable[str], longest: int) -> list[str]:
    """The lines that the server translates as they are, without the blanks around them."""
    texts = [line.strip() for line in lines if not is_blank(line)]
    return [text for text in texts if len(unicodedata.normalize("NFC", text)) <= longest]
