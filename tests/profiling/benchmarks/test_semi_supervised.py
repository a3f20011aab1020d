"""Timing of semi-supervised steps: these tests check the batches and derived numbers, not the times."""

import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config import load_config
from bytenet.errors import InputError
from bytenet.profiling.benchmarks.semi_supervised import measure, measure_semi_supervised
from bytenet.profiling.benchmarks.semi_supervised.timed_calls import StepPart, WholeSteps
from bytenet.training.tasks import task
from bytenet.training.tasks.semi_supervised_task import SemiSupervisedTask
from bytenet.training.tasks.text_gradients import TextGradients
from bytenet.training.tasks.translator_pair import TranslatorPair

from .small_settings import SMALL_SEMI_SUPERVISED

TWO_BUCKETS = [
    *SMALL_SEMI_SUPERVISED,
    "data.num_buckets=2", "data.bucket_min_size=4", "data.bucketing=optimal",
    "semi_supervised.num_buckets=2", "semi_supervised.bucket_min_size=4", "semi_supervised.bucketing=optimal",
    "semi_supervised.beam_size=2",
]  # fmt: skip
ONE_SHAPE = [*TWO_BUCKETS, "data.bucketing=none", "semi_supervised.bucketing=none"]
BOTH_SIDES = ["semi_supervised.source_weight=0.2", "semi_supervised.target_weight=0.1"]


def small(*settings):
    return load_config("digits-semi", [*TWO_BUCKETS, *settings])


@pytest.fixture
def known_times(monkeypatch):
    """Nothing is trained. The first call of a part takes 1 second more. Other calls take the times noted by name.

    A list has one time for each turn. The time of the first turn is also used while warming up.
    """
    times = {}

    def run_steps(steps):
        times.setdefault("combinations", {})[steps.beam_size] = steps._shares
        times.setdefault("searching", {})[steps.beam_size] = steps.pair.settings.beam_size
        return times[steps.beam_size][len(steps.seconds)]

    def run_part(part):
        times.setdefault("shares", {})[part.name, part.side, part.shape.length] = part.shape.share
        found = times[part.name, part.side][len(part.seconds)]
        return found if part.first_seconds else 1.0 + found

    monkeypatch.setattr(WholeSteps, "run", run_steps)
    monkeypatch.setattr(StepPart, "run", run_part)
    return times


def test_results_are_derived_from_the_times_of_the_turns(known_times):
    known_times |= {
        None: [0.10, 0.20], 2: [0.40, 0.60], 5: [0.60, 1.00],
        ("pairs", None): [0.06, 0.13],
        ("text and search", "source"): [0.10, 0.20], ("search", "source"): [0.04, 0.06],
        ("text and search", "target"): [0.12, 0.20], ("search", "target"): [0.02, 0.06],
    }  # fmt: skip
    steps, parts = measure_semi_supervised(small(*BOTH_SIDES), beam_sizes=(2, 5, 2), repeats=2)
    pairs_only, two, five = steps
    assert [step.case for step in steps] == ["pairs only, no XLA", "beam 2, no XLA", "beam 5, no XLA"]
    assert [step.thesis_times for step in steps] == [None, None, (5.4, 5.7)]
    assert (known_times["searching"][2], known_times["searching"][5]) == (2, 5)
    assert (pairs_only.times_pairs_only.least, pairs_only.times_pairs_only.most) == (1, 1)
    # Turn by turn: .4 / .1 and .6 / .2.
    assert (two.times_pairs_only.least, two.times_pairs_only.median) == pytest.approx((3.0, 3.5))
    assert five.times_pairs_only.repeats == 2
    # All shapes of a stream take equally long here, so their mean is the same. The times of both sides are added.
    assert list(two.parts) == ["pairs", "search", "text", "rest"]
    expected = {"pairs": (0.06, 0.13), "search": (0.06, 0.12), "text": (0.16, 0.28)}
    expected["rest"] = (0.40 - 0.28, 0.60 - 0.53)
    for name, turns in expected.items():
        assert (two.parts[name].least, two.parts[name].most) == pytest.approx(sorted(turns)), name
    assert list(pairs_only.parts) == ["pairs", "rest"]
    assert pairs_only.parts["rest"].most == pytest.approx(0.20 - 0.13)
    # First calls: two shapes of pairs and two of each text. The search alone is not part of a run.
    median = {name: (turns[0] + turns[1]) / 2 for name, turns in known_times.items() if isinstance(name, tuple)}
    first = {name: 1.0 + known_times[name][0] - value for name, value in median.items()}
    of_pairs = 2 * first["pairs", None]
    assert pairs_only.compile_seconds == pytest.approx(of_pairs)
    of_text = 2 * (first["text and search", "source"] + first["text and search", "target"])
    assert two.compile_seconds == five.compile_seconds == pytest.approx(of_pairs + of_text)
    assert len(parts) == 2 + 2 * 8
    assert {(part.beam_size, part.side) for part in parts if part.part == "search"} == {
        (2, "source"), (2, "target"), (5, "source"), (5, "target"),
    }  # fmt: skip


