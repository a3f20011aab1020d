"""A search as a graph, traced or compiled once for each shape."""

from collections.abc import Callable, Sequence

import tensorflow as tf

from bytenet.datasets import PAD_ID
from bytenet.decoding.batches.graph_cache import GraphCache
from bytenet.decoding.searches.beam import beam_search
from bytenet.decoding.searches.greedy import greedy_search
from bytenet.decoding.searches.sampling import Sampling, sample
from bytenet.decoding.searches.search import SearchResult, length_limits_or_default
from bytenet.lite.length_penalty import LengthPenaltyRule
from bytenet.models.translation_model import TranslationModel


class CompiledSearch:
    """Greedy search, beam search or sampling with one model, as a graph that is kept.

    A new shape of the source, or a new `max_length`, traces the graph again and, with XLA, compiles it again. That
    takes seconds for a deep model, so use few shapes, as `Translator` does. Each call reads the current weights, so one
    compiled search can be used during the whole training of a model. Several threads may share it.

    Args:
        model: any `TranslationModel`.
        beam_size: number of hypotheses that are kept; 1 is greedy search.
        length_penalty: alpha of `beam_search`. It divides the scores of greedy search, too.
        n_best: number of hypotheses to return for each sentence, at most `beam_size` or the number of samples.
        forbidden_ids: symbols that no hypothesis contains.
        jit_compile: compile with XLA. On two CPU cores, a step of ByteNet is then 1.5 to 3 times as fast, but the first
            result of each shape takes about two seconds longer. `CompilationChoice` decides when that pays off.
        length_penalty_rule: as for `beam_search`.
        min_length: no hypothesis ends before it has this many symbols.
        sampling: draws samples instead of searching; `beam_size` is then not used.

    Raises:
        ValueError: as for `greedy_search` (when called).
    """

    def __init__(
        self,
        model: TranslationModel,
        beam_size: int = 1,
        length_penalty: float = 0.0,
        n_best: int = 1,
        forbidden_ids: Sequence[int] = (PAD_ID,),
        jit_compile: bool = False,
        length_penalty_rule: LengthPenaltyRule = "gnmt",
        min_length: int = 0,
        sampling: Sampling | None = None,
    ):
        self.model = model
        self.beam_size = beam_size
        self.length_penalty = length_penalty
        self.n_best = n_best
        self.forbidden_ids = tuple(forbidden_ids)
        self.jit_compile = jit_compile
        self.length_penalty_rule: LengthPenaltyRule = length_penalty_rule
        self.min_length = min_length
        self.sampling = sampling
        self._graph = GraphCache(self._trace)

    def __call__(
        self, source_ids: tf.Tensor, max_length: int | None = None, length_limits: tf.Tensor | None = None
    ) -> SearchResult:
        """Translate a batch.

        Arguments and result are those of `beam_search`, but `source_ids` has a known shape, and `max_length` is an int
        or None.
        """
        source_ids = tf.convert_to_tensor(source_ids, tf.int32)
        max_length, limits = length_limits_or_default(self.model, source_ids, max_length, length_limits)
        search = self._graph(*source_ids.shape, max_length)
        if self.sampling is None:
            return search(source_ids, limits)
        random_numbers = self.sampling.random_numbers(source_ids.numpy(), limits.numpy(), max_length)
        return search(source_ids, limits, tf.constant(random_numbers))

    def _trace(self, batch: int, source_length: int, max_length: int) -> Callable[..., SearchResult]:
        # The searches call `tf.while_loop` themselves. Without autograph, models trace faster.
        @tf.function(jit_compile=self.jit_compile, autograph=False)
        def search(source_ids, length_limits, random_numbers=None):
            return self.in_graph(source_ids, max_length, length_limits, random_numbers=random_numbers)

        inputs = [tf.TensorSpec([batch, source_length], tf.int32), tf.TensorSpec([batch], tf.int32)]
        if self.sampling is not None:
            inputs.append(tf.TensorSpec([batch, self.sampling.samples, max_length], tf.float32))
        return search.get_concrete_function(*inputs)

    def in_graph(
        self,
        source_ids: tf.Tensor,
        max_length: int | tf.Tensor,
        length_limits: tf.Tensor,
        n_best: int | tf.Tensor | None = None,
        random_numbers: tf.Tensor | None = None,
    ) -> SearchResult:
        """The search as a part of another graph. Arguments and result are those of `beam_search`.

        Args:
            source_ids: int32 `(batch, source_length)`; both may be unknown until the graph runs.
            max_length: an int or an int32 scalar.
            length_limits: int32 `(batch,)`.
            n_best: None is that of this search. A tensor must be between 1 and `beam_size`.
            random_numbers: as for `sample`; only with `sampling`.
        """
        n_best = self.n_best if n_best is None else n_best
        limits_and_ranking = (
            max_length, self.length_penalty, n_best, length_limits, self.forbidden_ids, self.length_penalty_rule,
            self.min_length,
        )  # fmt: skip
        if self.sampling is not None:
            return sample(self.model, source_ids, random_numbers, self.sampling, *limits_and_ranking)
        if self.beam_size == 1 and (tf.is_tensor(n_best) or n_best == 1):
            return greedy_search(
                self.model, source_ids, max_length, length_limits, self.forbidden_ids, self.min_length,
                self.length_penalty, self.length_penalty_rule,
            )  # fmt: skip
        return beam_search(self.model, source_ids, self.beam_size, *limits_and_ranking)
