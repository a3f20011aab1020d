"""Every reader that is fuzzed. The modules are imported when they are needed: some bring TensorFlow."""

from importlib import import_module

from tests.fuzz.targets.target import Target

__all__ = ["TARGETS", "Target", "target_class"]

TARGETS = {
    "configurations": ("settings.Configurations", 0.25),
    "overrides": ("settings.Overrides", 0.15),
    "texts": ("texts.Texts", 0.12),
    "compressed texts": ("texts.CompressedTexts", 0.08),
    "zip archives": ("texts.ZipArchives", 0.04),
    "tar archives": ("texts.TarArchives", 0.05),
    "vocabularies": ("run_folders.Vocabularies", 0.06),
    "environments": ("run_folders.Environments", 0.05),
    "measurements": ("run_folders.Measurements", 0.05),
    "evaluations": ("run_folders.Evaluations", 0.02),
    "checkpoints": ("models.Checkpoints", 0.04),
    "models": ("models.Models", 0.01),
    "model files": ("models.ModelFiles", 0.01),
    "LiteRT files": ("lite.LiteModelFiles", 0.01),
    "shared weights": ("lite.SharedWeights", 0.02),
    "shards": ("shards.Shards", 0.04),
}
"""Module and class of each target, and its share of the cases of `python -m tests.fuzz`, by its name."""


def target_class(name: str) -> type[Target]:
    """The class of a target."""
    module, _, kind = TARGETS[name][0].partition(".")
    return getattr(import_module(f"{__name__}.{module}"), kind)
