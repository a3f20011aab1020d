"""Timing of training: these tests check the trainings and derived numbers, not the times."""

from dataclasses import replace

import pytest

from bytenet.config import load_config
from bytenet.errors import ConfigError, InputError
from bytenet.models import build_model
from bytenet.profiling.benchmarks import training
from bytenet.profiling.benchmarks.flops import training_step_flops
from bytenet.profiling.benchmarks.synthetic import MOST_IDS, full_length_batches, synthetic_vocabulary
from bytenet.profiling.benchmarks.training import measure_training
from bytenet.profiling.benchmarks.training_case import TrainingCase

from .small_settings import SMALL

pytestmark = pytest.mark.usefixtures("small_product")


@pytest.fixture(scope="module")
def config():
    return load_config("numbers", SMALL)


def test_batches_have_full_length_and_all_characters(config):
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
    assert synthetic_vocabulary(MOST_IDS).size == MOST_IDS
    for wrong in (4, MOST_IDS + 1):
        with pytest.raises(InputError, match=f"from 5 to {MOST_IDS:,}"):
            synthetic_vocabulary(wrong)
    with pytest.raises(InputError, match="2 replicas cannot share a batch of 5 sentences evenly"):
        full_length_batches(config, vocabulary, batch_size=5, length=20, replicas=2)


@pytest.mark.thorough
def test_costs_of_bytenet_and_stock_model_are_derived_from_times(eagerly, config, monkeypatch):
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
    flops = training_step_flops(build_model(config.model, 8), 3, 5, 5)
    assert mine.gigaflops_a_step == stock.gigaflops_a_step == pytest.approx(flops / 1e9)
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


@pytest.mark.thorough
def test_recurrent_model_is_measured_but_has_no_stock_model(eagerly):
    config = load_config(
        "digits", ["model.family=recurrent", "model.variant=madsen", "model.dim=4", "model.encoder_layers=1"]
    )
    case = TrainingCase(config, batch_size=2, length=4, jit_compile=False, vocab_size=8)
    [cost] = measure_training([case], repeats=1, seconds_a_turn=0)
    assert cost.case == "recurrent madsen, d=4, 2 x 4, no XLA"
    assert (cost.variant, cost.dim) == ("madsen", 4)
    assert cost.gigaflops_a_step > 0
    with pytest.raises(InputError, match="family recurrent has no stock Keras model"):
        measure_training([replace(case, stock=True)])


def test_share_of_peak_needs_float32_on_one_device(config, monkeypatch):
    one = TrainingCase(config, batch_size=2, length=4, jit_compile=False)
    two = replace(one, replicas=2)
    assert training._compares_with_peak(one)
    assert training._compares_with_peak(two), "logical CPUs share the cores that the product has"
    bfloat16 = replace(one, config=load_config("numbers", [*SMALL, "training.mixed_precision=true"]))
    assert not training._compares_with_peak(bfloat16)
    monkeypatch.setattr(training.tf.config, "list_physical_devices", lambda kind: [kind] * 2)
    assert training._compares_with_peak(one)
    assert not training._compares_with_peak(two)


@pytest.mark.slow
def test_models_compiled_with_xla_have_no_time_ratio_to_stock(config):
    case = TrainingCase(config, batch_size=2, length=4, jit_compile=True, vocab_size=8)
    cost, stock = measure_training([case, replace(case, stock=True)], repeats=1, seconds_a_turn=0)
    assert cost.xla
    assert stock.xla
    assert cost.times_stock is None, "the baseline is Keras's default"


def test_accumulation_over_batches_is_refused(config):
    """A step would leave out the update."""
    config = replace(config, training=replace(config.training, accumulate_batches=8))
    case = TrainingCase(config, batch_size=2, length=4, jit_compile=False)
    with pytest.raises(InputError, match=r"accumulate_batches is 8\. .*--set training\.accumulate_batches=1"):
        measure_training([case])


def test_a_start_is_refused(config):
    started = replace(config, training=replace(config.training, start="de-en"))
    with pytest.raises(InputError, match=r"measures the model of the settings, but training\.start is de-en"):
        measure_training([TrainingCase(started, 4, 20, False)])


def test_missing_replica_device_is_refused(config):
    case = TrainingCase(config, batch_size=99, length=4, jit_compile=False, replicas=99)
    with pytest.raises(ConfigError, match=r"names .*, but this machine has"):
        measure_training([case])


def test_no_cases_give_no_costs():
    assert measure_training([]) == []
