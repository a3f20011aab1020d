"""Which processes train together, and which of them this one is."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import tensorflow as tf
from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from bytenet.errors import ConfigError, InputError, shown
from bytenet.limits import parse_json
from bytenet.training.distribution.watchdog import unreachable

_ROLES = ("chief", "worker")
_SLURM_ADVICE = "Start the command with srun, or set TF_CONFIG for each task, see docs/several-machines.md."
_EXAMPLE = '{"cluster": {"worker": ["host1:5000", "host2:5000"]}, "task": {"type": "worker", "index": 0}}'
# Two jobs of Slurm may share a machine, so their ports depend on the number of the job.
_FIRST_PORT, _PORTS = 12_000, 18_000
_LAST_PORT = 2**16 - 1
_ADDRESS = re.compile(r"\S+:([0-9]{1,5})")


class _TaskOfConfig(TypedDict):
    type: str
    index: Annotated[int, Field(ge=0)]


class _TfConfig(TypedDict, total=False):
    """TensorFlow's own form. Programs that set it may write more."""

    cluster: dict[str, list[str]]
    task: _TaskOfConfig


@dataclass(frozen=True)
class Cluster:
    """The workers of a run. Worker 0 is the chief: it measures and writes for all.

    Attributes:
        addresses: `host:port` of each worker.
        index: which of them this process is.
    """

    addresses: tuple[str, ...]
    index: int

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self | None:
        """The workers that `TF_CONFIG` names, or the tasks of a step of Slurm; None if this process is alone.

        Args:
            environment: the environment variables. `TF_CONFIG` comes before Slurm.

        Raises:
            ConfigError: the variables cannot be used.
        """
        if "TF_CONFIG" in environment:
            return cls._from_tf_config(environment["TF_CONFIG"])
        if _slurm_number(environment, "SLURM_STEP_NUM_TASKS", 1) > 1:
            return cls._from_slurm(environment)
        return None

    @classmethod
    def _from_tf_config(cls, text: str) -> Self | None:
        try:
            config = parse_json(text, _TfConfig, "TF_CONFIG", f"TensorFlow's form, such as {_EXAMPLE}")
        except InputError as error:
            raise ConfigError(f"{error} Correct the environment variable, or unset it to train alone.") from None
        jobs = config.get("cluster", {})
        if sum(map(len, jobs.values())) < 2:
            return None
        task = config.get("task")
        own = None if task is None else (task["type"], task["index"])
        places = [(role, index) for role in _ROLES for index in range(len(jobs.get(role, ())))]
        if set(jobs) - set(_ROLES) or own not in places:
            raise ConfigError(
                f"TF_CONFIG names the jobs {', '.join(map(shown, jobs))} and the task {shown(own)}. Expected only the "
                f"jobs chief and worker, and a task of them: {_EXAMPLE}. Parameter servers and evaluators have nothing "
                "to do here: the chief evaluates."
            )
        addresses = tuple(jobs[role][index] for role, index in places)
        for address in addresses:
            match = _ADDRESS.fullmatch(address)
            if match is None or not 1 <= int(match[1]) <= _LAST_PORT:
                raise ConfigError(
                    f"TF_CONFIG has the address {shown(address)}. Expected host:port, with a port from 1 to "
                    f"{_LAST_PORT}: {_EXAMPLE}. Correct the environment variable, or unset it to train alone."
                )
        return cls(addresses, places.index(own))

    @classmethod
    def _from_slurm(cls, environment: Mapping[str, str]) -> Self:
        tasks = _slurm_number(environment, "SLURM_STEP_NUM_TASKS", 1)
        port = _FIRST_PORT + _slurm_number(environment, "SLURM_JOB_ID", 0) % _PORTS
        try:
            # The resolver fails without GPUs. Slurm has given each task its GPUs; here, it only needs enough of them.
            resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
                port_base=port, gpus_per_node=tasks, gpus_per_task=1, auto_set_gpu=False
            )
            addresses = tuple(resolver.cluster_spec().as_dict()["worker"])
        except (RuntimeError, ValueError) as error:
            raise ConfigError(f"Slurm's variables cannot be used ({error}). {_SLURM_ADVICE}") from error
        index = resolver.task_id
        if index is None:
            raise ConfigError(
                f"Slurm's variables cannot be used (SLURM_PROCID is no task of the step). {_SLURM_ADVICE}"
            )
        node, host = environment.get("SLURMD_NODENAME"), addresses[index].rpartition(":")[0]
        if node not in (None, host):
            raise ConfigError(
                f"Slurm runs task {index} on {node}, but TensorFlow's resolver expects it on {host}, because it sorts "
                "the names of the machines as texts. Set TF_CONFIG for each task, see docs/several-machines.md."
            )
        return cls(addresses, index)

    @property
    def is_chief(self) -> bool:
        """Whether this process measures and writes for all."""
        return self.index == 0

    def name(self, index: int) -> str:
        """A worker for messages: "worker 1 (host2:5000)"."""
        return f"worker {index} ({self.addresses[index]})"

    def names(self, workers: Iterable[int]) -> str:
        """Several workers for messages."""
        return " and ".join(map(self.name, workers))

    @property
    def others(self) -> list[int]:
        """All workers but this one."""
        return [index for index in range(len(self.addresses)) if index != self.index]

    def unreachable_workers(self) -> list[int]:
        """The other workers at whose address nobody listens."""
        lost = unreachable([self.addresses[index] for index in self.others])
        return [index for index in self.others if self.addresses[index] in lost]

    def resolver(self) -> tf.distribute.cluster_resolver.ClusterResolver:
        """The workers as TensorFlow takes them."""
        gpus = len(tf.config.list_physical_devices("GPU"))
        return tf.distribute.cluster_resolver.SimpleClusterResolver(
            tf.train.ClusterSpec({"worker": list(self.addresses)}),
            task_type="worker", task_id=self.index, num_accelerators={"GPU": gpus}, rpc_layer="grpc",
        )  # fmt: skip


def _slurm_number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, str(default))
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ConfigError(f"{name} is {shown(text)}; expected a number, as Slurm sets it. {_SLURM_ADVICE}")
    return int(text)
