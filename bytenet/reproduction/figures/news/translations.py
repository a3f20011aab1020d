"""Tables 3.3.5, 3.3.6 and 3.4.1: translations of NewsTest 2015 that the thesis's author published, scored again."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from bytenet.errors import MissingFileError
from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table, Work
from bytenet.reproduction.engine.judging import compare_exact, statement
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import number_in, rows_where
from bytenet.reproduction.figures.shared.corpus_files import number_words

if TYPE_CHECKING:
    from bytenet.evaluation import Comparison
    from bytenet.evaluation.comparison import Measure

Model = Literal["bytenet", "simplified"]

_FOLDER = "thesis-results"
_IN_REPOSITORY = {
    "bytenet": "result/bytenet-translation/wmt-bleu.json",
    "simplified": "result/bytenet-small-translation/wmt-bleu.json",
}
_PRINTED = thesis_numbers("translations")
_CORPUS_BLEU: dict[str, float] = _PRINTED["whole_set"]
# Beginnings of the sentences that the thesis prints, and their printed BLEU.
_GOOD: dict[str, float] = _PRINTED["good"]
_BAD: dict[str, float] = _PRINTED["bad"]
_SIMPLIFIED: dict[str, float] = _PRINTED["simplified"]
_CHOSEN = 3


@dataclass(frozen=True)
class Outputs:
    """Translations of a test set with their published scores.

    Attributes:
        source, target, translation: the texts, line by line.
        bleu: published BLEU of each translation.
    """

    source: Sequence[str]
    target: Sequence[str]
    translation: Sequence[str]
    bleu: Sequence[float]


def author_outputs(model: Model) -> Outputs:
    """The translations of NewsTest 2015 by the author's model.

    They are read from `BYTENET_DATA/thesis-results/newstest2015-<model>.jsonl.gz`.

    Raises:
        MissingFileError: the file does not exist.
    """
    from bytenet.datasets.corpora.preparation.lookup import data_folder

    name = f"{_FOLDER}/newstest2015-{model}.jsonl.gz"
    folder = data_folder()
    if folder is None or not (folder / name).is_file():
        path = f"{folder}/{name}" if folder else f"FOLDER/{name}, with BYTENET_DATA=FOLDER set"
        raise MissingFileError(
            f"This needs the translations that the thesis's author published, as {path}. It is "
            f"{_IN_REPOSITORY[model]} of the repository AndreasMadsen/master-thesis on GitHub, compressed with gzip."
        )
    with gzip.open(folder / name, "rt", encoding="utf-8", newline="\n") as file:
        rows = [json.loads(line) for line in file]
    return Outputs(*([row[key] for row in rows] for key in ("source", "target", "translation", "bleu")))


def _stand_in(model: Model) -> Outputs:
    """Number words with changed letters, few and many in turn. The other model has many where this one has few."""
    pairs = number_words(48, 8)[0]
    every = (31, 7) if model == "bytenet" else (7, 31)
    translations = [
        "".join("x" if place % every[line % 2] == 0 else letter for place, letter in enumerate(text, start=1))
        for line, text in enumerate(pairs.target)
    ]
    scores = [_sentence_bleu(*pair) for pair in zip(translations, pairs.target, strict=True)]
    return Outputs(pairs.source, pairs.target, translations, scores)


def _sentence_bleu(translation: str, target: str) -> float:
    from bytenet.evaluation import thesis_bleu

    return round(thesis_bleu([translation], [target], bootstrap=0).value, 2)


def _outputs(model: Model, scale: Scale) -> Outputs:
    return _stand_in(model) if scale == "smoke" else author_outputs(model)


def _compare(models: Sequence[Model], scale: Scale) -> "tuple[Comparison, list[Outputs]]":
    from bytenet.evaluation import compare_translations

    outputs = [_outputs(model, scale) for model in models]
    hypotheses: dict[str, Sequence[str]] = dict(zip(models, (output.translation for output in outputs), strict=True))
    return compare_translations(outputs[0].source, outputs[0].target, hypotheses, bootstrap=0), outputs


def _measure(
    models: Sequence[Model], printed: dict[str, float], choice: Literal["good", "bad", "worst"], work: Work
) -> Table:
    """A row for all sentences, then one for each printed sentence and for each that `Comparison.choose` selects.

    Returns:
        Rows of `chosen` ("all", "printed", or the choice), `sentences`, `line`, the texts, and of each model its
        chrF, its BLEU by the thesis's rules, the author's value of it, and in how many sentences both are equal.
    """
    comparison, outputs = _compare(models, work.scale)
    sources = list(comparison.sources or ())
    lines = [
        next((index for index, source in enumerate(sources) if source.startswith(start)), None) for start in printed
    ]
    by: Measure = "bleu" if choice == "good" else "chrf"
    chosen = [("printed", line) for line in lines if line is not None]
    chosen += [(choice, line) for line in comparison.choose(choice, _CHOSEN, by, min_chars=40)]
    equal = [
        [abs(round(own, 2) - other) < 0.0051 for own, other in zip(system.bleu.tolist(), output.bleu, strict=True)]
        for system, output in zip(comparison.systems, outputs, strict=True)
    ]
    whole: Row = {"chosen": "all", "sentences": len(sources), "line": "", "source": "", "target": ""}
    for system, same in zip(comparison.systems, equal, strict=True):
        _, corpus_chrf, corpus_bleu = system.scores
        whole |= {
            f"{system.name}": "", f"{system.name}_chrf": corpus_chrf.value, f"{system.name}_bleu": corpus_bleu.value,
            f"{system.name}_bleu_given": "", f"{system.name}_bleu_equal": sum(same),
        }  # fmt: skip
    rows: Table = [whole]
    for why, line in chosen:
        row: Row = {
            "chosen": why, "sentences": 1, "line": line + 1, "source": sources[line],
            "target": comparison.references[line],
        }  # fmt: skip
        for system, output, same in zip(comparison.systems, outputs, equal, strict=True):
            row |= {
                f"{system.name}": system.hypotheses[line], f"{system.name}_chrf": float(system.chrf[line]),
                f"{system.name}_bleu": float(system.bleu[line]), f"{system.name}_bleu_given": float(output.bleu[line]),
                f"{system.name}_bleu_equal": int(same[line]),
            }  # fmt: skip
        rows.append(row)
    return rows


def _rescored(quantity: str, printed: float, score: float) -> Verdict:
    """Compare our score of the author's translations with the printed score."""
    return compare_exact(quantity, printed, score, tolerance=0.005, evidence="rescored")


