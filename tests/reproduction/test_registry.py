"""Every figure and table of the thesis has an experiment."""

import itertools
import subprocess
import sys

import pytest

from bytenet.errors import ConfigError
from bytenet.reproduction.engine.experiment import SCALES
from bytenet.reproduction.registry import all_experiments, find_experiment

THESIS = [
    "fig-2.2.1", "fig-2.4.1", "tab-2.4.1", "fig-2.4.2", "fig-2.6.3", "tab-3.1.1", "tab-3.1.2", "tab-3.1.3",
    "fig-3.3.1", "tab-3.3.1", "fig-3.3.2", "tab-3.3.2", "fig-3.3.3", "tab-3.3.3", "fig-3.3.4", "tab-3.3.4",
    "fig-3.3.5", "tab-3.3.5", "fig-3.3.6", "tab-3.3.6", "fig-3.4.1", "tab-3.4.1", "fig-3.4.2", "fig-3.4.3",
    "fig-3.4.4", "fig-3.5.1", "fig-3.5.2", "fig-3.5.3", "fig-3.5.4", "fig-3.5.5", "fig-3.5.6", "fig-3.6.1",
    "fig-3.6.2", "fig-d.1.1", "fig-d.1.2", "fig-d.2.1", "fig-d.2.2", "fig-d.2.3", "fig-d.3.1", "fig-d.3.2",
]  # fmt: skip
OWN = [
    "attention-baseline", "convs2s-ablations", "digits-by-place", "digits-tuning", "family-contest",
    "family-contest-longer", "family-contest-tuning", "family-decoding", "family-learning", "family-training",
    "monolingual-captions", "monolingual-captions-tuning", "quality-factors", "quality-factors-convs2s",
    "search-factors", "selu-language", "semi-supervised-settings", "source-attention", "source-attention-decoding",
    "source-attention-offsets", "source-attention-training",
]  # fmt: skip
EXPERIMENTS = all_experiments()


def test_experiments_are_in_thesis_order_followed_by_our_own():
    assert [experiment.name for experiment in EXPERIMENTS] == THESIS + OWN


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_each_experiment_describes_the_thesis_and_its_needs(experiment):
    assert experiment.title
    assert experiment.thesis
    assert not (experiment.is_thesis and "Not in the thesis" in experiment.thesis)
    assert set(experiment.needs.time) == set(SCALES)
    assert all(experiment.needs.time.values())
    assert experiment.plot is not None or experiment.name.startswith("tab-")


@pytest.mark.parametrize("scale", SCALES)
def test_runs_with_the_same_name_are_identical(scale):
    runs = [run for experiment in EXPERIMENTS for run in experiment.runs(scale)]
    by_name = sorted(runs, key=lambda run: run.name)
    for _, same in itertools.groupby(by_name, key=lambda run: run.name):
        first, *others = same
        assert all(run.config(seed=1) == first.config(seed=1) for run in others)
        assert len({run.prepare is None for run in (first, *others)}) == 1


def test_experiment_names_ignore_case():
    assert find_experiment("Fig-D.2.1").name == "fig-d.2.1"


@pytest.mark.parametrize(("name", "hint"), [("fig-3.31", "Did you mean fig-3.3.1?"), ("nothing", "")])
def test_unknown_name_is_refused_with_the_nearest_suggestion(name, hint):
    with pytest.raises(ConfigError, match=f"'{name}' is not an experiment here") as error:
        find_experiment(name)
    assert hint in str(error.value)
    assert "bytenet reproduce --list" in str(error.value)


def test_registry_does_not_import_tensorflow_keras_or_matplotlib():
    code = (
        "import sys; from bytenet.reproduction.registry import all_experiments; all_experiments();"
        "print(*{'tensorflow', 'keras', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
