"""Makes the run folder of a training on a machine that may lack TensorFlow."""

import os

from bytenet.config import Config
from bytenet.datasets.batches.encoded_pairs import encode_pairs
from bytenet.errors import ConfigError
from bytenet.models import build_model
from bytenet.run_folder import RunFolder
from bytenet.saved.model_size import check_size
from bytenet.training.checkpoints import save_model
from bytenet.training.environment import num_trainable, write_environment
from bytenet.training.optimizers.portable_optimizer import portable_optimizer
from bytenet.training.prepared.folder import PreparedFolder
from bytenet.training.prepared.pairs import PreparedPairs
from bytenet.training.tasks.pairs.in_memory import PairsInMemory
from bytenet.training.tasks.starts import load_start, take_over_start
from bytenet.training.trainable_model import check_longest, set_seed


def prepare(config: Config, run_dir: str | os.PathLike[str]) -> PreparedFolder:
    """Make a run folder that `fit_prepared` trains in, on any backend of Keras.

    The folder has the settings, the vocabulary, the encoded pairs, and the weights to start from if there is
    `training.start`.

    Args:
        config: of the run.
        run_dir: a folder that does not exist or is empty.

    Returns:
        The prepared folder.

    Raises:
        ConfigError: `fit_prepared` cannot train with a setting.
        InputError: the corpus or the folder cannot be used.
    """
    check_fit(config)
    RunFolder(run_dir).check_free()
    config, vocabulary = take_over_start(config, run_dir, resume=False)
    pairs = PairsInMemory(config, vocabulary, replicas=1)
    corpus, vocabulary = pairs.corpus, pairs.vocabulary
    check_size(config.model, vocabulary.size)
    check_longest(config, [pairs.plan], corpus.validation, vocabulary)
    set_seed(config.training.seed)
    model = build_model(config.model, vocabulary.size)
    load_start(model, config, vocabulary)
    folder = PreparedFolder(RunFolder.create(run_dir, config, vocabulary))
    folder.path.mkdir()
    sets = {folder.train_path: corpus.train, folder.validation_path: corpus.validation}
    for path, texts in sets.items():
        if texts:
            PreparedPairs(encode_pairs(texts, vocabulary)).save(path)
    if config.training.start is not None:
        save_model(model, folder.start_path)
    write_environment(folder.run, config.training.seed, num_trainable(model), 1, pairs.plan.padded_lengths)
    return folder


def check_fit(config: Config) -> None:
    """Raise a ConfigError if `fit_prepared` cannot train with a setting, or if the optimiser refuses its arguments."""
    training = config.training
    refused = {
        "semi_supervised.enabled is true": config.semi_supervised.enabled,
        "data.corpus is shards": config.data.corpus == "shards",
        "training.schedule is plateau": training.schedule == "plateau",
        "training.deterministic is true": training.deterministic,
        f"training.accumulate_batches is {training.accumulate_batches}": training.accumulate_batches > 1,
        f"training.devices is {training.devices}": training.devices is not None,
    }
    problems = [problem for problem, is_refused in refused.items() if is_refused]
    if problems:
        raise ConfigError(
            f"{'; '.join(problems)}. A prepared training learns from pairs in memory, on one device, with one update "
            "for each batch, and backends may round differently each time. Change the setting, or train with "
            "`bytenet train`."
        )
    portable_optimizer(training, total_steps=1)
