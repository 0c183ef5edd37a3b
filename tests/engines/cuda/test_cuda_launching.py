"""How launches are bounded."""

import pytest

from microagg_gpu.kernels.cuda import launching
from microagg_gpu.kernels.cuda.launching import Pace


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [0.0]
    monkeypatch.setattr(launching, "perf_counter", lambda: now[0])
    return now


def test_launches_come_to_take_a_tenth_of_a_second(clock):
    """Of a card that does 1,000 a second."""
    pace, taken = Pace(100_000), []
    for first in (8.0, *[0.0] * 8):  # the first one compiles
        with pace:
            clock[0] += first + pace.work / 1000
        taken.append(pace.work / 1000)
    assert taken[0] == 100_000 // 1024 / 1000  # by its own time nothing is decided
    assert taken[2:] == pytest.approx([0.1] * 7, abs=0.004)


def test_a_fast_card_gets_more_by_and_by_but_not_more_than_the_most(clock):
    pace, works = Pace(16 * 1024), []
    for _ in range(8):
        works.append(pace.work)
        with pace:
            clock[0] += 1e-4
    assert works == [16, 16, 64, 256, 1024, 4096, 16 * 1024, 16 * 1024]


def test_a_launch_does_something_however_slow(clock):
    pace = Pace(3)
    for _ in range(3):
        with pace:
            clock[0] += 60
    assert pace.work == 1
