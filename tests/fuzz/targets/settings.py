"""Configurations, and `--set`."""

import os
from pathlib import Path

import yaml
from hypothesis import strategies as st

from bytenet.config import Config, load_config
from bytenet.config.families import family_configs
from tests.fuzz.targets.target import Target
from tests.setting_keys import setting_keys

_KEYS = sorted(setting_keys())
_WORDS = sorted(
    {word for family in family_configs().values() for word in (*family.VARIANTS, family.family)}
    | {
        "thesis",
        "auto",
        "none",
        "full",
        "files",
        "digits",
        "plateau",
        "adam",
        "sgd",
        "null",
        "true",
        "no",
        "1e-3",
        ".nan",
    }
)
_TOKENS = tuple(
    text.encode()
    for text in (
        *_KEYS, *_WORDS, "- ", "? ", "&a ", "*a", "<<: *a", "!!bool x", "!!timestamp x", "!!binary x", "!!set {x}",
        "!!omap [x]", "!!python/object/apply:os.system [x]", "!!int x", "!!float x", "!!null x", "[" * 400,
        "{a: " * 400, "&a [*a]", '"\\0"', '"\\ud800"', "x" * 5000, "%YAML 3.0\n", "--- \n", "|\n", "preset: digits\n",
    )
)  # fmt: skip

_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-2, 40), st.floats(), st.text(max_size=20),
    st.sampled_from(_WORDS),
)  # fmt: skip
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_settings = st.dictionaries(st.sampled_from(_KEYS), _values, max_size=2)


def _check_round_trip(config: Config, folder: Path) -> None:
    path = folder / "again.yaml"
    path.write_text(config.to_yaml(), encoding="utf-8")
    assert load_config(path) == config, "a configuration changes when it is written and read"


class Configurations(Target):
    """Files of settings."""

    name, suffix, tokens = "configurations", ".yaml", _TOKENS

    def make_seeds(self) -> list[bytes]:
        presets = (
            "digits",
            "multi30k",
            "multi30k-luong",
            "multi30k-convs2s",
            "multi30k-transformer",
            "digits-semi-thesis",
        )
        small = [f"preset: {preset}\nmodel: {{dropout: 0.1}}\ndata: {{max_length: 99}}\n" for preset in presets]
        own = "model:\n  dim: 8\n  dilations: [1, 2]\ndata:\n  corpus: files\n  train_source: a\n  train_target: b\n"
        return [text.encode() for text in (*small, own, load_config("digits").to_yaml())]

    def read(self) -> None:
        _check_round_trip(load_config(self.path), self.folder)

    def generated(self) -> st.SearchStrategy[bytes]:
        def as_yaml(settings: dict) -> bytes:
            sections: dict = {}
            for key, value in settings.items():
                section, _, name = key.partition(".")
                sections.setdefault(section, {})[name] = value
            return yaml.safe_dump(sections, allow_unicode=True).encode("utf-8", "surrogatepass")

        return _settings.map(as_yaml)


class Overrides(Target):
    """Values of `--set`."""

    name, tokens = "overrides", _TOKENS

    def make_seeds(self) -> list[bytes]:
        texts = ("training.epochs=5", "model.dilations=[1, 2]", "model.family=transformer", "training.start=runs/a",
                 "training.optimizer_arguments={momentum: 0.9}", "data.corpus=numbers")  # fmt: skip
        return [text.encode() for text in texts]

    def read(self) -> None:
        text = os.fsdecode(self.path.read_bytes())
        _check_round_trip(load_config("digits", [text]), self.folder)

    def generated(self) -> st.SearchStrategy[bytes]:
        def as_override(key: str, value: object) -> bytes:
            text = yaml.safe_dump(value, default_flow_style=True, width=10**6, explicit_end=False)
            return f"{key}={text.removesuffix('...' + chr(10)).strip()}".encode("utf-8", "surrogatepass")

        return st.builds(as_override, st.sampled_from(_KEYS), _values)
