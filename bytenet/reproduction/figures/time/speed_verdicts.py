"""Verdicts on the speed of training."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from bytenet.evaluation.t_intervals import student_t
from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Scale, Table
from bytenet.reproduction.engine.judging import compare_exact, statement
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import integer_in, rows_where, text_in

LABELS = {"bytenet": "ByteNet", "simplified": "Simplified ByteNet", "selu": "SELU ByteNet"}

#: The thesis's numbers of cards, and its sentence pairs per second on each of them by model.
THESIS_CARDS: list[int] = thesis_numbers("speed")["cards"]
THESIS_RATES: dict[str, list[float]] = thesis_numbers("speed")["rates"]


def rates(table: Table, model: str, devices: int) -> np.ndarray:
    """Observations per second of each turn."""
    return np.array([row["observations_a_second"] for row in rows_where(table, model=model, devices=devices)])


def device_counts(table: Table) -> list[int]:
    return sorted({integer_in(row, "devices") for row in table})


def with_interval_of_turns(verdict: Verdict, values: Sequence[float]) -> Verdict:
    """The verdict with the interval of `values`, which are the turns of a single measurement."""
    with_interval = replace(verdict, interval=student_t(values), seeds=1)
    return with_interval.noting(f"the interval is over {len(values)} turns of one measurement")


def _compare_mean(quantity: str, printed: float, values: Sequence[float], note: str = "") -> Verdict:
    """Compare the mean of the turns. It agrees within a tenth of the printed value, whatever their spread."""
    verdict = compare_exact(quantity, printed, fmean(values), tolerance=0.1 * printed, note=note)
    return with_interval_of_turns(verdict, values)


def _judged(table: Table, verdict: Verdict) -> Verdict:
    """The verdict on GPUs; no claim on CPUs, because the thesis's statements are about GPUs."""
    return verdict.unjudged("CPUs, not GPUs") if table[0]["kind"] == "CPU" else verdict


def rate_verdicts(table: Table, model: str) -> list[Verdict]:
    """Our rates beside the thesis's, without a claim: different hardware cannot be compared."""
    verdicts = []
    for devices, cards, printed in zip(device_counts(table), THESIS_CARDS, THESIS_RATES[model], strict=True):
        measured = list(rates(table, model, devices))
        verdict = Verdict(
            quantity=f"{LABELS[model]}, observations a second, {devices_text(table, devices)}",
            printed=printed, measured=fmean(measured),
            note="another machine" + ("" if devices == cards else f"; the thesis's are {cards} cards"),
        )  # fmt: skip
        verdicts.append(with_interval_of_turns(verdict, measured))
    return verdicts


def efficiency_verdict(table: Table, model: str) -> Verdict:
    """Parallel efficiency: the speed of several devices over that many times the speed of one."""
    single_device, several = device_counts(table)
    single, together = THESIS_RATES[model]
    cards = THESIS_CARDS[1]
    measured = list(rates(table, model, several) / (several * rates(table, model, single_device)))
    quantity = f"{LABELS[model]}, speed of {several} devices, divided by {several} times the speed of one"
    printed = together / (cards * single)
    of_thesis = "" if several == cards else f"the thesis's: {cards} cards, divided by {cards} times one"
    if table[0]["kind"] == "CPU":
        note = f"the {several} devices share the same cores, so more than about 1/{several} is not possible"
        verdict = Verdict(quantity=quantity, printed=printed, measured=fmean(measured), note=note)
        verdict = with_interval_of_turns(verdict, measured)
    else:
        verdict = _compare_mean(quantity, printed, measured)
    return verdict.unjudged(of_thesis) if of_thesis else verdict


def ratio_verdicts(table: Table, model: str, note: str) -> list[Verdict]:
    """The rate of a model over the rate of ByteNet, turn by turn, on one device and on several."""
    verdicts = []
    rows = zip(device_counts(table), THESIS_CARDS, THESIS_RATES[model], THESIS_RATES["bytenet"], strict=True)
    for devices, cards, printed, base in rows:
        measured = list(rates(table, model, devices) / rates(table, "bytenet", devices))
        quantity = f"{LABELS[model]}'s rate divided by ByteNet's, {devices_text(table, devices)}"
        more = "; devices exchange the statistics of a batch here, and the thesis's did not" if devices > 1 else ""
        verdict = _compare_mean(quantity, printed / base, measured, note + more)
        verdicts.append(_judged(table, _only_for_as_many_devices(verdict, devices, cards)))
    return verdicts


def _only_for_as_many_devices(verdict: Verdict, devices: int, cards: int) -> Verdict:
    """The verdict; no claim if the thesis's value is of another number of devices."""
    return verdict if devices == cards else verdict.unjudged(f"the thesis's: {cards} cards")


def devices_text(table: Table, devices: int) -> str:
    kind = text_in(table[0], "kind")
    if kind == "CPU":
        return f"the CPU as {devices} device{'s' if devices > 1 else ''}"
    return f"{devices} {kind}{'s' if devices > 1 else ''}"


def bytenet_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """Verdicts of figure 3.3.5."""
    return [*rate_verdicts(table, "bytenet"), efficiency_verdict(table, "bytenet")]


def simplified_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """Verdicts of figure 3.4.2."""
    weights = {row["model"]: integer_in(row, "weights") for row in table}
    share = weights["simplified"] / weights["bytenet"]
    note = f"it has {share:.3f} of ByteNet's weights; the gain in time also depends on the other costs of a step"
    saved = list(1 - rates(table, "bytenet", 1) / rates(table, "simplified", 1))
    return [
        _judged(
            table,
            with_interval_of_turns(
                statement(
                    "share of ByteNet's time that Simplified ByteNet saves, one device, by the text",
                    "about 20 % (0.2)",
                    0.1 < fmean(saved) < 0.3, fmean(saved),
                    note="the test: between 0.1 and 0.3; we read “20 % faster” as 20 % less time, because the thesis "
                    "calls a third of the operations a gain of 2/3",
                    source="result-simple-bytenet.tex:41",
                ),
                saved,
            ),
        ),
        *ratio_verdicts(table, "simplified", note),
        efficiency_verdict(table, "simplified"),
    ]  # fmt: skip


_ARTEFACT = (
    "as we read the thesis's code, its graph also ran the encoder over a test batch in every step of a model with "
    "batch normalisation, which would make ByteNet seem slow; here no model does"
)


def selu_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """Verdicts of figure 3.5.4."""
    verdicts = []
    for devices, cards in zip(device_counts(table), THESIS_CARDS, strict=True):
        measured = list(rates(table, "selu", devices) / rates(table, "bytenet", devices))
        holds = fmean(measured) >= 2
        verdict = statement(
            f"SELU ByteNet's rate divided by ByteNet's, {devices_text(table, devices)}, by the text",
            "at least twice as fast", holds, fmean(measured), note="" if holds else _ARTEFACT,
            contradicts=table[0]["kind"] != "CPU" and scale != "smoke" and not holds,
            source="result-selu-bytenet.tex:64",
        )  # fmt: skip
        verdict = with_interval_of_turns(verdict, measured)
        verdicts.append(_judged(table, _only_for_as_many_devices(verdict, devices, cards)))
    return [*verdicts, *ratio_verdicts(table, "selu", _ARTEFACT), efficiency_verdict(table, "selu")]
