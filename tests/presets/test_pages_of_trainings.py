"""The figures beside presets are those of their pages, whose trainings had the settings of the presets."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from bytenet.config import Config, ConfigSources, load_config
from bytenet.config.preset_files import measured_files
from bytenet.presets.expectations import measured
from tests.test_results_tables import rows_of_first_table

DOCS = Path(__file__).parents[2] / "docs"
_PAGE = re.compile(r"# From docs/(results/.+\.md)\.\n")
PAGES = {
    name: (DOCS / match[1]).read_text(encoding="utf-8")
    for name, file in sorted(measured_files().items())
    if (match := _PAGE.match(file.read_text("utf-8")))
}
# Which pairs a training had, and what it began with.
_OF_THE_TRAINING = {
    "data.corpus", "data.source_language", "data.target_language", "data.max_train_pairs", "data.train_source",
    "data.train_target", "training.start", "training.seed",
}  # fmt: skip
# For a recurrent model, they change only the search: how long a translation may become, and the beam. The measured
# scores are greedy.
_OF_THE_SEARCH = {"model.unfold_scale", "model.unfold_offset", "decoding.beam_size"}
_FILES = ["data.train_source=de", "data.train_target=en"]


def config_of_page(preset: str, folder: Path) -> Config:
    """The configuration of the first command of a page. If the command names no preset, the program chose `preset`."""
    command = re.search(r"^\| command \| `bytenet train (.+?)`", PAGES[preset], re.MULTILINE)[1]
    words = shlex.split(command)
    overrides = [value for option, value in pairwise(words) if option == "--set"]
    named = None if words[0].startswith("--") else words[0]
    if named == "captions.yaml":
        guide = (DOCS / "semi-supervised-results.md").read_text(encoding="utf-8")
        named = folder / named
        named.write_text(guide.partition("With `captions.yaml`:\n\n```yaml\n")[2].partition("```")[0])
    return ConfigSources.read(named, overrides).config(preset)


def test_all_figures_but_those_of_a_page_that_was_replaced_name_their_page():
    assert measured_files().keys() - PAGES.keys() == {"tatoeba-de-en"}


@pytest.mark.parametrize("preset", PAGES)
def test_the_training_of_a_page_had_the_settings_of_the_preset(preset, tmp_path):
    config = load_config(preset, _FILES if preset.startswith("pairs-") else [])
    differences = config_of_page(preset, tmp_path).differences(config)
    may_differ = _OF_THE_TRAINING | (_OF_THE_SEARCH if config.model.family == "recurrent" else set())
    assert [difference for difference in differences if difference[0] not in may_differ] == []


@pytest.mark.parametrize("preset", PAGES)
def test_figures_are_those_of_the_page(preset):
    page, figures = PAGES[preset], measured(preset)
    epochs = rows_of_first_table(page[page.index("\nEpoch by epoch") :])
    scores = {
        round(int(row["seconds"].replace(",", "")) / 60): (float(row["val_bleu"]), float(row["val_chrf"]))
        for row in epochs
        if row["val_bleu"]
    }
    assert {row.minutes: (row.bleu, row.chrf) for row in figures.reached}.items() <= scores.items()
    assert figures.reached[-1].minutes == max(scores)
    assert f"; commit {figures.commit}" in page
    limit = load_config(preset, _FILES if preset.startswith("pairs-") else []).evaluation.max_sentences
    assert figures.measured_on == ("validation pairs" if limit is None else f"first {limit} validation pairs")
