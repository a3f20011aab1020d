"""Configurations check themselves, and say what is wrong, where, and what is allowed."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from bytenet.config import (
    PATH_KEYS,
    Config,
    DataConfig,
    SemiSupervisedConfig,
    TrainingConfig,
    load_config,
    preset_names,
)
from bytenet.config.families import family_configs
from bytenet.config.families.attention import AttentionConfig
from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.errors import ConfigError, InputError, MissingFileError


@pytest.fixture
def yaml_file(tmp_path, monkeypatch):
    """A function that writes my.yaml into the working folder, and gives its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        Path("my.yaml").write_text(text, encoding="utf-8")
        return "my.yaml"

    return write


def test_the_presets_of_the_package():
    assert preset_names() == [
        "digits",
        "digits-attention",
        "digits-semi",
        "digits-semi-thesis",
        "digits-thesis",
        "europarl",
        "multi30k",
        "multi30k-semi",
        "newstest-memorise",
        "numbers",
    ]


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_valid_and_is_written_and_read_back(name, yaml_file):
    config = load_config(name)
    assert load_config(yaml_file(config.to_yaml())) == config
    assert config.data.corpus.partition("-")[0] == name.partition("-")[0]


def test_defaults_are_written_too():
    text = Config().to_yaml()
    for section in dataclasses.fields(Config):
        for key in dataclasses.fields(section.default_factory):
            assert f"  {key.name}:" in text


def test_the_thesis_preset_differs_from_digits_in_the_thesiss_choices_only():
    differences = {key: thesis for key, _, thesis in load_config("digits").differences(load_config("digits-thesis"))}
    assert differences == {
        "model.settings": "thesis",
        "model.dropout": 0.0,
        **{f"model.{key}": value for key, value in ByteNetConfig.THESIS.items() if key != "batch_norm_momentum"},
        "data.min_length": 0,
        "data.unknown": "drop",
        "data.bucketing": "histogram",
        "training.schedule": "constant",
        "training.loss": "sentence",
        "training.clip_norm": None,
        "evaluation.continuous_batch_size": 128,
        "evaluation.batch_norm_statistics": "batch",
        "decoding.length_penalty": 0.0,
    }


def test_the_preset_of_the_attention_baseline_differs_from_digits_in_the_thesiss_choices_only():
    digits, baseline = load_config("digits"), load_config("digits-attention")
    only_one_has = {
        f"model.{key}" for key in dataclasses.asdict(digits.model).keys() ^ dataclasses.asdict(baseline.model).keys()
    }
    differences = {key: here for key, _, here in digits.differences(baseline) if key not in only_one_has}
    assert differences == {
        "model.family": "attention",
        "model.variant": "bounded",
        "model.settings": "thesis",
        "model.dropout": 0.0,
        "model.mask_padding": False,
        "model.length_rule": "pair",
        "data.min_length": 0,
        "data.unknown": "drop",
        "data.bucketing": "histogram",
        "training.epochs": 1001,
        "training.learning_rate": 1e-4,
        "training.schedule": "constant",
        "training.beta_2": 0.99,
        "training.loss": "sentence",
        "training.clip_norm": None,
        "evaluation.continuous_batch_size": 128,
        "decoding.beam_size": 1,
        "decoding.length_penalty": 0.0,
    }


def test_each_family_has_variants_of_its_own():
    assert family_configs().keys() >= {"bytenet", "attention"}
    for family, config_class in family_configs().items():
        assert config_class().family == family
        for variant, values in config_class.VARIANTS.items():
            config = config_class(variant=variant)
            assert {key: getattr(config, key) for key in values} == values


def test_what_is_given_wins_over_the_thesis_which_wins_over_the_variant():
    config = ByteNetConfig(variant="simplified", settings="thesis", initializer="he", dim=None)
    assert (config.block_size, config.dim) == ("small", 200)
    assert (config.mask_padding, config.norm_epsilon, config.length_rule) == (False, 1e-8, "pair")
    assert config.initializer == "he"
    assert ByteNetConfig(variant="simplified", dim=8).dim == 8