def test_steps_unlike_the_thesis_are_labelled_and_not_compared(known_times, monkeypatch):
    monkeypatch.setattr(measure, "take_over_start", lambda config: (config, None))
    monkeypatch.setattr(SemiSupervisedTask, "load_starts", lambda self, model: None)
    known_times |= {None: [1.0], 5: [1.0], ("pairs", None): [1.0]}
    known_times |= {(name, side): [1.0] for name in ("text and search", "search") for side in ("source", "target")}
    back_translation, forward = "semi_supervised.objective=back_translation", "semi_supervised.trained=forward"
    for settings, words in (
        ([back_translation], "beam 5, back-translation"),
        ([forward], "beam 5, only forward trained"),
        ([back_translation, forward], "beam 5, back-translation, only forward trained"),
    ):
        config = small(*BOTH_SIDES, *settings, "semi_supervised.start_backward=RUN")
        steps, _ = measure_semi_supervised(config, beam_sizes=(5,), repeats=1)
        only = ", only forward trained" if forward in settings else ""
        assert [step.case for step in steps] == [f"pairs only{only}, no XLA", f"{words}, no XLA"]
        assert [step.thesis_times for step in steps] == [None, None]


def test_shapes_are_weighted_by_their_frequency(known_times):
    config = small(*BOTH_SIDES)
    known_times |= {None: [1.0], 2: [1.0], ("pairs", None): [1.0]}
    known_times |= {(name, side): [1.0] for name in ("text and search", "search") for side in ("source", "target")}
    steps, parts = measure_semi_supervised(config, repeats=1)
    by_stream = {}
    for part in parts:
        by_stream.setdefault((part.part, part.side), []).append(part)
    for stream in by_stream.values():
        assert len({(part.rows, part.length) for part in stream}) == len(stream) == 2
        assert sum(part.share for part in stream) == pytest.approx(1)
    # The frequencies are counted in the batches of an epoch.
    of_run = _lengths_of_an_epoch(config)
    for part in by_stream["pairs", None]:
        assert part.share == pytest.approx(of_run["pairs"].count(part.length) / len(of_run["pairs"]))
    for side in ("source", "target"):
        for part in by_stream["text and search", side]:
            assert part.share == pytest.approx(of_run[side].count(part.length) / len(of_run[side]))
    combinations = known_times["combinations"]
    assert len(combinations[None]) == 2
    assert len(combinations[2]) == 8
    assert combinations[2].sum() == pytest.approx(1)
    assert max(combinations[2]) == pytest.approx(
        np.prod([max(part.share for part in by_stream[name]) for name in by_stream if name[0] != "search"])
    )
    assert steps[1].seconds.median == 1


