"""Training of one translator on pairs."""

from collections.abc import Callable, Iterator
from typing import Any

import keras

from bytenet.training.compiled_models.trainable_model import make_trainable_model
from bytenet.training.distribution.agreement import Agreement
from bytenet.training.distribution.replicated_step import supervised_step
from bytenet.training.messages.warnings import semi_supervised_settings_without_effect
from bytenet.training.tasks.direction import Direction
from bytenet.training.tasks.task import Task


class SupervisedTask(Task):
    """One translator learns from pairs."""

    untraced = (*Task.untraced, "semi_supervised.")

    @property
    def directions(self) -> list[Direction]:
        corpus = self.corpus
        return [
            Direction(
                "forward", self.config, corpus.train, corpus.validation, corpus.target_language,
                starts_trained=self.config.training.start is not None,
            )
        ]  # fmt: skip

    def translators(self, model: keras.Model) -> dict[str, keras.Model]:
        return {"forward": model}

    def replicated_step(self, model: keras.Model, agreement: Agreement) -> Callable[[Any], dict[str, Any]]:
        return supervised_step(model, agreement)

    def messages(self) -> Iterator[str]:
        yield from super().messages()
        if (copies := self.config.data.pair_copies) > 1:
            yield f"each of the {self.pairs.number:,} pairs comes {copies} times in an epoch"
        if self.pairs.num_synthetic:
            yield f"{self.pairs.num_synthetic:,} synthetic pairs are added, {self._tag()}"
        if (batches := self.config.training.accumulate_batches) > 1:
            yield (
                f"one update of the weights for {batches} batches: {self.updates_per_epoch:,} updates an epoch, "
                f"{self.total_updates:,} in all"
            )
        if (self.corpus.monolingual_source or self.corpus.monolingual_target) and not self.pairs.num_synthetic:
            yield "monolingual text: not used. `bytenet data back-translate` makes synthetic pairs from it"
        yield from semi_supervised_settings_without_effect(self.config.semi_supervised)

    def _make_model(self) -> keras.Model:
        return make_trainable_model(self.config, self.vocabulary, self.strategy, self.jit_compile, self.total_updates)

    def _tag(self) -> str:
        """The tag before each source of a synthetic pair, in words."""
        tag = self.config.data.synthetic_tag
        if tag is None:
            return "without a tag"
        if tag in self.vocabulary.characters:
            return f"with the tag {tag} in front of their sources"
        return f"with the unknown symbol as their tag, because the vocabulary does not have {tag}"
