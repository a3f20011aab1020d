"""On which devices a model trains."""

from collections.abc import Sequence
from functools import cache

import tensorflow as tf

from bytenet.errors import ConfigError
from bytenet.layers import MaskedBatchNormalization
from bytenet.private_api import all_layers


def make_strategy(devices: Sequence[str] | None) -> tf.distribute.Strategy:
    """Mirror the model over devices, each taking an equal part of every batch.

    Args:
        devices: names such as "GPU:0" or "CPU:1"; None means every GPU found, or else the CPU as a whole. Logical
            CPUs beyond the first are made as they are asked for, if TensorFlow has not started yet.

    Returns:
        A `MirroredStrategy`, or the default strategy for a single device.

    Raises:
        ConfigError: a device that does not exist.
    """
    if devices is None:
        devices = [device.name.removeprefix("/physical_device:") for device in tf.config.list_physical_devices("GPU")]
    check_devices(devices)
    if len(devices) > 1:
        return _mirrored(tuple(devices))
    return tf.distribute.OneDeviceStrategy(devices[0]) if devices else tf.distribute.get_strategy()


def check_devices(devices: Sequence[str]) -> None:
    """Make the logical CPUs among the devices, and raise a ConfigError for a device that does not exist."""
    _make_logical_cpus(devices)
    known = [device.name.removeprefix("/device:") for device in tf.config.list_logical_devices()]
    for name in devices:
        if name not in known:
            raise ConfigError(
                f"training.devices names {name!r}, but the devices here are {', '.join(known)}. "
                "Leave devices out to take all that are found."
            )


@cache
def _mirrored(devices: tuple[str, ...]) -> tf.distribute.MirroredStrategy:
    """The one strategy of these devices: two would both number their exchanges from one, and mix them up."""
    return tf.distribute.MirroredStrategy(list(devices))


def _make_logical_cpus(devices: Sequence[str]) -> None:
    """Split the CPU into as many logical devices as the highest "CPU:n" of `devices` asks for."""
    wanted = 1 + max((int(name[4:]) for name in devices if name.startswith("CPU:") and name[4:].isdigit()), default=0)
    cpus = tf.config.list_physical_devices("CPU")
    if wanted == 1 or len(tf.config.get_logical_device_configuration(cpus[0]) or [None]) >= wanted:
        return
    try:
        tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * wanted)
    except RuntimeError:  # TensorFlow has started with fewer; the caller names what is missing
        return


def synchronize_batch_normalization(model: tf.keras.Model) -> None:
    """Make batch normalisation take its statistics over all replicas, so that the batch counts as one."""
    for layer in all_layers(model):
        if isinstance(layer, MaskedBatchNormalization):
            layer.synchronized = True
