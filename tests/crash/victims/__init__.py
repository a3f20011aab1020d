"""Every command that is killed. The modules are imported when they are needed."""

from importlib import import_module

from tests.crash.victims.victim import OUTPUT, Victim

__all__ = ["OUTPUT", "VICTIMS", "Victim", "victim_class"]

VICTIMS = {
    "training": ("training.Training", 10),
    "training, two replicas": ("training.TwoReplicas", 6),
    "training, two workers": ("workers.TwoWorkers", 5),
    "training, three workers": ("workers.ThreeWorkers", 3),
    "training, semi-supervised": ("training.SemiSupervised", 6),
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
