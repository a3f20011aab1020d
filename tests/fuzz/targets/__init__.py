"""Every reader that is fuzzed. The modules are imported when they are needed: some bring TensorFlow."""

from importlib import import_module

from tests.fuzz.targets.target import Target

__all__ = ["TARGETS", "Target", "target_class"]

TARGETS = {
    "configurations": "settings.Configurations",
    "overrides": "settings.Overrides",
    "texts": "texts.Texts",
    "compressed texts": "texts.CompressedTexts",
    "zip archives": "texts.ZipArchives",
    "tar archives": "texts.TarArchives",
    "vocabularies": "run_folders.Vocabularies",
    "environments": "run_folders.Environments",
    "measurements": "run_folders.Measurements",
    "evaluations": "run_folders.Evaluations",
    "checkpoints": "models.Checkpoints",
    "models": "models.Models",
}
"""Module and class of each target, by its name."""


def target_class(name: str) -> type[Target]:
    """The class of a target."""
    module, _, kind = TARGETS[name].partition(".")
    return getattr(import_module(f"{__name__}.{module}"), kind)
