"""Errors say what is wrong, where, and what is allowed."""

from pathlib import Path

import pytest

from bytenet.config import load_config
from bytenet.config.families import family_configs
from bytenet.errors import ConfigError, InputError, MissingFileError


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.variant=dense"], "model.variant is 'dense', but should be one of bytenet, simplified, "),
        (
            ["model.family=recurrent", "model.variant=selu"],
            "model.variant is 'selu', but should be one of luong, bahdanau, cho, sutskever, madsen, madsen_bounded.",
        ),
        (
            ["model.family=recurrent", "model.num_sets=2"],
            "no setting 'model.num_sets'. Models of the family 'recurrent' do not have it; those of bytenet have.",
        ),
        (["model.readout_dim=2"], "Models of the family 'bytenet' do not have it; those of recurrent have."),
        (
            ["model.family=transformer", "model.attention_heads=4"],  # the default of ByteNet
            "no setting 'model.attention_heads'. Models of the family 'transformer' do not have it; those of bytenet",
        ),
        (["model.family=recurrent", "model.initializer=he"], "model.initializer is 'he', but should be 'auto', 'ortho"),
        (["model.family=lstm"], f"model.family is 'lstm', but should be one of {', '.join(family_configs())}."),
        (
            ["model.source_attention=full", "model.attention_blocks=[3, 99]"],
            "attention_blocks [3, 99] should be different numbers from 1 to 15, in ascending order",
        ),
        (
            ["model.source_attention=window", "model.attention_heads=3"],
            "dim 20 cannot be divided into 3 heads; change dim or attention_heads",
        ),
        (["model.decoder_normalization=batch"], "model.decoder_normalization is 'batch', but should be 'layer' or "),
    ],
)
def test_settings_that_do_not_fit_the_family_are_refused(overrides, message):
    with pytest.raises(ConfigError) as error:
        load_config("digits", overrides)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


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
        ("training=3", "'training' is a section; expected values of its keys, such as training.start."),
        ("training.epochs=0", "training.epochs is 0, but should be greater than or equal to 1."),
        ("training.epochs=many", "training.epochs is 'many', but should be a valid integer."),
        ("training.epochs=", "training.epochs is None, but should be a valid integer."),
        ("model.dim=7", "model.dim is 7, but should be a multiple of 2."),
        ("model.encoder_kernel_size=4", "model.encoder_kernel_size is 4, but should be an odd number."),
        ("model.dilations=3", "model.dilations is 3, but should be a list, such as [1, 2]."),
        ("training.devices=GPU:0", "training.devices is 'GPU:0', but should be a list, such as [GPU:0, GPU:1]."),
        ("data.train_years=2013", "data.train_years is 2013, but should be a list, such as [2013, 2014]."),
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
            "training.schedule=noam",
            "but should be 'constant', 'cosine', 'inverse_sqrt', 'linear', 'plateau' or 'step'.",
        ),
        ("training.decay_factor=1.0", "training.decay_factor is 1.0, but should be less than 1."),
        ("training.decay_every_epochs=0", "training.decay_every_epochs is 0, but should be greater than 0."),
        ("training.plateau_rule=slow", "training.plateau_rule is 'slow', but should be 'best' or 'fast'."),
        ("training.plateau_patience=0", "training.plateau_patience is 0, but should be greater than or equal to 1."),
        (
            "training.accumulate_batches=0",
            "training.accumulate_batches is 0, but should be greater than or equal to 1.",
        ),
        (
            "training.min_learning_rate=1e-4",
            "min_learning_rate is only for schedule: plateau, but schedule is 'cosine'; set min_learning_rate to null",
        ),
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
        (
            "data.test_source=a",
            "test_source needs corpus: files or shards, but corpus is 'digits'. Set data.corpus to files or shards, or "
            "leave out test_source.",
        ),
        ("data.train_shards=a", "but corpus is 'digits'. Set data.corpus to shards, or leave out train_shards."),
        ("data.synthetic_source=a", "synthetic_source and synthetic_target belong together; give both or neither."),
        ("data.synthetic_tag=ab", "data.synthetic_tag is 'ab', but should be one character."),
        (
            "data.train_years=[1999]",
            "data.train_years is [1999], but should be greater than or equal to 2008.",
        ),
    ],
)
def test_wrong_setting_gives_a_one_line_error(override, message):
    with pytest.raises(ConfigError) as error:
        load_config("digits", [override])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["min_learning_rate=0.3", "learning_rate=0.25"], "min_learning_rate 0.3 is more than learning_rate 0.25."),
        (["min_learning_rate=1e-4", "final_learning_rate=1e-4"], "min_learning_rate 0.0001 would never end the run"),
    ],
)
def test_least_rate_of_a_plateau_must_be_reached(overrides, message):
    settings = ["training.schedule=plateau", *(f"training.{override}" for override in overrides)]
    with pytest.raises(ConfigError) as error:
        load_config("digits", settings)
    assert message in str(error.value)
    assert load_config("digits", [*settings, "training.min_learning_rate=1e-3"]).training.min_learning_rate == 1e-3


