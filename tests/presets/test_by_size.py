"""A preset is chosen by the number of pairs, for files that leave the model open."""

from dataclasses import replace
from pathlib import Path

import pytest

from bytenet.config import load_config
from bytenet.datasets.loading import load_corpus
from bytenet.errors import ConfigError
from bytenet.presets.by_size import load_sized_config
from bytenet.presets.corpus_size import number_of_pairs
from bytenet.presets.expectations import MeasuredTraining, ReachedScores

from .own_files import CORPUS, FILES, LANGUAGES

pytestmark = pytest.mark.usefixtures("nine_thousand_pairs")


@pytest.mark.parametrize(
    ("pairs", "preset"),
    [
        (0, "pairs-2k"), (2_000, "pairs-2k"), (4_400, "pairs-2k"), (4_500, "pairs-10k"), (17_000, "pairs-10k"),
        (17_500, "pairs-30k"), (67_000, "pairs-30k"), (67_200, "pairs-150k"), (10**7, "pairs-150k"),
    ],
)  # fmt: skip
def test_the_preset_of_the_nearest_size_by_ratio_is_chosen(pairs, preset, monkeypatch):
    monkeypatch.setattr("bytenet.presets.by_size.number_of_pairs", lambda data: pairs)
    for settings, family in (
        ([], "-bahdanau"), (["model.family=convs2s"], "-convs2s"), (["model.num_sets=2"], ""),
        (["training.start=de-en"], "-start"),
    ):  # fmt: skip
        config, choice, _ = load_sized_config(None, [*FILES, *settings])
        assert f"{pairs:,} pairs: preset {preset}{family}" in choice
        assert config == load_config(preset + family, [*FILES, *settings])


@pytest.mark.parametrize(
    "settings",
    [
        ["model.dim=96"], ["model.score=general"], ["model.family=recurrent"],
        ["model.family=recurrent", "model.variant=cho"], ["data.max_length=1024"],
    ],
)  # fmt: skip
def test_the_preset_has_bahdanaus_model_if_the_settings_allow_it(settings):
    config, choice, _ = load_sized_config(None, [*FILES, *settings])
    assert choice == "9,000 pairs: preset pairs-10k-bahdanau"
    assert config == load_config("pairs-10k-bahdanau", [*FILES, *settings])


@pytest.mark.parametrize(
    "settings",
    [
        ["model.attention_layers=[5, 6]"], ["model.family=convs2s"], ["model.family=convs2s", "model.variant=small"],
        ["model.encoder_widths=[96]", "model.encoder_kernel_sizes=[3]", "data.max_length=1023"],
        ["model.family=convs2s", "data.max_length=1024", "model.max_positions=1025"],
        ["model.attention_layers=[5, 6]", "data.max_length=2000"],
    ],
)  # fmt: skip
def test_the_preset_has_a_convs2s_if_a_setting_needs_one(settings):
    config, choice, _ = load_sized_config(None, [*FILES, *settings])
    named = settings[0].partition("=")[0]
    assert choice == f"9,000 pairs: preset pairs-10k-convs2s (not pairs-10k-bahdanau, because {named} is set)"
    assert config == load_config("pairs-10k-convs2s", [*FILES, *settings])


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (["model.variant=selu"], "model.variant"), (["model.family=bytenet"], "model.family"),
        (["model.num_sets=2"], "model.num_sets"), (["model.settings=default"], "model.settings"),
        (["model.attention_heads=1"], "model.attention_heads"), (["model.family=transformer"], "model.family"),
    ],
)  # fmt: skip
def test_the_preset_has_a_bytenet_if_a_setting_needs_one(settings, named):
    config, choice, _ = load_sized_config(None, [*FILES, *settings])
    assert choice == f"9,000 pairs: preset pairs-10k (not pairs-10k-bahdanau, because {named} is set)"
    assert config == load_config("pairs-10k", [*FILES, *settings])


def test_pairs_are_counted_before_the_limits_on_length():
    files = [*FILES, "data.max_length=2"]
    assert number_of_pairs(load_config(None, files).data) == 9000
    few = [*files, "data.max_train_pairs=3"]
    assert number_of_pairs(load_config(None, few).data) == 3
    synthetic = [f"data.synthetic_{setting.partition('train_')[2]}" for setting in files if "train_" in setting]
    assert number_of_pairs(load_config(None, [*few, *synthetic]).data) == 3 + 9000


