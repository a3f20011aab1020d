"""Workers stop and save after the same step."""

import pytest

from bytenet.errors import ConfigError
from bytenet.training.distribution import agreement
from bytenet.training.distribution.agreement import Agreement
from bytenet.training.distribution.cluster import Cluster
from bytenet.training.distribution.workers import Workers


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    times = [100.0]
    monkeypatch.setattr(agreement.time, "monotonic", lambda: times[0])
    return times


def two_agreements():
    return [Agreement(Workers(Cluster(("one:1", "two:1"), index))) for index in range(2)]


def exchange(agreements):
    sums = [sum(values) for values in zip(*(one.local_values for one in agreements), strict=True)]
    for one in agreements:
        one.agree(sums)


def test_a_process_alone_acts_at_once(clock):
    alone = Agreement(Workers())
    clock[0] += 7
    assert alone.seconds_since_checkpoint == 7
    alone.note_checkpoint()
    assert alone.seconds_since_checkpoint == 0
    assert not alone.is_asked_to_stop
    alone.ask_to_stop()
    assert alone.is_asked_to_stop


def test_workers_act_on_a_request_only_after_the_next_step(clock):
    both = two_agreements()
    exchange(both)
    both[1].ask_to_stop()
    assert [one.is_asked_here for one in both] == [False, True]
    assert not any(one.is_asked_to_stop for one in both)
    exchange(both)
    assert all(one.is_asked_to_stop for one in both)


def test_the_clock_of_the_chief_counts(clock):
    both = two_agreements()
    clock[0] += 5
    both[1].note_checkpoint()
    exchange(both)
    assert [one.seconds_since_checkpoint for one in both] == [5, 5]
    for one in both:
        one.note_checkpoint()
    assert [one.seconds_since_checkpoint for one in both] == [0, 0]
    clock[0] += 2
    exchange(both)
    assert [one.seconds_since_checkpoint for one in both] == [2, 2]


def test_nothing_is_due_before_the_first_step(clock):
    both = two_agreements()
    clock[0] += 1000
    assert [one.seconds_since_checkpoint for one in both] == [0, 0]


def test_devices_are_not_chosen_for_several_workers():
    Workers().check_devices(["CPU:0"])
    Workers(Cluster(("one:1", "two:1"), 0)).check_devices(None)
    with pytest.raises(ConfigError, match=r"training.devices is \['GPU:0'\], but with several workers"):
        Workers(Cluster(("one:1", "two:1"), 0)).check_devices(["GPU:0"])
