"""Timing of training: what is trained and how numbers follow from each other, not how long it takes."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import keras
import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.config import load_config
from bytenet.errors import ConfigError, InputError
from bytenet.profiling.benchmarks import peak, training
from bytenet.profiling.benchmarks.flops import training_step_flops
from bytenet.profiling.benchmarks.synthetic import full_length_batches, synthetic_vocabulary
from bytenet.profiling.benchmarks.training import TrainingCase, measure_training

SMALL = ["model.dim=4", "model.num_sets=1", "model.dilations=[1]"]


@pytest.fixture(autouse=True)
def _small_product(monkeypatch):
    monkeypatch.setattr(peak, "_WIDTH", 64)


@pytest.fixture(scope="module")
def config():
    return load_config("numbers", SMALL)


def test_batches_are_of_full_length_and_of_all_characters(config):
    vocabulary = synthetic_vocabulary(9)
    assert vocabulary.size == 9
    batches = full_length_batches(config, vocabulary, batch_size=6, length=20, replicas=2).take(9)
    seen = set()
    for ids, target_ids, weights in batches.as_numpy_iterator():
        for side in (ids["source_ids"], ids["target_ids"], target_ids):
            assert side.shape == (6, 20)
            assert (side[:, -1] == 1).all()
            seen |= set(side[:, :-1].ravel().tolist())
        assert weights == pytest.approx([1 / 20] * 6)
    assert seen == set(range(3, 9))
    with pytest.raises(InputError, match="at least 5"):
        synthetic_vocabulary(4)
    with pytest.raises(InputError, match="2 replicas cannot share a batch of 5 sentences evenly"):
        full_length_batches(config, vocabulary, batch_size=5, length=20, replicas=2)


def test_costs_of_both_models(config, monkeypatch):
    fitted = []
    train = training._Trainee.train

    def noted(trainee, steps):
        fitted.append((trainee.case.stock, steps))
        return train(trainee, steps)

    monkeypatch.setattr(training._Trainee, "train", noted)
    case = TrainingCase(config, batch_size=3, length=5, jit_compile=False, vocab_size=8)
    mine, stock = measure_training([case, replace(case, stock=True)], repeats=3, seconds_a_turn=0)
    warm_up, turns = [(False, 1)] * 3 + [(True, 1)] * 3, [(False, 1), (True, 1)]
    assert fitted == warm_up + 3 * turns
    assert (mine.stock, stock.stock) == (False, True)
    assert mine.gigaflops_a_step == stock.gigaflops_a_step > 0
    # The stock model's embeddings have a row for id 0, which is never used.
    assert stock.trainable_parameters == mine.trainable_parameters + 2 * 4
    for cost in (mine, stock):
        assert cost.seconds.repeats == cost.peak_gigaflops.repeats == cost.share_of_peak.repeats == 3
        assert cost.observations.median == pytest.approx(3 / cost.seconds.median)
        assert cost.characters.median == pytest.approx(15 / cost.seconds.median)
        assert cost.first_step_seconds == pytest.approx(cost.compile_seconds + cost.seconds.median)
        rate = cost.gigaflops_a_step / cost.seconds.most
        assert rate / cost.peak_gigaflops.most <= cost.share_of_peak.median
    assert stock.times_stock.median == 1
    assert mine.times_stock.least <= stock.seconds.median / mine.seconds.median <= mine.times_stock.most


def test_the_attention_model_is_measured_but_has_no_stock_model():
    config = load_config("digits", ["model.family=attention", "model.dim=4"])
    case = TrainingCase(config, batch_size=2, length=4, jit_compile=False, vocab_size=8)
    [cost] = measure_training([case], repeats=1, seconds_a_turn=0)
    assert cost.case == "attention dense, d=4, 2 x 4, no XLA"
    assert (cost.variant, cost.dim) == ("dense", 4)
    assert cost.gigaflops_a_step > 0
    with pytest.raises(InputError, match="family attention has no stock Keras model"):
        measure_training([replace(case, stock=True)])


def test_only_float32_on_one_device_is_a_share_of_the_peak(config, monkeypatch):
    one = TrainingCase(config, batch_size=2, length=4, jit_compile=False)
    two = replace(one, replicas=2)
    assert training._compares_with_peak(one)
    assert training._compares_with_peak(two), "logical CPUs share the cores that the product has"
    bfloat16 = replace(one, config=load_config("numbers", [*SMALL, "training.mixed_precision=true"]))
    assert not training._compares_with_peak(bfloat16)
    monkeypatch.setattr(training.tf.config, "list_physical_devices", lambda kind: [kind] * 2)
    assert training._compares_with_peak(one)
    assert not training._compares_with_peak(two)


@pytest.fixture
def _float32_afterwards():
    yield
    keras.mixed_precision.set_global_policy("float32")


@pytest.mark.usefixtures("_float32_afterwards")
def test_the_command_leaves_the_share_of_the_peak_blank():
    settings = [argument for setting in [*SMALL, "training.mixed_precision=true"] for argument in ("--set", setting)]
    arguments = ["training", "numbers", *settings, "--batch-size", "2", "--length", "4", "--no-xla", "--repeats", "1"]
    header, row = CliRunner().invoke(benchmark, arguments, catch_exceptions=False).stdout.strip().split("\n")
    place = header.index("share of peak")
    assert row[place:].split()[0] == "-"
    assert " min" not in header, "no length of a run was given"


def test_nothing_is_read_from_or_left_in_the_compile_cache(tmp_path):
    """Not even where a user has turned it on for TensorFlow: what is measured is compiling."""
    settings = [argument for setting in SMALL for argument in ("--set", setting)]
    arguments = ["numbers", *settings, "--batch-size", "2", "--length", "4", "--vocab-size", "8", "--repeats", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "bytenet", "benchmark", "training", *arguments, "--xla"],
        capture_output=True, text=True, env=os.environ | {"BYTENET_COMPILE_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ", XLA  " in done.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_other_flags_of_xla_stay(cases, monkeypatch):
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=0 --tf_xla_persistent_cache_directory=/full")
    cases()
    assert os.environ["TF_XLA_FLAGS"] == "--tf_xla_auto_jit=0"


@pytest.mark.slow
def test_compiled_with_xla(config):
    case = TrainingCase(config, batch_size=2, length=4, jit_compile=True, vocab_size=8)
    cost, stock = measure_training([case, replace(case, stock=True)], repeats=1, seconds_a_turn=0)
    assert cost.xla
    assert stock.xla
    assert cost.times_stock is None, "the baseline is Keras's default"


def test_a_replica_that_does_not_exist(config):
    case = TrainingCase(config, batch_size=99, length=4, jit_compile=False, replicas=99)
    with pytest.raises(ConfigError, match=r"names .*, but the devices here are"):
        measure_training([case])


@pytest.mark.slow
def test_replicas():
    """In a process of its own, as this one's TensorFlow has one CPU already."""
    settings = [argument for setting in SMALL for argument in ("--set", setting)]
    arguments = ["numbers", *settings, "--batch-size", "4", "--length", "6", "--replicas", "1", "--replicas", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "bytenet", "benchmark", "training", *arguments, "--no-xla", "--repeats", "1", "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    one, two = json.loads(done.stdout)
    assert (one["replicas"], two["replicas"]) == (1, 2)
    assert two["case"].endswith("2 replicas")
    assert one["gigaflops_a_step"] == two["gigaflops_a_step"]


def test_no_cases():
    assert measure_training([]) == []


@pytest.fixture
def cases(monkeypatch):
    """Runs the command, which only notes what it is to measure."""
    asked = []

    def note(cases, repeats, say):
        asked.extend(cases)
        return []

    monkeypatch.setattr(training, "measure_training", note)

    def run(*arguments):
        asked.clear()
        result = CliRunner().invoke(benchmark, ["training", *arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return list(asked)

    return run


def test_the_command_measures_the_thesis_model_by_default(cases):
    (case,) = cases()
    assert case.name == "bytenet, d=400, 64 x 100, XLA"
    assert case.vocab_size == 105
    (case,) = cases("multi30k", "--length", "50")
    assert case.name == "bytenet, d=128, 51 x 50, XLA"
    assert case.config == load_config("multi30k")
    (case,) = cases("--set", "training.deterministic=true")
    assert not case.jit_compile
    (case,) = cases("--set", "training.jit_compile=false")
    assert not case.jit_compile


def test_the_command_combines_what_is_repeated(cases):
    widths = ["--dim", "8", "--dim", "12"]
    found = cases(*widths, "--variant", "selu", "--variant", "simplified", "--batch-size", "4", "--no-xla")
    assert [case.name.removesuffix(", 4 x 100, no XLA") for case in found] == [
        "selu, d=8", "selu, d=12", "simplified, d=8", "simplified, d=12",
    ]  # fmt: skip
    found = cases("--batch-size", "2", "--batch-size", "4", "--length", "9", "--xla", "--no-xla")
    assert [(case.batch_size, case.length, case.jit_compile) for case in found] == [
        (2, 9, False), (2, 9, True), (4, 9, False), (4, 9, True),
    ]  # fmt: skip


def test_the_command_never_compiles_for_several_replicas(cases):
    found = cases("--replicas", "1", "--replicas", "2", "--xla")
    assert [(case.replicas, case.jit_compile) for case in found] == [(1, True), (2, False)]
    found = cases("--replicas", "2", "--xla", "--no-xla", "--baseline", "--baseline-xla", "--vocab-size", "60")
    assert {case.vocab_size for case in found} == {60}
    assert [(case.stock, case.replicas, case.jit_compile) for case in found] == [
        (False, 2, False), (True, 1, False), (True, 1, True),
    ]  # fmt: skip


def test_the_command_prints_a_row_a_case():
    settings = [argument for setting in SMALL for argument in ("--set", setting)]
    arguments = ["training", "numbers", *settings, "--batch-size", "2", "--length", "4", "--no-xla", "--repeats", "1"]
    result = CliRunner().invoke(benchmark, [*arguments, "--run-minutes", "0.5"], catch_exceptions=False)
    lines = result.stdout.strip().split("\n")
    assert len(lines) == 2
    assert lines[1].startswith("bytenet, d=4, 2 x 4, no XLA  ")
    seconds, share = lines[1][lines[0].index("s to compile") :].split()
    assert float(share.removesuffix("%")) == pytest.approx(100 * float(seconds) / 30, abs=0.05 / 30 * 100 + 0.05)
    assert "of 0.5 min" in lines[0]
    assert "first steps" in result.stderr
    as_json = json.loads(CliRunner().invoke(benchmark, [*arguments, "--json"], catch_exceptions=False).stdout)
    assert as_json[0]["dim"] == 4
    assert as_json[0]["share_of_peak"]["repeats"] == 1


def test_the_command_counts_the_products_of_its_model(config):
    from bytenet.models import build_model

    case = TrainingCase(config, 2, 6, jit_compile=False, vocab_size=8)
    (cost,) = measure_training([case], repeats=1, seconds_a_turn=0)
    assert cost.gigaflops_a_step * 1e9 == pytest.approx(training_step_flops(build_model(config.model, 8), 2, 6, 6))


@pytest.mark.parametrize("arguments", [["--dim", "7"], ["--variant", "bytnet"], ["--set", "model.dimm=4"]])
def test_wrong_settings(arguments):
    with pytest.raises(ConfigError):
        CliRunner().invoke(benchmark, ["training", *arguments], catch_exceptions=False)
