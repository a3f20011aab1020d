"""The corpus report and the list of corpora, printed on a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bytenet.datasets.corpora import CorpusEntry
from bytenet.datasets.corpus_report.alphabet import RARE_BELOW, CharacterCount
from bytenet.datasets.corpus_report.corpus_report import CorpusReport
from bytenet.datasets.text.pair_faults import EMPTY_SIDE
from bytenet.errors import cut

_BAR_CHARS = 40
_PAIR_CHARS = 70


def visible(text: str) -> str:
    """`text` with every character that is not printable written like `<U+00A0>`."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


def print_report(report: CorpusReport, console: Console) -> None:
    """Print all parts of the report."""
    _print_head(report, console)
    _print_lengths(report, console)
    _print_buckets(report, console)
    _print_alphabet(report, console)
    _print_suspicious(report, console)
    _print_monolingual(report, console)


def print_corpora(entries: Sequence[CorpusEntry], console: Console) -> None:
    """Print one paragraph for each corpus of the registry."""
    for entry in entries:
        sizes = ", ".join(f"{split} {count:,}" for split, count in entry.pairs.items())
        facts = {
            "languages": entry.languages_in_words,
            "pairs": sizes,
            "licence": entry.licence,
            "home page": entry.homepage,
        }
        _say(console, f"{entry.name}: {entry.description}", "bold")
        for name, value in facts.items():
            if value:
                _say(console, f"  {name}: {value}")
        for file in entry.files():
            size = f", {file.size_bytes:,} bytes" if file.size_bytes else ""
            _say(console, f"  BYTENET_DATA/{file.path} or {file.url}{size}, {file.checksum or 'no checksum'}")


def _say(console: Console, text: str, style: str = "") -> None:
    # A `Text` is printed literally: brackets in a sentence are not markup.
    console.print(Text(text, style), soft_wrap=True)


