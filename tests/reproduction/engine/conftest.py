"""Places that reproduce the stand-in experiment. No training is real."""

import json

import pytest

from bytenet.reproduction.engine import runner
from bytenet.reproduction.jobs.training import Training, marker_in

from .sizes import EXPERIMENT, rows


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A function that reproduces in a place with its own folder of trainings, and returns what was trained."""
    trained = []

    def go(name, *, only=(), meanwhile=lambda: None, **options):
        def train_all(trainings, seeds, runs, jobs, say, selected):
            for run in trainings:
                for seed in seeds:
                    training = Training.make(run, seed, runs)
                    asked = (run.name, seed) in selected and (not only or (run.name, seed) in only)
                    if not asked or training.is_finished():
                        continue
                    training.folder.mkdir(parents=True)
                    (training.folder / "config.yaml").write_text(training.config.to_yaml())
                    (training.folder / "place").write_text(name)
                    (training.folder / "vocabulary.json").touch()
                    environment = {"git_commit": f"{run.name} {name}"}
                    (training.folder / "environment.json").write_text(json.dumps(environment))
                    marker_in(training.folder).write_text("")
                    trained.append((name, run.name, seed))
            meanwhile()
            return {}

        monkeypatch.setattr(runner, "train_all", train_all)
        found, failed = runner.reproduce(
            [EXPERIMENT], "cpu", tmp_path / "results", tmp_path / name, say=lambda line: None, **options
        )
        assert not failed, failed
        assert found["sizes"][0].measured == len(rows(tmp_path))
        return trained

    return go
