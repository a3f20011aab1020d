"""Table 2.4.1: to what batch and layer normalisation are invariant."""

import numpy as np

from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Basis, Experiment, Scale, Table, Work
from bytenet.reproduction.engine.judging import statement
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.shared.cells import number_in, text_in
from bytenet.reproduction.figures.shared.needs import COMPUTED

_LINES = {"batch": 132, "layer": 133}  # of improving-convergence-speed.tex; its line 135 is the caption
_IN_CAPTION = {("batch", "weight vector re-scaling"), ("layer", "single case re-scaling")}
_INVARIANT: dict[str, dict[str, bool]] = thesis_numbers("invariances")
# Rounding to float32 changes the output by a relative 1e-6.
_UNCHANGED = 1e-4


def _measure_invariances(work: Work) -> Table:
    """Normalise `data @ weights`, change one of them, normalise again.

    Re-centring is defined as in Ba et al. 2016. Re-centring the weights adds one vector to the incoming weights of
    every unit. Re-centring the data adds one vector to every case.
    """
    import keras

    from bytenet.layers.fast import make_normalization

    random = np.random.default_rng(0)
    data, weights = random.normal(size=(256, 32)), random.normal(size=(32, 64))  # cases, inputs, units
    vector = random.normal(size=32)
    one_case, one_unit = np.ones((256, 1)), np.ones(64)
    one_case[0], one_unit[0] = 3, 3
    changed = {
        "weight matrix re-scaling": (data, 3 * weights),
        "weight matrix re-centring": (data, weights + vector[:, None]),
        "dataset re-scaling": (3 * data, weights),
        "dataset re-centring": (data + vector, weights),
        "weight vector re-scaling": (data, weights * one_unit),
        "single case re-scaling": (data * one_case, weights),
    }
    rows: Table = []
    for kind in ("batch", "layer"):
        layer = make_normalization(kind, epsilon=1e-8, momentum=0.99)
        arguments = {"training": True} if kind == "batch" else {}

        def normalised(inputs: np.ndarray, layer=layer, arguments=arguments) -> np.ndarray:
            return keras.ops.convert_to_numpy(layer(inputs.astype("float32"), **arguments))

        before = normalised(data @ weights)
        for change, (new_data, new_weights) in changed.items():
            difference = normalised(new_data @ new_weights) - before
            relative = float(np.linalg.norm(difference) / np.linalg.norm(before))
            rows.append({"normalisation": kind, "change": change, "relative_change_of_output": relative})
    return rows


def _invariance_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    for row in table:
        printed = _INVARIANT[text_in(row, "normalisation")].get(text_in(row, "change"))
        change = number_in(row, "relative_change_of_output")
        quantity = f"{row['normalisation']} normalisation, {row['change']}: relative change of the output"
        if printed is None:
            verdict = "invariant" if change < _UNCHANGED else "not invariant"
            verdicts.append(Verdict(quantity=quantity, printed="", measured=change, note=verdict))
            continue
        normalisation = text_in(row, "normalisation")
        line = 135 if (normalisation, text_in(row, "change")) in _IN_CAPTION else _LINES[normalisation]
        source = f"improving-convergence-speed.tex:{line}"
        holds = (change < _UNCHANGED) == printed
        printed_text = "invariant" if printed else "not invariant"
        verdicts.append(statement(quantity, printed_text, holds, change, contradicts=not holds, source=source))
    return verdicts


EXPERIMENTS = (
    Experiment(
        name="tab-2.4.1",
        title="Invariances of batch and layer normalisation",
        thesis="Batch normalisation is invariant to all changes but re-centring of the weight matrix, layer "
        "normalisation to all but re-centring of the dataset. Batch normalisation is also invariant to re-scaling of "
        "one weight vector, and layer normalisation to re-scaling of a single case.",
        needs=COMPUTED,
        basis=Basis("computed"),
        measure=_measure_invariances,
        verdicts=_invariance_verdicts,
    ),
)
