"""The verdict on settings that were tried on the validation set, one training each."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from bytenet.reproduction.engine.experiment import Row, Table
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import number_in, rows_where, texts_in

_Choice = TypeVar("_Choice")


def best_of_tries(
    table: Table,
    column: str,
    choice_of: Callable[[Row], _Choice],
    words: Callable[[_Choice], str],
    chosen: Mapping[str, _Choice],
    tried: Sequence[str],
    experiment: str,
) -> list[Verdict]:
    """The best validation chrF of each model, and the scores of all its settings in the note.

    Args:
        table: a row for each training, with `val_chrf`, `val_bleu`, `minutes` and, if it started from another model,
            `best_step`.
        column: the column with the name of the model.
        choice_of: the settings of a row.
        words: describes settings.
        chosen: the settings that were chosen, by the name of the model.
        tried: the name of the model of each training, also of those that are not finished.
        experiment: the name of the experiment that takes the chosen settings.
    """
    verdicts = []
    for name in texts_in(table, column):
        rows = rows_where(table, **{column: name})
        best = max(rows, key=lambda row: number_in(row, "val_chrf"))
        notes = [
            f"{words(choice_of(row))}: chrF {row['val_chrf']:.2f}, BLEU {row['val_bleu']:.2f}, {row['minutes']:.0f} min"
            + (", the starting weights were kept" if row.get("best_step") == 0 else "")
            for row in rows
        ]
        missing = tried.count(name) - len(rows)
        if missing:
            notes.append(f"{missing} to come")
        elif choice_of(best) != chosen[name]:
            notes.append(f"{experiment} takes another: {words(chosen[name])}")
        verdicts.append(
            Verdict(
                quantity=f"validation chrF of the best of {len(rows)} setting{'s' if len(rows) > 1 else ''}, {name}",
                printed="not tried",
                measured=number_in(best, "val_chrf"), note="; ".join(notes),
            )
        )  # fmt: skip
    return verdicts
