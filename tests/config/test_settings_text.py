"""Settings are read by the rules of YAML 1.2. Written settings are read back unchanged."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bytenet.config.settings_text import Setting, parse_override, read_settings, write_settings
from bytenet.errors import ConfigError

PLAIN_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8")),
    st.sampled_from(["no", "on", "1e-3", "1:30", "010", "0x10", "1_000", "null", "~", "true", "2015-01-01", "=", ".5"]),
)
VALUES = st.one_of(PLAIN_VALUES, st.lists(PLAIN_VALUES, max_size=3))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("1e-3", 0.001),
        ("3.0e-4", 0.0003),
        ("5", 5),
        ("-5", -5),
        ("010", 10),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2015-01-01", "2015-01-01"),
        ("0x1f", "0x1f"),
        ("'5'", "5"),
        ("null", None),
        ("", None),
        ("[1, 2, 4]", [1, 2, 4]),
        ("a/path=with.equals", "a/path=with.equals"),
    ],
)
def test_command_line_values_are_parsed_to_the_right_types(text, value):
    setting = parse_override(f"data.key={text}")
    assert setting == Setting("data.key", value, f"--set data.key={text}")
    assert type(setting.value) is type(value)


@example({"one": "\x85"})
@example({"one": "a\u2028b \ufeff"})
@given(st.dictionaries(st.sampled_from(["one", "two"]), VALUES))
def test_written_settings_are_read_back_unchanged(values):
    preset, settings = read_settings(write_settings({"data": values}), "file.yaml")
    assert preset is None
    assert {setting.key: setting.value for setting in settings} == {f"data.{k}": v for k, v in values.items()}
    for setting in settings:
        assert type(setting.value) is type(values[setting.key.removeprefix("data.")])


def test_settings_from_a_file_have_their_file_and_line():
    text = "# remark\npreset: numbers\nmodel:\n  dim: 8\n\ndata:\ntraining:\n  seed: 3\n"
    assert read_settings(text, "my.yaml") == (
        "numbers",
        [Setting("model.dim", 8, "my.yaml:4"), Setting("training.seed", 3, "my.yaml:8")],
    )


@pytest.mark.parametrize("text", ["", "# only a remark\n", "preset:\n", "preset: null\n", "preset: ''\n"])
def test_an_empty_file_sets_nothing(text):
    assert read_settings(text, "my.yaml") == (None, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model:\n  dim: 8\n  dim: 9\n", r"my\.yaml:3: 'dim' is given twice"),
        ("model: {dim: 8}\nmodel: {dim: 9}\n", r"my\.yaml:2: 'model' is given twice"),
        ("training:\n  optimizer_arguments: {\n    a: 1,\n    a: 2}\n", r"my\.yaml:4: 'a' is given twice"),
        (
            "training.epochs: 5\n",
            r"'training\.epochs' is no section\. Write `training:`, and below it the indented line",
        ),
        ("preset: [numbers]\n", r"my\.yaml:1: preset is \['numbers'\]; expected the name of a preset\."),
        ("- model\n", r"my\.yaml:1: expected a configuration as lines of `key: value`, but found a list\."),
        ("model:\n  dim: [8\n", r"my\.yaml:3: this is not valid YAML"),
        ("model:\n\tdim: 8\n", r"my\.yaml:2: this is not valid YAML"),
        ("model:\n  dim: \x00\n", r"my\.yaml: this is not valid YAML: special characters are not allowed"),
        ("model:\n  dim: !!python/object:os.system x\n", r"my\.yaml:2: could not determine a constructor"),
        ("model:\n  dim: " + "9" * 5000, r"my\.yaml:2: Exceeds the limit"),
        ("model: {}\n---\nmodel: {}\n", r"my\.yaml:2: this is not valid YAML"),
    ],
)
def test_unreadable_file_error_says_where(text, message):
    with pytest.raises(ConfigError, match=message):
        read_settings(text, "my.yaml")


@pytest.mark.parametrize("text", ["training.epochs", "=5", "  =5"])
def test_override_without_key_or_value_is_refused(text):
    with pytest.raises(ConfigError, match=r"expected section\.key=value"):
        parse_override(text)


def test_a_value_with_a_repeated_key_is_refused():
    with pytest.raises(ConfigError, match=r"--set training\.optimizer_arguments=.*: 'a' is given twice"):
        parse_override("training.optimizer_arguments={a: 1, a: 2}")


def test_override_that_is_a_comment_is_refused():
    with pytest.raises(ConfigError, match="Put the value in quotes"):
        parse_override("training.start=#runs/a")
    assert parse_override("training.start='#runs/a'").value == "#runs/a"


def test_override_with_invalid_yaml_is_refused():
    with pytest.raises(ConfigError, match=r"--set model\.dilations=\[1, 2: this is not valid YAML"):
        parse_override("model.dilations=[1, 2")