def test_a_file_of_an_older_version_has_the_settings_of_all_families(yaml_file):
    older = "model: {family: attention, variant: null, dim: null, num_sets: null, join: concat, length_rule: null}\n"
    assert load_config(yaml_file(older)).model == AttentionConfig()
    thesis = "model: {family: bytenet, variant: simplified, settings: thesis, dim: 20, mask_padding: null}\n"
    assert load_config(yaml_file(thesis)).model == ByteNetConfig(variant="simplified", settings="thesis", dim=20)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.variant=dense"], "model.variant is 'dense', but should be one of bytenet, simplified, "),
        (
            ["model.family=attention", "model.variant=selu"],
            "model.variant is 'selu', but should be one of dense, bounded.",
        ),
        (
            ["model.family=attention", "model.num_sets=2"],
            "there is no setting 'model.num_sets'. Models of the family 'attention' have none; those of bytenet have.",
        ),
        (["model.num_layers=2"], "Models of the family 'bytenet' have none; those of attention have."),
        (["model.family=attention", "model.initializer=he"], "model.initializer is 'he', but should be 'auto' or "),
        (["model.family=lstm"], "model.family is 'lstm', but should be one of attention, bytenet."),
        (["model.decoder_normalization=batch"], "model.decoder_normalization is 'batch', but should be 'layer' or "),
    ],
)
def test_settings_of_another_family(overrides, message):
    with pytest.raises(ConfigError) as error:
        load_config("digits", overrides)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_overrides_win_over_the_file_which_wins_over_its_preset(yaml_file):
    name = yaml_file("preset: digits\nmodel:\n  dim: 8\ntraining:\n  epochs: 7\n")
    config = load_config(name, ["training.epochs=3", "training.epochs=5", "model.dilations=[1, 2]"])
    assert config.data == load_config("digits").data
    assert (config.model.dim, config.training.epochs, config.model.dilations) == (8, 5, (1, 2))


def test_a_preset_wins_over_a_file_of_its_name_but_a_path_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("digits").write_text("training: {epochs: 77}\n")
    assert load_config("digits").training.epochs != 77
    assert load_config("./digits").training.epochs == 77


def test_paths_are_made_absolute(yaml_file, tmp_path):
    name = yaml_file("data: {corpus: files, train_source: a.de, train_target: ~/a.en}\n")
    data = load_config(name).data
    assert data.train_source == str(tmp_path / "a.de")
    assert data.train_target == str(Path.home() / "a.en")


def test_path_keys_are_settings():
    keys = {f"data.{key.name}" for key in dataclasses.fields(DataConfig)}
    keys |= {f"semi_supervised.{key.name}" for key in dataclasses.fields(SemiSupervisedConfig)}
    assert set(PATH_KEYS) <= keys
    assert len(PATH_KEYS) == 10


def test_values_of_python_callers():
    config = ByteNetConfig(dilations=[1, 2, 4], dim=20)
    assert config.dilations == (1, 2, 4)
    assert dataclasses.replace(config, dim=8).dim == 8
    assert TrainingConfig(learning_rate=1).learning_rate == 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.dim = 9
    for wrong in ({"dim": True}, {"dim": "20"}, {"dim": 20.5}, {"dilations": ["1"]}, {"width": 20}):
        with pytest.raises(ValueError, match="1 validation error"):
            ByteNetConfig(**wrong)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.epoch=3", "there is no setting 'training.epoch'. Did you mean training.epochs?"),
        ("trainning.epochs=3", "there is no setting 'trainning.epochs'. Did you mean training.epochs?"),
        ("learning_rate=3", "Did you mean training.learning_rate?"),
        ("model.learning_rate=3", "Did you mean training.learning_rate?"),
        (
            "data.qqqqqqqqq=1",
            "there is no setting 'data.qqqqqqqqq'. The keys of data are: corpus, source_language,",
        ),
        ("zzzz=1", "The sections are: model, data, training, semi_supervised, evaluation, decoding."),
        ("training=3", "'training' is a section; give training.KEY=VALUE."),
        ("training.epochs=0", "training.epochs is 0, but should be greater than or equal to 1."),
        ("training.epochs=many", "training.epochs is 'many', but should be a valid integer."),
        ("training.epochs=", "training.epochs is None, but should be a valid integer."),
        ("model.dim=7", "model.dim is 7, but should be a multiple of 2."),
        ("model.encoder_kernel_size=4", "model.encoder_kernel_size is 4, but should be an odd number."),
        ("model.dilations=3", "model.dilations is 3, but should be a list, such as [1, 2]."),
        ("model.dilations=[1, 0]", "model.dilations is [1, 0], but should be greater than or equal to 1."),
        ("model.dilations=[]", "model.dilations is [], but should have at least one item."),
        ("training.loss=token", "training.loss is 'token', but should be 'character' or 'sentence'."),
        (
            "training.jit_compile=maybe",
            "training.jit_compile is 'maybe', but should be a valid boolean, or should be 'auto'.",
        ),
        ("training.learning_rate=.nan", "training.learning_rate is nan, but should be a finite number."),
        ("training.learning_rate=-1", "training.learning_rate is -1, but should be greater than 0."),
        ("training.final_learning_rate=1", "final_learning_rate 1.0 is more than learning_rate 0.001."),
        (
            "semi_supervised.objective=marginals",
            "semi_supervised.objective is 'marginals', but should be 'marginal' or 'back_translation'.",
        ),
        ("semi_supervised.source_weight=-0.1", "semi_supervised.source_weight is -0.1, but should be greater than or"),
        ("semi_supervised.beam_size=0", "semi_supervised.beam_size is 0, but should be greater than or equal to 1."),
        ("semi_supervised.trained=source", "but should be 'both', 'forward' or 'backward'."),
        ("semi_supervised.bucketing=fixed_width", "but should be 'optimal', 'histogram' or 'none'."),
        ("semi_supervised.lambda=0.1", "there is no setting 'semi_supervised.lambda'."),
        ("data.num_monolingual=0", "data.num_monolingual is 0, but should be greater than or equal to 1."),
        ("data.min_length=900", "min_length 900 is more than max_length 500."),
        ("data.corpus=files", "corpus: files needs train_source and train_target"),
        ("data.test_source=a", "test_source is only read with corpus: files, but corpus is 'digits'."),
        (
            "data.train_years=[1999]",
            "data.train_years is [1999], but should be greater than or equal to 2008.",
        ),
    ],
)
def test_wrong_settings(override, message):
    with pytest.raises(ConfigError) as error:
        load_config("digits", [override])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("trained", "frozen"), [("forward", "backward"), ("backward", "forward")])
