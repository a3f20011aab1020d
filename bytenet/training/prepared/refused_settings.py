"""Settings that a training on any backend of Keras cannot follow."""

from collections.abc import Iterator

from bytenet.config import Config, TrainingConfig
from bytenet.errors import ConfigError
from bytenet.training.compiled_models.compilation import check_trainable
from bytenet.training.optimizers.portable_optimizer import portable_optimizer


def check_fit(config: Config) -> None:
    """Raise a ConfigError if `fit_prepared` cannot train with a setting, or if the optimiser refuses its arguments."""
    training, evaluation = config.training, config.evaluation
    refused = {
        "semi_supervised.enabled is true": config.semi_supervised.enabled,
        "data.corpus is shards": config.data.corpus == "shards",
        "training.schedule is plateau": training.schedule == "plateau",
        "training.deterministic is true": training.deterministic,
        f"training.accumulate_batches is {training.accumulate_batches}": training.accumulate_batches > 1,
        f"training.devices is {training.devices}": training.devices is not None,
        f"training.checkpoint_every_steps is {training.checkpoint_every_steps}": training.checkpoint_every_steps,
        f"training.checkpoint_every_seconds is {training.checkpoint_every_seconds}": training.checkpoint_every_seconds
        != TrainingConfig.checkpoint_every_seconds,
        "evaluation.batch_norm_statistics is batch": evaluation.batch_norm_statistics == "batch",
        f"evaluation.beam_size is {evaluation.beam_size}": evaluation.beam_size > 1,
        f"evaluation.continuous_every_steps is {evaluation.continuous_every_steps}": evaluation.continuous_every_steps,
        f"evaluation.every_steps is {evaluation.every_steps}": evaluation.every_steps,
        "evaluation.continuous_train is true": evaluation.continuous_train,
        f"training.early_stopping_patience is {training.early_stopping_patience}, but "
        f"training.early_stopping_metric is {training.early_stopping_metric}": training.early_stopping_patience
        and training.early_stopping_metric != "val_loss",
    }
    problems = [problem for problem, is_refused in refused.items() if is_refused]
    if problems:
        raise ConfigError(
            f"{'; '.join(problems)}. A prepared training learns from pairs in memory, on one device, with one update "
            "for each batch. Backends may round differently each time. After epochs, only the loss on the validation "
            "pairs is measured, and a checkpoint is saved. Change the setting, or train with `bytenet train`."
        )
    check_trainable(config)
    portable_optimizer(training, total_updates=1, updates_per_epoch=1)


def kept_model_warnings(training: TrainingConfig) -> Iterator[str]:
    """A warning if the model with the best score is asked for, but `fit_prepared` does not measure that score."""
    score = {"val_bleu": "BLEU", "val_chrf": "chrF"}.get(training.early_stopping_metric)
    if score and training.keep_model == "best":
        yield (
            f"warning: {score} is not measured here, so the last model is kept. For the one with the lowest loss, set "
            "training.early_stopping_metric=val_loss."
        )
