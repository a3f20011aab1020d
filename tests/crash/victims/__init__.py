"""Every command that is killed. The modules are imported when they are needed."""

from importlib import import_module

from tests.crash.victims.victim import OUTPUT, Victim

__all__ = ["OUTPUT", "VICTIMS", "Victim", "victim_class"]

# A run with several workers belongs here, too, once `bytenet train` has them: a subclass of `training.Training`.
VICTIMS = {
    "training": ("training.Training", 14),
    "training, two replicas": ("training.TwoReplicas", 8),
    "training, semi-supervised": ("training.SemiSupervised", 8),
    "export, .bytenet": ("exports.ModelFile", 2),
    "export, SavedModel": ("exports.SavedModel", 3),
    "export, LiteRT": ("exports.LiteModel", 2),
    "data shard": ("shards.Shards", 9),
    "download": ("downloads.Download", 4),
}
"""Module and class of each victim, and its number of kills among 50, by its name."""


def victim_class(name: str) -> type[Victim]:
    """The class of a victim."""
    module, _, kind = VICTIMS[name][0].partition(".")
    return getattr(import_module(f"{__name__}.{module}"), kind)
