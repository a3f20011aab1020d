"""All experiments, in the order of the thesis."""

import importlib
import pkgutil

from bytenet.errors import ConfigError, nearest
from bytenet.reproduction import figures
from bytenet.reproduction.engine.experiment import Experiment


def all_experiments() -> list[Experiment]:
    """All experiments: first of the sections, then of the appendices, then those without a number in the thesis."""
    modules = pkgutil.walk_packages(figures.__path__, f"{figures.__name__}.")
    experiments = [
        experiment
        for module in modules
        for experiment in getattr(importlib.import_module(module.name), "EXPERIMENTS", ())
    ]
    return sorted(experiments, key=lambda experiment: _position(experiment.name))


def find_experiment(name: str) -> Experiment:
    """The experiment with a name such as "fig-3.3.1", in any case.

    Raises:
        ConfigError: there is none. The message suggests the nearest name.
    """
    by_name = {experiment.name: experiment for experiment in all_experiments()}
    if name.lower() in by_name:
        return by_name[name.lower()]
    hint = nearest(name.lower(), by_name)
    raise ConfigError(f"{name!r} is not an experiment here.{hint} `bytenet reproduce --list` lists them all.")


def _position(name: str) -> tuple[int | str, ...]:
    """The sort key of a name."""
    kind, _, number = name.partition("-")
    if kind not in ("fig", "tab"):
        return (2, name)
    parts = number.split(".")
    if parts[0].isdigit():
        return (0, *(int(part) for part in parts), kind)
    return (1, parts[0], *(int(part) for part in parts[1:]), kind)
