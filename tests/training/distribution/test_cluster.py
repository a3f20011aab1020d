"""Which workers there are, from the environment variables of those who start them."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from bytenet.errors import ConfigError
from bytenet.training.distribution.cluster import Cluster

DOCS = Path(__file__).parents[3] / "docs" / "several-machines.md"
WORKERS = ["one:5000", "two:5000", "three:5000"]


def tf_config(cluster, task, **more):
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task, **more})}


def test_without_variables_a_process_is_alone():
    assert Cluster.from_environment({}) is None


@pytest.mark.parametrize(
    "variables",
    [
        {"TF_CONFIG": "{}"},
        tf_config({"worker": WORKERS[:1]}, {"type": "worker", "index": 0}),  # as Kubernetes says it of one replica
        {"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"},
    ],
)
def test_one_worker_is_alone(variables):
    assert Cluster.from_environment(variables) is None


def test_workers_of_tf_config():
    variables = tf_config({"worker": WORKERS}, {"type": "worker", "index": 2})
    cluster = Cluster.from_environment(variables)
    assert cluster == Cluster(tuple(WORKERS), 2)
    assert not cluster.is_chief
    assert cluster.name(1) == "worker 1 (two:5000)"


@pytest.mark.parametrize(("task", "index"), [({"type": "chief", "index": 0}, 0), ({"type": "worker", "index": 1}, 2)])
def test_a_chief_of_its_own_comes_first(task, index):
    """As TFJob writes it."""
    variables = tf_config({"worker": ["two:5000", "three:5000"], "chief": ["one:5000"]}, task, environment="cloud")
    cluster = Cluster.from_environment(variables)
    assert cluster == Cluster(tuple(WORKERS), index)
    assert cluster.is_chief == (index == 0)


def test_the_indexed_job_of_the_docs_names_its_workers():
    job = DOCS.read_text(encoding="utf-8").split("A plain indexed Job")[1].split("```")[1].removeprefix("yaml")
    service, job = yaml.safe_load_all(job)
    shell, dash_c, script = job["spec"]["template"]["spec"]["containers"][0]["command"]
    assert (shell, dash_c) == ("sh", "-c")
    printed = script.replace("exec bytenet", 'printf %s "$TF_CONFIG"; true')
    environment = {"JOB_COMPLETION_INDEX": "1"}  # Kubernetes sets it
    done = subprocess.run([shell, dash_c, printed], env=environment, capture_output=True, text=True, check=True)
    name = service["metadata"]["name"]
    workers = tuple(f"{job['metadata']['name']}-{index}.{name}:5000" for index in range(job["spec"]["completions"]))
    assert Cluster.from_environment({"TF_CONFIG": done.stdout}) == Cluster(workers, 1)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"TF_CONFIG": "{"}, "TF_CONFIG is damaged"),
        ({"TF_CONFIG": '{"cluster": {"worker": "one:5000"}}'}, "TF_CONFIG is damaged"),
        (tf_config({"worker": WORKERS}, {"type": "worker", "index": 3}), r"the task \('worker', 3\)"),
        ({"TF_CONFIG": json.dumps({"cluster": {"worker": WORKERS}})}, "the task None"),
        (tf_config({"worker": WORKERS, "ps": ["four:5000"]}, {"type": "worker", "index": 0}), "the chief evaluates"),
    ],
)
def test_wrong_variables_are_explained(variables, message):
    with pytest.raises(ConfigError, match=message):
        Cluster.from_environment(variables)


@pytest.mark.parametrize(
    "address", ["two", "two:", ":5000", "two:http", "two:0", "two:65536", "two:-1", "two:\u00b2", ""]
)
@pytest.mark.parametrize("index", [0, 1])
def test_an_address_without_a_usable_port_is_refused_by_every_worker(address, index):
    variables = tf_config({"worker": ["one:65535", address]}, {"type": "worker", "index": index})
    message = re.escape(f"TF_CONFIG has the address {address!r}. Expected host:port, with a port from 1 to 65535: {{")
    with pytest.raises(ConfigError, match=message):
        Cluster.from_environment(variables)


def test_an_address_may_be_one_of_ipv6():
    workers = ["[::1]:5000", "[fe80::1]:5000"]
    cluster = Cluster.from_environment(tf_config({"worker": workers}, {"type": "worker", "index": 1}))
    assert cluster.addresses == tuple(workers)


SLURM = {
    "SLURM_STEP_NUM_TASKS": "3", "SLURM_STEP_NODELIST": "node[1-2]", "SLURM_STEP_TASKS_PER_NODE": "2,1",
    "SLURM_JOB_ID": "18042",
}  # fmt: skip


def slurm(monkeypatch, **variables):
    """The cluster of a step of Slurm, whose resolver reads the process's environment itself."""
    for name, value in (SLURM | variables).items():
        monkeypatch.setenv(name, value)
    return Cluster.from_environment()


@pytest.mark.parametrize(("index", "node"), [(0, "node1"), (1, "node1"), (2, "node2")])
def test_tasks_of_slurm(monkeypatch, index, node):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    cluster = slurm(monkeypatch, SLURM_PROCID=str(index), SLURMD_NODENAME=node)
    assert cluster == Cluster(("node1:12042", "node1:12043", "node2:12042"), index)


def test_slurm_tasks_on_other_machines_than_the_resolver_thinks_are_refused(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    nodes = {"SLURM_STEP_NODELIST": "node[9-10]", "SLURM_STEP_TASKS_PER_NODE": "1(x2)", "SLURM_STEP_NUM_TASKS": "2"}
    with pytest.raises(ConfigError, match=r"task 0 on node9, but .* expects it on node10"):
        slurm(monkeypatch, **nodes, SLURM_PROCID="0", SLURMD_NODENAME="node9")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_TASKS is 'many'; expected a number"),
        ("SLURM_JOB_ID", "SLURM_JOB_ID is 'many'; expected a number"),
        ("SLURM_PROCID", r"Slurm's variables cannot be used \(.*'many'"),
        ("SLURM_STEP_TASKS_PER_NODE", r"Slurm's variables cannot be used \(.*\"many\""),
    ],
)
def test_wrong_variables_of_slurm_are_explained(monkeypatch, name, message):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with pytest.raises(ConfigError, match=message) as raised:
        slurm(monkeypatch, **{"SLURM_PROCID": "0", name: "many"})
    assert "set TF_CONFIG for each task" in str(raised.value)


@pytest.mark.parametrize("number", ["3", "-1"])
def test_a_task_that_is_not_in_the_step_is_explained(monkeypatch, number):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with pytest.raises(ConfigError, match=r"SLURM_PROCID is no task of the step\)"):
        slurm(monkeypatch, SLURM_PROCID=number)