def test_a_translator_that_is_not_trained_needs_a_start(trained, frozen, tmp_path):
    settings = ["semi_supervised.enabled=true", f"semi_supervised.trained={trained}"]
    for others in ([], [f"semi_supervised.start_{trained}=run"]):
        with pytest.raises(ConfigError, match=rf"trained: {trained} leaves the {frozen} translator .*start_{frozen}"):
            load_config("digits", [*settings, *others])
    config = load_config("digits", [*settings, f"semi_supervised.start_{frozen}={tmp_path / 'run'}"])
    assert config.semi_supervised.trained == trained
    # What a run does not use may stand in its configuration, as in that of a backward translator's folder.
    assert not load_config("digits", [f"semi_supervised.trained={trained}"]).semi_supervised.enabled


def test_the_semi_supervised_presets_differ_from_those_they_build_on_in_what_they_are_about():
    def differences(one, other):
        return {key: there for key, _, there in load_config(one).differences(load_config(other))}

    thesis = differences("digits-thesis", "digits-semi-thesis")
    assert thesis == {
        "data.batch_size": 8,
        "data.num_monolingual": 1024,
        "data.monolingual_seed": 13,
        "semi_supervised.enabled": True,
        "semi_supervised.source_weight": 0.2,
        "semi_supervised.target_weight": 0.0,
        "semi_supervised.batch_norm_statistics": "batch",
        "semi_supervised.bucketing": "histogram",
        "evaluation.continuous_every_seconds": None,
        "evaluation.every_epochs": 50,
        "evaluation.batch_norm_statistics": "moving",
    }
    ours = differences("digits", "digits-semi")
    assert ours["semi_supervised.enabled"]
    assert ours["data.num_monolingual"] == 1024
    assert ours["semi_supervised.target_weight"] == 0.0


def test_a_file_is_named_with_the_line_of_each_wrong_value(yaml_file):
    name = yaml_file("preset: digits\ntraining:\n  epochs: 0\n  seed: 1\n  loss: token\n")
    with pytest.raises(ConfigError) as error:
        load_config(name)
    first, second = str(error.value).splitlines()
    assert first.startswith("my.yaml:3: training.epochs is 0")
    assert second.startswith("my.yaml:5: training.loss is 'token'")


def test_one_side_of_a_pair_of_files(yaml_file):
    name = yaml_file("data: {corpus: files, train_source: a, train_target: b, test_source: c}\n")
    with pytest.raises(ConfigError, match="test_source is given without its other side"):
        load_config(name)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nombers", ConfigError, r"'nombers' is neither a preset nor a file\. Did you mean numbers\?"),
        ("qqqqq", ConfigError, r"The presets are digits, digits-attention, digits-semi, "),
        ("missing.yaml", MissingFileError, r"There is no configuration file missing\.yaml"),
        ("folder/missing", MissingFileError, r"There is no configuration file folder/missing"),
    ],
)
def test_names_that_are_nothing(name, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        load_config(name)


def test_a_file_with_an_unknown_preset(yaml_file):
    name = yaml_file("preset: multi3k\n")
    with pytest.raises(ConfigError, match=r"my\.yaml: 'multi3k' is neither .* Did you mean multi30k\?"):
        load_config(name)


def test_a_file_that_is_not_utf8(yaml_file):
    name = yaml_file("")
    Path(name).write_bytes(b"data: {corpus: \xff}\n")
    with pytest.raises(InputError, match=r"my\.yaml: not UTF-8 at byte 15"):
        load_config(name)


def test_reading_a_configuration_does_not_import_tensorflow():
    code = (
        "import sys; from bytenet.config import load_config; load_config('numbers');"
        "sys.exit(', '.join({'tensorflow', 'keras', 'numpy'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_another_variant_on_top_of_the_file_of_a_run(yaml_file):
    settings = ["model.dim=64", "model.norm_epsilon=0.001"]
    name = yaml_file(load_config("digits", settings).to_yaml())
    assert load_config(name) == load_config("digits", settings)
    for change in ("model.variant=simplified_selu", "model.settings=thesis", "model.variant=v2"):
        assert load_config(name, [change]) == load_config("digits", [*settings, change])