def _lengths_of_an_epoch(config):
    """Padded lengths of the batches of every stream, for one epoch."""
    from bytenet.training.tasks import make_task

    return {
        name: [batch.length for batch in stream.plan.epoch(1, 0)] for name, stream in make_task(config).streams.items()
    }


@pytest.mark.thorough
def test_steps_run_fit_on_batches_of_the_run_from_the_same_weights(eagerly, monkeypatch):
    fitted, weights, searched = [], {}, []
    fit, search = TranslatorPair.fit, TranslatorPair.search

    def noted_fit(pair, dataset, **arguments):
        batches = list(dataset.take(arguments["steps_per_epoch"]))
        values = [convert_to_numpy(weight) for model in pair.translators for weight in model.weights]
        fitted.append((pair.settings.beam_size if "source" in batches[0] else None, batches))
        weights.setdefault(fitted[-1][0], []).append(np.concatenate([value.ravel() for value in values]))
        return fit(pair, dataset, **arguments)

    def noted_search(pair, side, ids, max_length):
        found = search(pair, side, ids, max_length)
        searched.append((side, found[0].shape[1]))
        return found

    monkeypatch.setattr(TranslatorPair, "fit", noted_fit)
    monkeypatch.setattr(TranslatorPair, "search", noted_search)
    config = load_config("digits-semi", ONE_SHAPE)
    steps, _ = measure_semi_supervised(config, beam_sizes=(2,), repeats=2, seconds_a_turn=0)
    assert [beam for beam, _ in fitted] == 3 * [None] + 3 * [2] + 2 * [None, 2]
    assert set(searched) == {("source", 2)}
    lengths = {name: max(of_epoch) for name, of_epoch in _lengths_of_an_epoch(config).items()}
    for _, batches in fitted:
        assert len(batches) == 1
        pairs = batches[0]["pairs"]
        assert pairs["source_ids"].shape == pairs["target_ids"].shape == (4, lengths["pairs"])
        assert np.count_nonzero(convert_to_numpy(pairs["forward_weights"])) == 4
    with_text = [batches[0]["source"][0].shape for beam, batches in fitted if beam is not None]
    assert with_text == 5 * [(4, lengths["source"])]
    turns = [values for of_beam in weights.values() for values in of_beam[3:]]
    assert len(turns) == 4
    for values in turns[1:]:
        np.testing.assert_array_equal(values, turns[0])
    assert np.abs(weights[2][0] - turns[0]).max() > 0, "while warming up, the steps train"
    assert [step.steps_a_turn for step in steps] == [1, 1]
    for step in steps:
        assert step.seconds.repeats == len(step.turns) == 2
        assert all(part.repeats == 2 for part in step.parts.values())


def test_missing_monolingual_text_is_refused():
    for settings in (["semi_supervised.source_weight=0"], ["data.num_monolingual=null"]):
        with pytest.raises(InputError, match=r"There is no monolingual text to measure with\. Set data\."):
            measure_semi_supervised(small(*settings))


def test_several_devices_are_refused(monkeypatch):
    class Two:
        num_replicas_in_sync = 2

    monkeypatch.setattr(task, "make_strategy", lambda devices: Two())
    with pytest.raises(InputError, match="2 devices would share each batch"):
        measure_semi_supervised(small())


@pytest.mark.slow
def test_step_reuses_the_text_part_compiled_with_xla(monkeypatch):
    calls = []
    text_part = TextGradients.loss_and_gradients
    monkeypatch.setattr(
        TextGradients, "loss_and_gradients", lambda text, *given: calls.append(given) or text_part(text, *given)
    )
    config = load_config("digits-semi", [*ONE_SHAPE, "training.jit_compile=true"])
    steps, _ = measure_semi_supervised(config, repeats=1, seconds_a_turn=0)
    assert [step.xla for step in steps] == [True, True]
    assert len(calls) == 1, "the step takes the part that was compiled by itself"
