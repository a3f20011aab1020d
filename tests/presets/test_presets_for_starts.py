"""A training that starts from a trained model has a preset for it."""

import pytest

from bytenet.config import load_config
from bytenet.datasets import Vocabulary
from bytenet.errors import ConfigError, MissingFileError
from bytenet.presets.by_size import load_sized_config
from bytenet.run_folder import RunFolder

from .own_files import FILES, LANGUAGES

pytestmark = pytest.mark.usefixtures("nine_thousand_pairs")


def test_the_preset_has_the_family_of_the_model_to_start_from():
    begun = load_config("pairs-2k-bahdanau", FILES)
    RunFolder.create("begun", begun, Vocabulary.from_texts(["ein Hund"]))
    config, choice, _ = load_sized_config(None, [*FILES, "training.start=begun"])
    assert choice == (
        "9,000 pairs: preset pairs-10k-bahdanau\nIts learning rate and its epochs are for random weights. A trained "
        "model usually needs less: try training.learning_rate=5e-4"
    )
    assert config == load_config("pairs-10k-bahdanau", [*FILES, "training.start=begun"])
    _, choice, _ = load_sized_config(None, [*FILES, "training.start=begun", "training.learning_rate=1e-4"])
    assert choice == "9,000 pairs: preset pairs-10k-bahdanau"
    with pytest.raises(ConfigError, match=r"training\.start is 5, but should be a valid string"):
        load_sized_config(None, [*FILES, "training.start=5"])
    with pytest.raises(MissingFileError, match="nowhere"):
        load_sized_config(None, [*FILES, "training.start=nowhere"])


def test_a_start_of_convs2s_has_a_preset_of_its_family():
    begun = load_config("pairs-2k-convs2s", FILES)
    RunFolder.create("begun", begun, Vocabulary.from_texts(["ein Hund"]))
    config, choice, _ = load_sized_config(None, [*FILES, "training.start=begun", "training.learning_rate=1e-4"])
    reason = "the model of training.start is of the family convs2s"
    assert choice == f"9,000 pairs: preset pairs-10k-convs2s (not pairs-10k-bahdanau, because {reason})"
    assert config.model.family == "convs2s"


def test_a_start_of_another_family_has_a_preset_for_trained_models():
    begun = load_config("multi30k-transformer", FILES)
    RunFolder.create("begun", begun, Vocabulary.from_texts(["ein Hund"]))
    for further in ([], ["data.max_length=1024"]):
        config, choice, _ = load_sized_config(None, [*FILES, "training.start=begun", *further])
        assert "preset pairs-10k-start (not pairs-10k-bahdanau, because the model of training.start is of" in choice
        assert config.training.learning_rate == load_config("pairs-10k-start", FILES).training.learning_rate
    _, choice, _ = load_sized_config(None, [*FILES, "training.start=null"])
    assert "preset pairs-10k-bahdanau" in choice


@pytest.mark.parametrize("size", ["2k", "10k", "30k", "150k"])
def test_presets_for_trained_models_learn_more_slowly(size):
    start, scratch = (load_config(f"pairs-{size}{kind}", FILES) for kind in ("-start", ""))
    different = {key for key, *_ in start.differences(scratch) if not key.startswith("evaluation.")}
    assert "training.learning_rate" in different
    assert different <= {"training.learning_rate", "training.epochs", "training.label_smoothing", "model.dropout"}
    assert start.training.learning_rate == load_config("pairs-2k-start", FILES).training.learning_rate
    assert start.training.learning_rate < scratch.training.learning_rate
    assert start.training.epochs < scratch.training.epochs or size == "150k"


def test_a_pretrained_model_of_the_languages_is_named_as_a_start():
    files = [*FILES, "data.source_language=de", "data.target_language=en"]
    few = [*files, "data.max_train_pairs=3000"]
    _, choice, expectation = load_sized_config(None, few)
    advice = "A pretrained model has these languages: to start from it, set training.start="
    assert choice == f"3,000 pairs: preset pairs-2k-bahdanau\n{advice}de-en (preset pairs-2k-start)"
    from_random_weights, from_start, _ = expectation.split("\n")
    assert from_random_weights.startswith(
        "On 3,000 captions, preset pairs-2k-bahdanau reached 23.4 BLEU (greedy, first 500 validation pairs) in 57 "
    )
    assert from_start.startswith(
        "On 3,000 captions, preset pairs-2k-start with training.start=de-en reached 24.5 BLEU (greedy, validation "
        "pairs) in 49 minutes on a core "
    )
    assert load_sized_config(None, [*few, "training.start=de-en"]).config == load_config(
        "pairs-2k-start", [*few, "training.start=de-en"]
    )
    for unmeasured, name in ((files, "de-en"), ([*few, "data.reversed=true"], "en-de")):
        _, choice, expectation = load_sized_config(None, unmeasured)
        assert f"\n{advice}{name} (preset pairs-" in choice
        assert "training.start" not in expectation


@pytest.mark.parametrize(
    "settings",
    [
        [], LANGUAGES, ["data.source_language=de"], ["data.source_language=de", "data.target_language=fr"],
        ["data.source_language=de", "data.target_language=en", "model.family=convs2s"],
        ["data.source_language=de", "data.target_language=en", "training.start=de-en"],
    ],
)  # fmt: skip
def test_no_pretrained_model_is_named_if_none_fits(settings):
    assert "training.start=" not in load_sized_config(None, [*FILES, *settings]).choice


def test_a_run_with_the_name_of_a_pretrained_model_comes_first():
    RunFolder.create("de-en", load_config("pairs-2k", FILES), Vocabulary.from_texts(["ein Hund"]))
    _, choice, _ = load_sized_config(None, [*FILES, "data.source_language=de", "data.target_language=en"])
    assert "training.start=" not in choice


def test_a_preset_for_trained_models_needs_one(caplog):
    load_sized_config("pairs-10k-start", [*FILES, *LANGUAGES, "training.start=de-en"])
    assert not caplog.messages
    load_sized_config("pairs-10k-start", [*FILES, *LANGUAGES])
    assert [message.partition(". ")[0] for message in caplog.messages] == [
        "The preset pairs-10k-start is for a model that is trained already, but training.start is not set"
    ]
