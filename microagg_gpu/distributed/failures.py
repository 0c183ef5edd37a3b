"""What can fail on a Dask cluster: what is tried once more, and one sentence for the rest."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from distributed import CancelledError, Client, KilledWorker

from ..errors import InputError
from .sources import disk_is_full

Result = TypeVar("Result")

_AGAIN = "run it again; nothing was written"
_CANCELLED = {  # reasons of Dask
    "scheduler-connection-lost": "the connection to its scheduler was lost",
    "scheduler-restart": "it was restarted",
    "lost dependencies": "records that its workers held were lost",
}


def tried_twice(client: Client, work: Callable[[], Result]) -> Result:
    """Do it, and once more if the cluster failed in a way that may not happen again.

    The second time starts from the source, so it does not matter what the cluster has lost.
    """
    try:
        return work()
    except Exception as error:
        if client.status != "running" or not _may_pass(error):
            raise
    return work()


def _may_pass(error: Exception) -> bool:
    if isinstance(error, (InputError, KilledWorker)) or disk_is_full(error):
        return False
    if _reason(error) == "unknown":  # somebody cancelled the work
        return False
    return isinstance(error, (CancelledError, ConnectionError, TimeoutError)) or _of_dask(error)


def _reason(error: Exception) -> str | None:
    return getattr(error, "reason", None) if isinstance(error, CancelledError) else None


def _of_dask(error: Exception) -> bool:
    """Whether Dask itself failed: it has few exceptions of its own, and else RuntimeErrors."""
    if type(error).__module__.partition(".")[0] in ("distributed", "dask"):
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and (
        text.startswith(("P2P", "Shuffle")) or _graph_is_refused(error)
    )


def _graph_is_refused(error: BaseException) -> bool:
    return "deserialization of the task graph" in str(error)


@contextmanager
def clear_cluster_errors(client: Client) -> Iterator[None]:
    """One sentence for what went wrong on a cluster."""
    try:
        yield
    except Exception as error:
        known = _input_error(error)
        if known is not None:
            raise known from None
        sentence = _sentence(error, client)
        if sentence is None:
            raise
        raise InputError(sentence) from None


def _input_error(error: BaseException | None) -> InputError | None:
    """The sentence that a worker found for it already."""
    while error is not None and not isinstance(error, InputError):
        error = error.__cause__
    return error


def _sentence(error: Exception, client: Client) -> str | None:
    if isinstance(error, KilledWorker):
        return (
            f"the cluster failed: workers died {error.allowed_failures + 1} times over one task, "
            "most often for want of memory: give them more memory, or choose smaller blocks; "
            "nothing was written"
        )
    if disk_is_full(error):
        return (
            "the disk of a worker, or the one to write to, is full: make room; nothing was written"
        )
    if client.status != "running":
        return f"the cluster failed: the connection to its scheduler was lost: {_AGAIN}"
    if isinstance(error, CancelledError):
        happened = _CANCELLED.get(str(_reason(error)), "the work was cancelled")
        return f"the cluster failed: {happened}: {_AGAIN}"
    if _graph_is_refused(error):
        return (
            f"the cluster failed: its scheduler could not read the tasks{_cause(error)}: install "
            "the same versions of microagg_gpu and Dask there, on the workers and here, or "
            f"{_AGAIN}"
        )
    if _of_dask(error) or isinstance(error, (ConnectionError, TimeoutError)):
        return f"the cluster failed twice: {_one_line(error)}: {_AGAIN}"
    if isinstance(error, ModuleNotFoundError):
        return f"a worker failed: {error}: install it on all workers; nothing was written"
    if isinstance(error, (OSError, MemoryError)):
        return f"a worker failed: {error!r}; nothing was written"
    return None


def _cause(error: BaseException) -> str:
    return "" if error.__cause__ is None else f" ({_one_line(error.__cause__)})"


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": .")
