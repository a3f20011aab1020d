"""The order of trainings and the remaining time."""

from pathlib import Path

import pytest

from bytenet.reproduction.jobs.training import Training
from bytenet.reproduction.jobs.training_run import Start, TrainingRun
from bytenet.reproduction.jobs.worker_queue import TimeLeft, TrainingQueue

RUNS = Path("/runs")


def trainings(*runs, seeds=(1,)):
    return [Training.make(run, seed, RUNS) for run in runs for seed in seeds]


def run(name, together="", **fields):
    return TrainingRun(name, "digits", together=together, **fields)


def drained(queue, *compiled):
    """The trainings that a single thread gets, in order. It starts with the given compiled models."""
    compiled, names = set(compiled), []
    while (training := queue.take(compiled)) is not None:
        compiled.add(training.run.together)
        names.append(f"{training.run.name}{training.seed}")
        queue.done(training)
    return names


def test_runs_in_own_process_come_first_then_runs_seed_by_seed():
    queue = TrainingQueue(trainings(run("a", "x"), run("b"), run("c", "x"), seeds=(1, 2)))
    assert drained(queue) == ["b1", "b2", "a1", "c1", "a2", "c2"]


def test_thread_prefers_runs_of_models_it_has_compiled():
    queue = TrainingQueue(trainings(run("a", "x"), run("b", "y"), run("c", "x"), run("d", "y"), seeds=(1, 2)))
    assert drained(queue, "y") == ["b1", "d1", "a1", "c1", "a2", "b2", "c2", "d2"]


def test_second_thread_starts_with_a_model_the_first_does_not_have():
    queue = TrainingQueue(trainings(run("a", "x"), run("b", "x"), run("c", "y"), run("d", "y")))
    assert queue.take(set()).run.name == "a"
    assert queue.take(set()).run.name == "c"
    assert queue.take({"x"}).run.name == "b"
    # No run is left for the models of the first thread, so it helps the second.
    assert queue.take({"x"}).run.name == "d"
    assert queue.take({"x"}) is None


def test_run_waits_for_its_start_run():
    first = run("first", "x")
    further = run("further", "x", starts=(Start("semi_supervised.start_forward", first),))
    queue = TrainingQueue(trainings(further, first, run("other", "x")))
    begun = queue.take(set())
    assert begun.run.name == "first"
    assert queue.take({"x"}).run.name == "other"
    queue.done(begun)
    assert queue.take({"x"}).run.name == "further"


def test_closed_queue_gives_no_training():
    queue = TrainingQueue(trainings(run("a")))
    queue.close()
    assert queue.take(set()) is None


def test_remaining_time_is_proportional_to_cost():
    cheap, dear = trainings(run("a", cost=1.0), run("b", cost=4.0))
    left = TimeLeft([cheap, dear])
    assert left.after(cheap, seconds=30.0) == pytest.approx(120.0)
    assert left.after(dear, seconds=140.0) == 0.0
    assert TimeLeft([cheap, *trainings(run("c"))]).after(cheap, seconds=30.0) is None
