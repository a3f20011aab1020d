"""The files of a run folder other than its configuration and its models."""

import json

from bytenet.config import load_config
from bytenet.csv_log import CsvLog, read_csv_log
from bytenet.datasets import Vocabulary
from bytenet.evaluation.run_page import _evaluation
from bytenet.run_folder import RunFolder
from bytenet.saved.evaluations import saved_evaluations
from tests.fuzz.targets.target import Target

_TOKENS = (
    b"null", b"true", b"NaN", b"Infinity", b"-1", b"1e999", b"[" * 5000, b'{"a":' * 5000, b'"\\ud800"',
    b'"' + b"x" * 5000, b"[]", b"{}", b'""',
)  # fmt: skip


class Vocabularies(Target):
    """`vocabulary.json`."""

    name, suffix, tokens = "vocabularies", ".json", (*_TOKENS, b'"\\u0308"', b'"drop"', b'"error"')

    def make_seeds(self) -> list[bytes]:
        return [Vocabulary("abcü\u2028\t", unknown).to_json().encode() for unknown in ("symbol", "drop", "error")]

    def read(self) -> None:
        vocabulary = Vocabulary.load(self.path)
        assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary, "a vocabulary changes when it is written"
        ids = [*vocabulary.encode("".join(vocabulary.characters))]
        assert len(ids) == len(vocabulary.characters) + 1 == len(set(ids)), "two characters have one id"


class Environments(Target):
    """`environment.json`."""

    name, suffix, tokens = "environments", ".json", _TOKENS

    def make_seeds(self) -> list[bytes]:
        self._run = RunFolder.create(self.folder / "run", load_config("digits"), Vocabulary("ab"))
        environment = {
            "commands": ["bytenet train digits --run x"], "versions": {"python": "3.11.2", "keras": None},
            "git_commit": None, "machine": {"platform": "Linux", "cores": 2}, "seed": 1,
            "vocabulary": self._run.vocabulary.fingerprint(), "trainable_parameters": 1605, "devices": ["CPU:0"],
            "replicas": 1, "trained_lengths": [11, 18],
        }  # fmt: skip
        return [json.dumps(environment, indent=2).encode()]

    def read(self) -> None:
        self._run.environment_path.write_bytes(self.path.read_bytes())
        environment = self._run.environment()
        expected = json.loads(self.path.read_bytes())
        assert _sorted(environment) == _sorted(expected), "the environment is wrong"
        assert RunFolder.open(self._run).vocabulary == Vocabulary("ab")


def _sorted(content: object) -> str:
    return json.dumps(content, sort_keys=True)


class Measurements(Target):
    """`metrics.csv`."""

    name, suffix = "measurements", ".csv"
    tokens = (b",", b",,,,", b'"', b"nan", b"\n", b"\r", b"step", b"1" * 200_000)

    def make_seeds(self) -> list[bytes]:
        log = CsvLog(self.folder / "seed.csv", ["epoch", "step", "seconds", "loss"])
        for epoch in range(1, 4):
            log.append(
                {"epoch": epoch, "step": 7 * epoch, "seconds": 20.5 * epoch, "loss": None if epoch == 2 else 3.21}
            )
        return [log.path.read_bytes()]

    def read(self) -> None:
        columns = read_csv_log(self.path)
        assert all(isinstance(value, float) for values in columns.values() for value in values)
        assert len({len(values) for values in columns.values()}) <= 1, "columns have different lengths"
        log = CsvLog(self.path, ["epoch", "step", "seconds", "loss", "val_loss"])
        log.drop_after(14)
        log.append({"epoch": 4, "step": 28})


class Evaluations(Target):
    """The scores of a test set."""

    name, suffix, tokens = "evaluations", ".json", _TOKENS

    def make_seeds(self) -> list[bytes]:
        self._run = RunFolder(self.folder / "run")
        self._run.evaluation.mkdir(parents=True)
        (self._run.evaluation / "case.samples.md").write_text("| source | translation |\n|---|---|\n| a | b |\n")
        scores = [
            {"name": "BLEU", "value": 20.5, "interval": [19.0, 22.0], "digits": 1, "settings": "|", "num_sentences": 9}
        ]
        evaluation = {
            "name": "test", "num_sentences": 9, "scores": scores, "settings": {"beam_size": 10, "length_penalty": 0.6},
            "seconds": 1.5, "characters_per_second": 100.0, "num_unended": 0,
            "model_sha256": None,
        }  # fmt: skip
        return [json.dumps(evaluation, indent=2).encode()]

    def read(self) -> None:
        (self._run.evaluation / self.path.name).write_bytes(self.path.read_bytes())
        [(name, evaluation)] = saved_evaluations(self._run.evaluation, self._run.model_sha256).items()
        assert _evaluation(self._run.evaluation, name, evaluation).startswith("## Scores on ")