def _verdicts(model: Model, printed: dict[str, float], table: Table, scale: Scale) -> list[Verdict]:
    whole = table[0]
    sentences = int(whole["sentences"])
    name = "ByteNet" if model == "bytenet" else "Simplified ByteNet"
    verdicts = [
        _rescored(f"BLEU of {name}, the whole set", _CORPUS_BLEU[model], number_in(whole, f"{model}_bleu")),
        _rescored("sentences whose BLEU is the author's, to .01", sentences, number_in(whole, f"{model}_bleu_equal")),
        compare_exact(
            "sentences of NewsTest 2015", thesis_numbers("corpora")["newstest_2015_pairs"], sentences,
            note="the author published this many outputs; see table 3.1.1", evidence="counted",
        ),
    ]  # fmt: skip
    rows = {row["source"]: row for row in rows_where(table, chosen="printed")}
    for start, value in printed.items():
        row = next((row for source, row in rows.items() if str(source).startswith(start)), None)
        if row is not None:
            verdicts.append(_rescored(f"BLEU of line {row['line']}", value, number_in(row, f"{model}_bleu")))
    return verdicts


def _bad_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = _verdicts("bytenet", _BAD, table, scale)
    if first := next((row for row in table if row["chosen"] == "printed"), None):
        chrf, chrf_of_all = (number_in(row, "bytenet_chrf") for row in (first, table[0]))
        verdicts.append(
            statement(
                f"chrF2 of line {first['line']}, whose BLEU is 0",
                "an example of the BLEU score not always being a good measurement of text similarity",
                holds=chrf > chrf_of_all,
                measured=chrf,
                note=f"chrF2 of all sentences: {chrf_of_all:.1f}. The thesis calls it “actually a very good "
                "translation”; its verb is wrong: “worked” for “trafen sich” (met)",
                source="result-bytenet.tex:193",
            )
        )
    return verdicts


def _simplified_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    simplified, bytenet = (number_in(table[0], f"{model}_bleu") for model in ("simplified", "bytenet"))
    return [
        *_verdicts("simplified", _SIMPLIFIED, table, scale),
        statement(
            "BLEU of Simplified minus ByteNet's, the whole set",
            f"below 0: {_CORPUS_BLEU['simplified']} against {_CORPUS_BLEU['bytenet']}",
            holds=simplified < bytenet,
            measured=simplified - bytenet,
            source="result-simple-bytenet.tex:80",
        ),
    ]


_NEEDS = Needs(
    corpus="the author's translations in BYTENET_DATA/thesis-results",
    time={"smoke": "15 s", "cpu": "30 s", "thesis": "30 s"},
)

EXPERIMENTS = (
    Experiment(
        name="tab-3.3.5",
        title="Good translations of ByteNet: those in the thesis, and those with the highest BLEU",
        thesis='"Cherry-picked" sentences of NewsTest 2015 with a BLEU of 30 to 46. The whole set has a BLEU of 7.44.',
        needs=_NEEDS,
        basis=Basis("rescored", "2,169 sentences"),
        measure=partial(_measure, ("bytenet",), _GOOD, "good"),
        verdicts=partial(_verdicts, "bytenet", _GOOD),
    ),
    Experiment(
        name="tab-3.3.6",
        title="Bad translations of ByteNet: those in the thesis, and those with the lowest chrF",
        thesis='"Cherry-picked" sentences of NewsTest 2015 with a BLEU of 0. The thesis calls one of them very good.',
        needs=_NEEDS,
        basis=Basis("rescored", "2,169 sentences"),
        measure=partial(_measure, ("bytenet",), _BAD, "worst"),
        verdicts=_bad_verdicts,
    ),
    Experiment(
        name="tab-3.4.1",
        title="Translations of Simplified ByteNet beside ByteNet's: those in the thesis, and those where it is better",
        thesis="Sentences of NewsTest 2015 with a BLEU of 0 and little connection to the source. The whole set has a "
        "BLEU of .55.",
        needs=_NEEDS,
        basis=Basis("rescored", "2,169 sentences"),
        measure=partial(_measure, ("bytenet", "simplified"), _SIMPLIFIED, "bad"),
        verdicts=_simplified_verdicts,
    ),
)
