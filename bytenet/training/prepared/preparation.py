"""Makes the run folder of a training on a machine that may lack TensorFlow."""

import os
from collections.abc import Callable

from bytenet.config import Config
from bytenet.datasets import Pairs
from bytenet.datasets.batches.encoded_pairs import encode_pairs
from bytenet.folder_lock import alone_in
from bytenet.models import build_model
from bytenet.models.model_size import check_size, num_trainable
from bytenet.run_folder import RunFolder
from bytenet.training.compiled_models.trainable_model import check_decoding, check_longest, set_seed
from bytenet.training.environment import write_environment
from bytenet.training.messages.warnings import semi_supervised_settings_without_effect, training_warnings
from bytenet.training.prepared.folder import PreparedFolder
from bytenet.training.prepared.pairs import PreparedPairs
from bytenet.training.prepared.refused_settings import check_fit, kept_model_warnings
from bytenet.training.starts import load_starts, take_over_start
from bytenet.training.tasks.pairs.in_memory import PairsInMemory


def prepare(config: Config, run_dir: str | os.PathLike[str], say: Callable[[str], None] = print) -> PreparedFolder:
    """Make a run folder that `fit_prepared` trains in, on any backend of Keras.

    The folder has the settings, the vocabulary, the encoded pairs, and the weights to start from if there is
    `training.start`.

    Args:
        config: of the run.
        run_dir: a folder that does not exist or is empty.
        say: shows a message about the settings.

    Returns:
        The prepared folder.

    Raises:
        ConfigError: `fit_prepared` cannot train with a setting.
        InputError: the corpus or the folder cannot be used, or the model cannot do what `decoding` asks for.
    """
    run = RunFolder(run_dir)
    run.check_free()
    config, vocabulary = take_over_start(config)
    check_fit(config)  # R-Drop needs the dropout of the model, which may be the start's
    pairs = PairsInMemory(config, vocabulary, replicas=1)
    corpus, vocabulary = pairs.corpus, pairs.vocabulary
    check_size(config.model, vocabulary.size)
    check_longest(config, [pairs.plan], corpus.validation, vocabulary)
    validation = corpus.validation or Pairs([], [])
    train, measured = (
        PreparedPairs(encode_pairs(texts, vocabulary))
        for texts in (corpus.train, validation.take(range(len(validation))[: config.evaluation.max_sentences]))
    )
    set_seed(config.training.seed)
    model = build_model(config.model, vocabulary.size)
    check_decoding(config, model, vocabulary)
    load_starts({"forward": model}, config, vocabulary)
    run.make()
    with alone_in(run, "uses the run"):
        run.clear()
        folder = PreparedFolder(run)
        folder.save(train, measured, None if config.training.start is None else model)
        vocabulary.save(run.vocabulary_path)
        write_environment(run, config.training.seed, num_trainable(model), 1, pairs.plan.padded_lengths)
        # It makes the folder a run, so it comes last. After a kill before it, the same command works.
        run.go_on_with(config)
    for message in (
        *training_warnings(config.training, pairs.plan.num_batches, replicas=1),
        *(kept_model_warnings(config.training) if corpus.validation else ()),
        *semi_supervised_settings_without_effect(config.semi_supervised),
    ):
        say(message)
    return folder
