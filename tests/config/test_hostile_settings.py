"""Settings that are made to do harm, or are damaged, end in a ConfigError of a few words."""

import pytest

from bytenet.config import load_config
from bytenet.errors import MOST_MESSAGE_CHARS, ConfigError, InputError

_ALIASES = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: " + "[" * 5000, "my.yaml:1: this is not valid YAML: values are nested deeper than 20 levels."),
        ("model: " + "{a: " * 5000, "nested deeper than 20 levels"),
        ("model: {dim: &a [*a]}", "more than 10,000 values. Does an alias"),
        (_ALIASES, "more than 10,000 values. Does an alias"),
        ("model: {dim: [" + "1," * 11_000 + "]}", "more than 10,000 values"),
        ("x: " + "y" * 70_000, "is larger than 65,536 bytes"),
        ("model: {dim: !!bool x}", "my.yaml:1: a value does not fit its type (KeyError('x'))."),
        ("model: {dim: !!float x}", "could not convert string to float: 'x'."),
        ("model: {dim: !!timestamp x}", "could not determine a constructor for the tag 'tag:yaml.org,2002:timestamp'"),
        ("model: {dim: !!binary aGk=}", "could not determine a constructor"),
        ("model: {dim: !!python/object/apply:os.system [x]}", "could not determine a constructor"),
        ('data: {corpus: files, train_source: "a\\0b", train_target: a}', "my.yaml:1: 'a\\x00b' has a NUL"),
        ('data: {corpus: "\\ud800"}', "half a surrogate pair"),
        ("model: {variant: [a]}", "variant is ['a'], but should be a valid string."),
        ("model: {family: [a]}", "model.family is ['a'], but should be one of bytenet"),
        ("model: {family: attention, variant: [a]}", "should be a valid string."),
        ("model: {num_sets: 1000000000}", "model.num_sets is 1000000000, but should be less than or equal to 1000."),
        ("training: {epochs: " + "9" * 300 + "}", "but should be less than or equal to 4294967295."),
        ("model: {? [a, b] : c}", "there is no setting"),
    ],
)
def test_the_message_says_what_is_wrong(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(text)
    with pytest.raises(InputError) as error:
        load_config("my.yaml")
    assert message in str(error.value)
    assert len(str(error.value)) <= MOST_MESSAGE_CHARS


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "x" * 5000 + "/a.yaml"])
def test_impossible_names_are_refused(name):
    with pytest.raises(ConfigError) as error:
        load_config(name)
    assert len(str(error.value)) <= MOST_MESSAGE_CHARS


def test_a_long_override_is_shown_in_part():
    with pytest.raises(ConfigError, match=r"--set training\.loss=x+ \[\.\.\. 60,014 characters") as error:
        load_config("digits", ["training.loss=" + "x" * 60_000])
    assert "should be 'character' or 'sentence'" in str(error.value)


def test_an_alias_is_a_value_like_others(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text("model: {dilations: &taps [1, 2], num_sets: 1, dim: 8}\ndata: {corpus: numbers}\n")
    assert load_config(path).model.dilations == (1, 2)


@pytest.mark.parametrize(
    ("text", "overrides", "dim"),
    [
        ("data: {corpus: numbers}", [], 128),
        ("model: {dim: 64}", [], 64),
        ("model: {variant: v2}", [], 800),
        ("model: {settings: thesis}", [], 400),
        ("preset: europarl", [], 400),
        ("{}", ["model.dim=32"], 32),
        ("{}", ["model.variant=simplified"], 200),
        ("{}", ["model.family=recurrent"], 256),
    ],
)
def test_a_file_that_says_nothing_of_size_gets_a_model_for_two_cores(text, overrides, dim, tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text(text)
    config = load_config(path, overrides)
    assert config.model.dim == dim
    path.write_text(config.to_yaml())
    assert load_config(path) == config
