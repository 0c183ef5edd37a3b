"""Workers and schedulers of Dask that end in the middle of the work, at a moment that is known."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client, LocalCluster, WorkerPlugin


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
def cluster_that_ends(task: str) -> Iterator[str]:
    """The address of a scheduler that ends, with its worker, when a task of some name begins."""
    tests = str(Path(__file__).parents[1])  # where the plugin is found again
    child = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": tests},
    )  # fmt: skip
    with child:
        try:
            address = child.stdout.readline().strip()
            with Client(address, set_as_default=False) as client:
                client.register_plugin(EndsInTask(task, None))
            yield address
        finally:
            child.kill()


if __name__ == "__main__":
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
        dashboard_address=":0", silence_logs=50,
    ) as cluster:  # fmt: skip
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
