"""A corpus of files with an example of everything in the report."""

from dataclasses import replace

import pytest

from bytenet.config import DataConfig

GERMAN = ["Ein Haus steht da.", "", "gleich", "@@", "Ja\u00a0und[red]", "Zu lang" * 20, "u\u0308ber\u0007"]
ENGLISH = [
    "A house is there.",
    "nothing",
    "gleich",
    "This is a long sentence.",
    "Yes, and",
    "Too long" * 20,
    "over",
]


@pytest.fixture
def config(data_folder):
    """A configuration of files with an example of everything suspicious."""
    paths = {
        "train_source": data_folder("train.de", GERMAN),
        "train_target": data_folder("train.en", ENGLISH),
        "test_source": data_folder("test.de", ["Ein Haß", "Ein Haus"]),
        "test_target": data_folder("test.en", ["A ha\u2028te", "A house"]),
    }
    return DataConfig(corpus="files", max_length=50, batch_size=2, **{key: str(path) for key, path in paths.items()})


@pytest.fixture
def monolingual_config(config, data_folder):
    """Also with German text: three usable sentences, one in the test set; one too long; one with an odd character."""
    more = data_folder("more.de", ["Ein Haus", "Haus", "a" * 51, "\u732b", "da u\u0308ber"])
    return replace(config, monolingual_source=str(more))


@pytest.fixture
def config_file(config, tmp_path):
    path = tmp_path / "run.yaml"
    lines = [
        f"  {key}: {value}" for key, value in vars(config).items() if key.endswith(("_source", "_target")) and value
    ]
    path.write_text("\n".join(["data:", "  corpus: files", "  max_length: 50", "  batch_size: 2", *lines]) + "\n")
    return str(path)


@pytest.fixture
def suspicious_texts() -> tuple[list[str], list[str]]:
    """The training texts of `config`: sources and targets."""
    return GERMAN, ENGLISH
