"""Models of stock Keras layers, trained by stock Keras: the baseline for the speed of this project's models.

A family has a stock model if a module of its name is in this package. Its class `StockModel` computes the same function
as the family's models, so that outputs, gradients and speed can be compared.
"""

from importlib import import_module
from importlib.util import find_spec

import keras
import tensorflow as tf

from bytenet.errors import InputError
from bytenet.models import TranslationModel


def make_stock_model(model: TranslationModel, learning_rate: float = 1e-3) -> keras.Model:
    """A stock model with the sizes and weights of `model`, compiled with Keras's defaults.

    It has only what `fit` needs: no clipping, no averages of weights and no metrics.

    Args:
        model: a built model.
        learning_rate: of Adam.

    Raises:
        InputError: the model's family has no stock model, or the stock model lacks a setting of the model.
    """
    family = model.config.family
    module = f"{__name__}.{family}"
    if find_spec(module) is None:
        raise InputError(
            f"The family {family} has no stock Keras model to compare with. Measure it without the baseline, or "
            "choose another model.family."
        )
    stock = import_module(module).StockModel(model)
    ids = keras.KerasTensor((None, None), "int32")
    stock({"source_ids": ids, "target_ids": ids})
    stock.copy_weights(model)
    # The mean over real characters. Their mask is the sample weight.
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
    stock.compile(optimizer=keras.optimizers.Adam(learning_rate), loss=loss)
    return stock


def stock_dataset(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The batches of `training_dataset` with the sample weights of the stock loss: float32 `(rows, length)`."""
    return dataset.map(lambda ids, target_ids, _: (ids, target_ids, tf.cast(target_ids != 0, tf.float32)))
