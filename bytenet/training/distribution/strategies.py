"""The devices on which a model trains."""

from collections.abc import Sequence
from functools import cache

import tensorflow as tf

from bytenet.errors import ConfigError
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.meeting import connection_time_limit, wait_for_others


def make_strategy(devices: Sequence[str] | None) -> tf.distribute.Strategy:
    """Mirror the model over devices. Each device takes an equal part of every batch.

    Args:
        devices: names such as "GPU:0" or "CPU:1". None means every GPU, or the whole CPU if there is no GPU. Further
            logical CPUs are made if TensorFlow has not started yet.

    Returns:
        A `MirroredStrategy` for several devices, a `OneDeviceStrategy` for one, and the default strategy for none.

    Raises:
        ConfigError: a device does not exist, or is named twice.
    """
    if devices is None:
        devices = [device.name.removeprefix("/physical_device:") for device in tf.config.list_physical_devices("GPU")]
    check_devices(devices)
    if len(devices) > 1:
        return _mirrored(tuple(devices))
    return tf.distribute.OneDeviceStrategy(devices[0]) if devices else tf.distribute.get_strategy()


def check_devices(devices: Sequence[str]) -> None:
    """Make the logical CPUs among the devices. Raise a ConfigError if a device does not exist or is named twice."""
    for name in devices:
        if devices.count(name) > 1:
            raise ConfigError(f"training.devices is {list(devices)}, with {name!r} twice. Name each device once.")
    _make_logical_cpus(devices)
    available = [device.name.removeprefix("/device:") for device in tf.config.list_logical_devices()]
    for name in devices:
        if name not in available:
            raise ConfigError(
                f"training.devices names {name!r}, but this machine has {', '.join(available)}. "
                "Leave training.devices out to use all GPUs, or the CPU."
            )


@cache
def _mirrored(devices: tuple[str, ...]) -> tf.distribute.MirroredStrategy:
    """The only strategy of these devices. Two would number their exchanges alike and mix them up."""
    return tf.distribute.MirroredStrategy(list(devices))


@cache
def workers_strategy(cluster: Cluster) -> tf.distribute.MultiWorkerMirroredStrategy:
    """The strategy of all devices of all workers. The first call connects them, and waits until all are there.

    TensorFlow must not have started before.

    Raises:
        InputError: another worker does not come, or the port of this one is in use.
    """
    wait_for_others(cluster)
    with connection_time_limit(cluster):
        return tf.distribute.MultiWorkerMirroredStrategy(cluster.resolver())


def _make_logical_cpus(devices: Sequence[str]) -> None:
    """Split the CPU into logical devices, up to the highest "CPU:n" of `devices`."""
    count = 1 + max((int(name[4:]) for name in devices if name.startswith("CPU:") and name[4:].isdecimal()), default=0)
    cpus = tf.config.list_physical_devices("CPU")
    if count == 1 or len(tf.config.get_logical_device_configuration(cpus[0]) or [None]) >= count:
        return
    try:
        tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * count)
    except RuntimeError:  # TensorFlow has started with fewer; the caller reports the missing device
        return
