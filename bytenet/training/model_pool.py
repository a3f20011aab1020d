"""Models that are traced and compiled already, for the next run of the same shape."""

from collections.abc import Callable, Hashable
from dataclasses import asdict
from typing import Any

import keras

from bytenet.config import Config
from bytenet.training.checkpoints import training_variables
from bytenet.training.translators import translators_of


class ModelPool:
    """What one process keeps from run to run, so that a grid of small runs is traced and compiled once.

    A run gets the model of an earlier one with all its values made new: weights, random states, optimiser and
    metrics are those of a model made for it. What comes of a run does not depend on the runs before it.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def model(self, config: Config, key: Hashable, make: Callable[[], keras.Model]) -> keras.Model:
        """The model of a run.

        Args:
            config: of the run.
            key: what else decides what is traced, such as the number of symbols.
            make: makes it.
        """
        fresh = make()
        model = self.keep((_traced_settings(config), key), lambda: fresh)
        if model is not fresh:
            new_values = training_variables(fresh)
            for name, variable in training_variables(model).items():
                variable.assign(new_values[name])
            for translator, made in zip(translators_of(model), translators_of(fresh), strict=True):
                translator.optimizer.schedule.total_steps = made.optimizer.schedule.total_steps
        return model

    def keep(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made for a key, now or earlier."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def _traced_settings(config: Config) -> str:
    """The settings that may be part of a traced training step or search."""
    settings = asdict(config)
    del settings["data"], settings["training"]["seed"], settings["training"]["epochs"]
    for name in ("source_weight", "target_weight", "start_forward", "start_backward"):
        del settings["semi_supervised"][name]
    return repr(settings)
