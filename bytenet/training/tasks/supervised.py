"""Training of one translator on pairs."""

from collections.abc import Iterator

import keras

from bytenet.training.model_pool import ModelPool
from bytenet.training.tasks.task import Direction, Task
from bytenet.training.trainable_model import make_trainable_model


class SupervisedTask(Task):
    """One translator learns from pairs."""

    @property
    def directions(self) -> list[Direction]:
        corpus = self.corpus
        return [Direction("forward", self.config, corpus.train, corpus.validation, corpus.target_language)]

    def make_model(self, pool: ModelPool) -> keras.Model:
        config, vocabulary = self.config, self.vocabulary
        key = (self.jit_compile, vocabulary.size, vocabulary.unknown, ())
        return pool.model(
            config, key,
            lambda: make_trainable_model(config, vocabulary, self.strategy, self.jit_compile, self.total_steps),
        )  # fmt: skip

    def messages(self) -> Iterator[str]:
        if self.corpus.monolingual_source or self.corpus.monolingual_target:
            yield "monolingual text: not used, as semi_supervised.enabled is false"
        if any(self.config.semi_supervised.starts.values()):
            yield (
                "warning: semi_supervised.start_forward and start_backward are not read, as semi_supervised.enabled is "
                "false; the weights are drawn anew. To go on from them with the pairs alone, enable it with "
                "semi_supervised.source_weight and target_weight 0."
            )
