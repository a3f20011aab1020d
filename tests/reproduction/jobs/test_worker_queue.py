"""The order of trainings, and how long they still take."""

from pathlib import Path

import pytest

from bytenet.reproduction.jobs.training_run import Start, Training, TrainingRun
from bytenet.reproduction.jobs.worker_queue import TimeLeft, TrainingQueue

RUNS = Path("/runs")


def trainings(*runs, seeds=(1,)):
    return [Training.make(run, seed, RUNS) for run in runs for seed in seeds]


def run(name, together="", **fields):
    return TrainingRun(name, "digits", together=together, **fields)


def drained(queue, *compiled):
    """What a single thread gets, in order, starting with the models given."""
    compiled, names = set(compiled), []
    while (training := queue.take(compiled)) is not None:
        compiled.add(training.run.together)
        names.append(f"{training.run.name}{training.seed}")
        queue.done(training)
    return names


def test_processes_of_their_own_come_first_then_seed_by_seed_in_order():
    queue = TrainingQueue(trainings(run("a", "x"), run("b"), run("c", "x"), seeds=(1, 2)))
    assert drained(queue) == ["b1", "b2", "a1", "c1", "a2", "c2"]


def test_a_thread_goes_on_with_the_models_it_has():
    queue = TrainingQueue(trainings(run("a", "x"), run("b", "y"), run("c", "x"), run("d", "y"), seeds=(1, 2)))
    assert drained(queue, "y") == ["b1", "d1", "a1", "c1", "a2", "b2", "c2", "d2"]


def test_a_second_thread_begins_with_a_model_that_the_first_has_not():
    queue = TrainingQueue(trainings(run("a", "x"), run("b", "x"), run("c", "y"), run("d", "y")))
    assert queue.take(set()).run.name == "a"
    assert queue.take(set()).run.name == "c"
    assert queue.take({"x"}).run.name == "b"
    # Nothing is left that the first has models for: it helps with the second's.
    assert queue.take({"x"}).run.name == "d"
    assert queue.take({"x"}) is None


def test_what_starts_from_another_waits_for_it():
    first = run("first", "x")
    further = run("further", "x", starts=(Start("semi_supervised.start_forward", first),))
    queue = TrainingQueue(trainings(further, first, run("other", "x")))
    begun = queue.take(set())
    assert begun.run.name == "first"
    assert queue.take({"x"}).run.name == "other"
    queue.done(begun)
    assert queue.take({"x"}).run.name == "further"


def test_nothing_is_given_out_after_closing():
    queue = TrainingQueue(trainings(run("a")))
    queue.close()
    assert queue.take(set()) is None


def test_time_left_goes_by_cost():
    cheap, dear = trainings(run("a", cost=1.0), run("b", cost=4.0))
    left = TimeLeft([cheap, dear])
    assert left.after(cheap, seconds=30.0) == pytest.approx(120.0)
    assert left.after(dear, seconds=140.0) == 0.0
    assert TimeLeft([cheap, *trainings(run("c"))]).after(cheap, seconds=30.0) is None
