"""Workers and schedulers of Dask that end in the middle of the work, at a moment that is known."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from distributed import WorkerPlugin

CLUSTER = """
import sys
from distributed import LocalCluster
with LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
    dashboard_address=":0", silence_logs=50,
) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


class EndsInTask(WorkerPlugin):
    """End the process of a worker when it begins a task of some name: once in all, or always."""

    def __init__(self, task: str, marker: str | None) -> None:
        self.task, self.marker = task, marker

    def transition(self, key, start, finish, **_):
        """Called by the worker whenever a task changes its state."""
        if finish != "executing" or not str(key).startswith(self.task):
            return
        if self.marker is not None:
            try:
                os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
        os._exit(1)


@contextmanager
def cluster_to_kill() -> Iterator[tuple[str, subprocess.Popen]]:
    """A scheduler with a worker, both in a process of their own, and their address."""
    child = subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        try:
            yield child.stdout.readline().strip(), child
        finally:
            child.kill()
