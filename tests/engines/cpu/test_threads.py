import multiprocessing
import os

import numba
import pytest

from microagg_gpu.kernels.cpu.threads import on_all_cores


@pytest.fixture(params=[1, 2])
def threads(request):
    before = numba.get_num_threads()
    numba.set_num_threads(min(request.param, before))
    yield
    numba.set_num_threads(before)


@pytest.mark.parametrize("number", [0, 1, 7, 100, 1001])
@pytest.mark.parametrize("run", [1, 32])
def test_the_parts_make_up_the_range_in_order(threads, number, run):
    parts = on_all_cores(lambda first, last, name: (first, last, name), number, "a", run=run)
    places = [place for first, last, _ in parts for place in range(first, last)]
    assert places == list(range(number))
    assert all(first % run == 0 and name == "a" for first, _, name in parts)


def test_an_interruption_is_raised_and_the_threads_can_be_used_again(threads):
    def work(first, last):
        if first == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on_all_cores(work, 1000)
    assert sum(on_all_cores(lambda first, last: last - first, 1000)) == 1000


def test_an_error_in_another_thread_is_raised():
    def work(first, last):
        if first >= 500:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        on_all_cores(work, 1000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_a_forked_process_has_threads_of_its_own():
    on_all_cores(lambda first, last: None, 100)
    child = multiprocessing.get_context("fork").Process(
        target=on_all_cores, args=(lambda first, last: None, 100)
    )
    child.start()
    child.join(60)
    try:
        assert child.exitcode == 0
    finally:
        child.kill()