def test_a_file_without_preset_and_model_lies_on_the_chosen_preset(monkeypatch):
    monkeypatch.setattr("bytenet.presets.expectations.measured", lambda preset: None)
    Path("my.yaml").write_text(f"{CORPUS}training: {{epochs: 3}}\n")
    config, choice, expectation = load_sized_config("my.yaml", ["model.dropout=0.5"])
    assert (choice, expectation) == ("9,000 pairs: preset pairs-10k-bahdanau", None)
    preset = load_config("pairs-10k-bahdanau", FILES)
    assert config.differences(preset) == [("model.dropout", 0.5, 0.2), ("training.epochs", 3, 8)]


def test_settings_are_checked_together_with_those_of_the_chosen_preset():
    few = [*FILES, "data.max_train_pairs=2000"]
    config, *_ = load_sized_config(None, [*few, "model.source_attention=window", "model.attention_heads=6"])
    assert config.model.dim == 96  # the default, 128, cannot be divided into 6 heads
    with pytest.raises(ConfigError, match="attention_heads"):
        load_sized_config(None, [*few, "model.source_attention=window", "model.attention_heads=7"])


def test_a_wrong_setting_is_refused_before_the_pairs_are_counted(monkeypatch):
    monkeypatch.setattr("bytenet.presets.by_size.number_of_pairs", lambda data: pytest.fail("they are counted"))
    with pytest.raises(ConfigError, match=r"training\.epochs"):
        load_sized_config(None, [*FILES, "training.epochs=0"])


def test_what_the_chosen_preset_reached_is_said(monkeypatch):
    figures = MeasuredTraining(
        "a machine", "0123456", "greedy", (ReachedScores(10, 5.5, 20.0), ReachedScores(20, 7.25, 25.0))
    )
    monkeypatch.setattr("bytenet.presets.expectations.measured", lambda preset: figures)
    _, choice, expectation = load_sized_config(None, FILES)
    assert choice == "9,000 pairs: preset pairs-10k-bahdanau"
    assert expectation == (
        "On the corpus of the preset, preset pairs-10k-bahdanau reached 7.2 BLEU (greedy, validation pairs) in 20 "
        "minutes on a machine.\nOther text has other scores."
    )
    from_start = [*FILES, "training.start=de-en"]
    _, choice, expectation = load_sized_config(None, from_start)
    assert choice == (
        "9,000 pairs: preset pairs-10k-start (not pairs-10k-bahdanau, because the model of training.start is of the "
        "family bytenet)"
    )
    assert expectation is None
    of_start = replace(figures, start="de-en", trained_on="3,000 captions")
    monkeypatch.setattr("bytenet.presets.expectations.measured", lambda preset: of_start)
    expectation = load_sized_config(None, from_start).expectation
    assert expectation.startswith("On 3,000 captions, preset pairs-10k-start with training.start=de-en reached 7.2 ")
    assert load_sized_config(None, FILES).expectation is None


def test_a_corpus_much_smaller_than_those_of_the_preset_gets_advice():
    few = [*FILES, "data.max_train_pairs=300"]
    _, choice, _ = load_sized_config(None, few)
    assert choice.splitlines() == [
        "300 pairs: preset pairs-2k-bahdanau",
        "Few pairs: set training.epochs=160 for as many steps as with 2,000 pairs",
    ]
    for others in (["training.epochs=9"], ["data.max_train_pairs=1500"], ["training.start=de-en"]):
        _, choice, _ = load_sized_config(None, [*few, *others])
        assert "Few pairs" not in choice


def test_overrides_may_change_the_model_of_the_chosen_preset():
    Path("my.yaml").write_text(CORPUS)
    config, choice, _ = load_sized_config("my.yaml", ["model.dim=64"])
    assert "pairs-10k-bahdanau" in choice
    assert (config.model.dim, config.model.decoder) == (64, "bahdanau")
    config, *_ = load_sized_config("my.yaml", ["model.family=transformer"])
    assert (config.model.family, config.model.dropout) == ("transformer", 0.25)


def test_overrides_alone_may_name_a_corpus():
    config, choice, _ = load_sized_config(None, FILES)
    assert "pairs-10k-bahdanau" in choice
    assert config == load_config("pairs-10k-bahdanau", FILES)


@pytest.mark.parametrize(
    ("text", "overrides"),
    [
        (CORPUS, ["semi_supervised.enabled=true"]), (f"{CORPUS}model: {{dim: 64}}\n", ["semi_supervised.enabled=true"]),
    ],
)  # fmt: skip
def test_semi_supervised_settings_say_why_no_preset_is_chosen(text, overrides):
    Path("my.yaml").write_text(text)
    config, choice, _ = load_sized_config("my.yaml", overrides)
    assert config == load_config("my.yaml", overrides)
    assert choice.startswith("No preset is chosen, because settings of semi_supervised are named")
    assert load_sized_config("my.yaml", [*overrides, "training.epochs=3"]).choice is None