@pytest.mark.parametrize(("trained", "frozen"), [("forward", "backward"), ("backward", "forward")])
def test_frozen_translator_needs_a_start(trained, frozen, tmp_path):
    settings = ["semi_supervised.enabled=true", f"semi_supervised.trained={trained}"]
    for others in ([], [f"semi_supervised.start_{trained}=run"]):
        with pytest.raises(ConfigError, match=rf"trained: {trained} leaves the {frozen} translator .*start_{frozen}"):
            load_config("digits", [*settings, *others])
    config = load_config("digits", [*settings, f"semi_supervised.start_{frozen}={tmp_path / 'run'}"])
    assert config.semi_supervised.trained == trained
    # A configuration may have settings that its run does not use, such as in a backward translator's folder.
    assert not load_config("digits", [f"semi_supervised.trained={trained}"]).semi_supervised.enabled


def test_synthetic_pairs_are_refused_beside_shards():
    synthetic = ["data.synthetic_source=a", "data.synthetic_target=b"]
    shards = ["data.corpus=shards", "data.train_shards=folder"]
    with pytest.raises(ConfigError, match=r"synthetic_source is '.*a', but with corpus: shards it must be null"):
        load_config("multi30k", [*shards, *synthetic])
    with pytest.raises(ConfigError, match="pair_copies is 2, but with corpus: shards it must be 1"):
        load_config("multi30k", [*shards, "data.pair_copies=2"])


def test_error_names_the_file_and_line_of_each_wrong_value(yaml_file):
    name = yaml_file("preset: digits\ntraining:\n  epochs: 0\n  seed: 1\n  loss: token\n")
    with pytest.raises(ConfigError) as error:
        load_config(name)
    first, second = str(error.value).splitlines()
    assert first.startswith("my.yaml:3: training.epochs is 0")
    assert second.startswith("my.yaml:5: training.loss is 'token'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs: 5\n", r"my\.yaml:1: there is no setting 'epochs'\. Did you mean training\.epochs\?"),
        ("dilations: [1, 2]\n", r"Did you mean model\.dilations\?"),
        ("training: 5\n", r"my\.yaml:1: 'training' is a section; expected values of its keys, such as"),
    ],
)
def test_setting_outside_a_section_gets_a_hint(yaml_file, text, message):
    with pytest.raises(ConfigError, match=message):
        load_config(yaml_file(text))


def test_file_without_its_other_side_is_refused(yaml_file):
    name = yaml_file("data: {corpus: files, train_source: a, train_target: b, test_source: c}\n")
    with pytest.raises(ConfigError, match="test_source is given without its other side"):
        load_config(name)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nombers", ConfigError, r"'nombers' is neither a preset nor a file\. Did you mean numbers\?"),
        (
            "qqqqq",
            ConfigError,
            r"Give the path of a YAML file, or one of the presets digits, digits-attention, digits-semi, ",
        ),
        ("missing.yaml", MissingFileError, r"There is no configuration file missing\.yaml"),
        ("folder/missing", MissingFileError, r"There is no configuration file folder/missing"),
        ("runs", ConfigError, r"runs is a folder; .* The settings of a run are in its config\.yaml"),
    ],
)
def test_unknown_preset_or_file_is_refused(name, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    with pytest.raises(error, match=message):
        load_config(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("multi30k-atention", "'multi30k-atention' is neither a preset nor a file. Did you mean multi30k-attention?"),
        ("my.yml", "There is no configuration file my.yml. Did you mean my.yaml?"),
        ("runs/mmy.yaml", "There is no configuration file runs/mmy.yaml. Did you mean runs/my.yaml?"),
        ("multi30k.yaml", "There is no configuration file multi30k.yaml. Did you mean multi30k?"),
    ],
)
def test_a_similar_name_is_suggested_instead_of_all_names(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for file in ("my.yaml", "runs/my.yaml"):
        Path(file).touch()
    with pytest.raises(ConfigError if name == "multi30k-atention" else MissingFileError) as raised:
        load_config(name)
    assert str(raised.value) == message


def test_file_with_an_unknown_preset_is_refused(yaml_file):
    name = yaml_file("preset: multi3k\n")
    with pytest.raises(ConfigError, match=r"my\.yaml: 'multi3k' is neither .* Did you mean multi30k\?"):
        load_config(name)


def test_file_that_is_not_utf8_is_refused(yaml_file):
    name = yaml_file("")
    Path(name).write_bytes(b"data: {corpus: \xff}\n")
    with pytest.raises(InputError, match=r"my\.yaml: not UTF-8 at byte 15"):
        load_config(name)