def _table(title: str, *columns: str) -> Table:
    """An empty table. Columns are right-aligned if their name begins with "#"."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(
            column.removeprefix("#"), justify="right" if column.startswith("#") else "left", overflow="fold"
        )
    return table


def _print_head(report: CorpusReport, console: Console) -> None:
    _say(console, f"{report.name}: {report.source_language} to {report.target_language}", "bold")
    left_out = report.num_read - report.num_train
    note = f" ({left_out:,} of {report.num_read:,} are left out by the limits)" if left_out else ""
    copies = f", each {report.pair_copies} times in an epoch" if report.pair_copies > 1 else ""
    _say(console, f"train       {report.num_train:,} pairs{copies}{note}")
    if report.num_synthetic:
        _say(console, f"synthetic   {report.num_synthetic:,} pairs")
    for split, count in report.num_held_out.items():
        _say(console, f"{split:<11} {'none' if count is None else f'{count:,} pairs'}")
    overlaps = {
        "are also training pairs": report.train_held_out,
        "share a sentence with the synthetic pairs": report.synthetic_held_out,
    }
    for what, counts in overlaps.items():
        for split, count in counts.items():
            if count:
                _say(console, f"warning: {count:,} pairs of {split} {what}, so its scores will be too good")
    _warn_of_empty_sides(report, console)
    console.print()


def _warn_of_empty_sides(report: CorpusReport, console: Console) -> None:
    """Held-out pairs are all kept, so those with an empty side change the scores."""
    for split, entries in report.suspicious_held_out.items():
        for entry in entries:
            if entry.reason == EMPTY_SIDE and entry.count:
                first, *_ = entry.examples
                pairs, have = ("pair", "has") if entry.count == 1 else ("pairs", "have")
                _say(
                    console,
                    f"warning: {entry.count:,} {pairs} of {split} {have} an empty side (the first is pair {first[0]}). "
                    "They change the scores: complete them, or remove their lines from both files",
                )


def _print_lengths(report: CorpusReport, console: Console) -> None:
    table = _table("Characters a sentence", "side", "#shortest", "#median", "#mean", "#longest")
    for side, lengths in (("source", report.source_lengths), ("target", report.target_lengths)):
        numbers = f"{lengths.shortest}", f"{lengths.median:g}", f"{lengths.mean:.1f}", f"{lengths.longest}"
        table.add_row(side, *numbers)
    console.print(table)
    console.print()
    table = _table("Length of the pairs (longer side, end symbol counted)", "#length", "#pairs", "")
    most = max(count for _, _, count in report.length_histogram)
    for low, high, count in report.length_histogram:
        span = f"{low}" if low == high else f"{low}-{high}"
        table.add_row(span, f"{count:,}", _bar(count, most))
    console.print(table)
    console.print()


def _bar(count: int, most: int) -> str:
    """A bar proportional to `count`, in eighths of a character. It is empty only for 0."""
    eighths = max(round(8 * _BAR_CHARS * count / most), 1 if count else 0)
    return "█" * (eighths // 8) + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]


def _print_buckets(report: CorpusReport, console: Console) -> None:
    plan = report.plan
    columns = "#from length", "#padded to", "#pairs", "#batch size", "#batches", "#padding"
    table = _table("Buckets", *columns)
    for bucket in plan.buckets:
        numbers = bucket.lower, bucket.length, bucket.pairs, bucket.batch_size, bucket.batches
        table.add_row(*(f"{number:,}" for number in numbers), f"{bucket.padding_share:.1%}")
    console.print(table)
    _say(
        console,
        f"{plan.num_batches:,} batches an epoch, {plan.padding_share:.1%} of the positions are padding",
    )
    console.print()


def _print_alphabet(report: CorpusReport, console: Console) -> None:
    common = "".join(visible(item.character) for item in report.alphabet if not item.rare and not item.odd)
    _say(console, f"Alphabet: {len(report.alphabet)} characters, {report.vocabulary_size} ids", "bold")
    _say(console, f"most frequent first, without rare and odd ones: {common}")
    shown = [item for item in report.alphabet if item.rare or item.odd]
    if shown:
        title = f"Rare (fewer than {RARE_BELOW}) and odd characters"
        table = _table(title, "", "code point", "#count", "why", "name")
        for item in shown:
            table.add_row(Text(_shown_character(item)), item.code_point, f"{item.count:,}", _why(item), item.name)
        console.print(table)
    for split, unseen in report.unseen.items():
        listed = " ".join(f"{visible(character)} ({count})" for character, count in unseen.items())
        _say(console, f"not in the vocabulary, but in {split}: {listed or 'none'}")
    console.print()


def _shown_character(item: CharacterCount) -> str:
    return item.character if item.character.isprintable() else ""


def _why(item: CharacterCount) -> str:
    return ", ".join(word for word, applies in (("rare", item.rare), ("odd", item.odd)) if applies)


def _print_suspicious(report: CorpusReport, console: Console) -> None:
    by_split = {"training": report.suspicious, **report.suspicious_held_out}
    for number, (split, entries) in enumerate(by_split.items()):
        if number:
            console.print()
        _say(console, f"Suspicious {split} pairs", "bold")
        for entry in entries:
            _say(console, f"{entry.reason}: {entry.count:,}")
            for line, source, target in entry.examples:
                sides = (cut(visible(text), _PAIR_CHARS) for text in (source, target))
                _say(console, f"  pair {line}: {' | '.join(sides)}")


def _print_monolingual(report: CorpusReport, console: Console) -> None:
    for side, text in report.monolingual.items():
        console.print()
        _say(console, f"Monolingual {side} text", "bold")
        _say(
            console,
            f"{text.used:,} of {text.read:,} sentences can be used; left out: {text.outside_limits:,} for their "
            f"length, {text.unknown_characters:,} for characters that are not in the vocabulary",
        )
        if (lengths := text.lengths) is not None:
            span = f"{lengths.shortest} to {lengths.longest}"
            _say(console, f"characters: {span}, median {lengths.median:g}, mean {lengths.mean:.1f}")
        for split, count in text.held_out.items():
            if count:
                _say(console, f"warning: {count:,} sentences of {split} are among them, so its scores will be too good")