def test_a_file_with_a_preset_keeps_its_meaning():
    Path("my.yaml").write_text(f"preset: numbers\n{CORPUS}model: {{dim: 64}}\n")
    for overrides in ([], ["semi_supervised.enabled=true"]):
        assert load_sized_config("my.yaml", overrides) == (load_config("my.yaml", overrides), None, None)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("dim: 64", "model.dim"), ("family: transformer", "model.family"), ("settings: thesis", "model.settings"),
        ("variant: selu, dim: 64", "model.variant and model.dim"),
    ],
)  # fmt: skip
def test_a_file_with_a_size_says_why_no_preset_is_chosen(model, named):
    Path("my.yaml").write_text(f"{CORPUS}model: {{{model}}}\n")
    config, choice, _ = load_sized_config("my.yaml")
    assert config == load_config("my.yaml")
    assert choice.startswith(f"No preset is chosen, because my.yaml sets {named}; other settings have their defaults.")
    assert load_sized_config("my.yaml", run_config="my.yaml").choice is None


@pytest.mark.parametrize("text", ["", "training: {epochs: 3}\n"])
def test_a_file_without_a_corpus_says_which_one_is_used(text):
    Path("my.yaml").write_text(text)
    config, choice, _ = load_sized_config("my.yaml")
    assert config == load_config("my.yaml")
    assert choice == "No corpus is named (data.corpus), so the demo corpus numbers is used."
    assert load_sized_config("my.yaml", run_config="my.yaml").choice is None
    assert load_sized_config(None).choice is None


def test_warnings_about_a_corpus_are_left_to_the_command(caplog):
    Path("de").write_bytes(b"ein Hund\r\n" * 9000)
    load_sized_config(None, [*FILES, *LANGUAGES])
    assert not caplog.messages
    load_corpus(load_config(None, FILES).data)
    assert "de has Windows line ends" in caplog.text


@pytest.mark.parametrize(
    ("given", "counted"), [([], "de and en"), (LANGUAGES[:1], "fr and en"), (["data.target_language=ru"], "de and ru")]
)
def test_files_without_both_languages_are_warned_of_once(given, counted, caplog):
    load_sized_config(None, [*FILES, *given])
    load_sized_config("pairs-10k", [*FILES, *given])
    assert [message.partition(". ")[0] for message in caplog.messages] == [
        f"data.source_language and data.target_language are not both set, so the texts count as {counted}"
    ] * 2


def test_known_languages_are_not_warned_of(caplog):
    Path("my.yaml").write_text(CORPUS)
    load_sized_config("my.yaml", LANGUAGES)
    load_sized_config("multi30k", FILES)  # the preset names them
    load_sized_config("digits")
    Path("config.yaml").write_text(load_config("my.yaml").to_yaml())
    load_sized_config("my.yaml", run_config="config.yaml")
    assert not caplog.messages


def test_the_configuration_of_a_run_and_presets_keep_their_meaning():
    config = load_config("multi30k")
    Path("config.yaml").write_text(config.to_yaml())
    assert load_sized_config("config.yaml") == (config, None, None)
    assert load_sized_config("multi30k") == (config, None, None)


def test_a_run_that_goes_on_keeps_its_settings():
    Path("my.yaml").write_text(CORPUS)
    begun = load_config("my.yaml", ["model.dim=24", "training.epochs=7"])
    Path("config.yaml").write_text(begun.to_yaml())
    config, choice, _ = load_sized_config("my.yaml", ["training.epochs=8"], run_config="config.yaml")
    assert choice is None
    assert config.differences(begun) == [("training.epochs", 8, 7)]


@pytest.mark.parametrize("size", ["2k", "10k", "30k", "150k"])
def test_the_presets_of_one_size_differ_in_few_settings_of_data_and_training(size):
    bytenet, convs2s, bahdanau = (load_config(f"pairs-{size}{kind}", FILES) for kind in ("", "-convs2s", "-bahdanau"))

    def differences(config):
        return {key for key, *_ in config.differences(bytenet) if not key.startswith(("model.", "evaluation."))}

    assert differences(convs2s) <= {"data.batch_chars", "training.epochs"}
    assert differences(bahdanau) <= {
        "data.batch_chars", "training.epochs", "training.label_smoothing", "training.early_stopping_metric",
    }  # fmt: skip
