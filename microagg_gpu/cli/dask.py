"""The command ``microagg protect`` on several workers: a cluster for it, and what it shows."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import typer

from ..errors import InputError
from ..files.atomic import temporary_folder
from ..files.verdict import NotAnonymous
from ..settings import ClusterSettings, Settings, changed
from .output import show_parts
from .progress import TerminalPhases


def one_file(sources: Sequence[Path]) -> Path:
    """The only file that is given."""
    if len(sources) > 1 or sources[0].is_dir():
        many = len(sources) > 1
        what = f"{len(sources)} files are given" if many else f"{sources[0]} is a directory"
        raise InputError(
            f"{what}, and several files are protected together by Dask workers: add --workers "
            f"{os.cpu_count() or 2}, or --scheduler with the address of a Dask cluster"
        )
    return sources[0]


def refuse_given(options: Mapping[str, Any]) -> None:
    """Refuse options that are for one machine only."""
    given = [name for name, value in options.items() if value]
    if given:
        raise InputError(
            f"{', '.join(given)} cannot be used with --workers or --scheduler: leave it out, or "
            "protect one file without them"
        )


def protect_parts(
    sources: Sequence[Path],
    output: Path,
    workers: int | None,
    scheduler: str | None,
    phase: TerminalPhases,
    settings: Settings,
    cluster: ClusterSettings,
    **given: Any,
) -> None:
    """Protect Parquet files as one, and print what was done.

    Parameters
    ----------
    sources : sequence of Path
        Files, or directories of them.
    output : Path
        The directory to write.
    workers, scheduler
        How many processes to start, or where a cluster is.
    phase : TerminalPhases
        Bars on the terminal.
    settings, cluster
        How to protect and divide.
    **given
        Other arguments of `microagg_gpu.distributed.microaggregate`.
    """
    try:
        from .. import distributed
    except ImportError as error:
        raise InputError(str(error)) from None
    with ExitStack() as bars, _client(workers, scheduler, output) as client:
        now: list[Any] = ["", None]

        def progress(name: str, fraction: float) -> None:
            if name != now[0]:
                bars.close()
                now[:] = name, bars.enter_context(phase(name))
            if now[1] is not None:
                now[1](fraction)

        chosen = {**changed(settings), **changed(cluster), "k": settings.k}
        options = chosen.pop("options", {})
        try:
            result = distributed.microaggregate(
                sources, output=output, client=client, progress=progress,
                **(chosen | options | given),
            )  # fmt: skip
        except NotAnonymous as error:
            bars.close()
            phase.close()
            typer.echo(f"{error}. Nothing was written.")
            raise typer.Exit(1) from None
        bars.close()
    phase.close()
    show_parts(result)


def _silence() -> None:
    """Keep Dask's log off the terminal: what fails is said in one sentence."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] == "distributed":  # many have a level of their own
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def _client(workers: int | None, scheduler: str | None, output: Path) -> Iterator[Any]:
    """A client of the cluster that is named, or of one that lasts as long."""
    import dask

    from distributed import Client, LocalCluster

    if workers is not None and scheduler is not None:
        raise InputError("--workers starts a cluster and --scheduler names one: give one of them")
    if scheduler is not None:
        _silence()
        try:
            client = Client(scheduler, timeout="10s")
        except (OSError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {scheduler}: {str(error) or 'time is out'}"
            ) from None
        with client:
            yield client
        return
    cores = os.cpu_count() or 1
    if workers is None or not 1 <= workers <= 1024:
        raise InputError(
            f"--workers must be from 1 to 1024, not {workers}: this machine has {cores} cores"
        )
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    home = output.resolve().parent
    if not home.is_dir():
        raise InputError(f"{output} cannot be written: {home} is not a directory")
    # Records on their way lie on the disk that the output will be on. A cluster whose workers are
    # all gone, and do not come again, fails.
    with (
        temporary_folder(home, output) as space,
        dask.config.set(
            {
                "distributed.scheduler.no-workers-timeout": "5 minutes",
                "temporary-directory": str(space),
            }
        ),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=str(space),
            silence_logs=logging.CRITICAL,
            env={"NUMBA_NUM_THREADS": str(max(1, cores // workers))},
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
