"""The three public reference files of the CASC project: Tarragona, Census and EIA."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..checks import file_path
from ..errors import InputError, shown

BASE_URL = "https://raw.githubusercontent.com/sdcTools/sdcMicro/master/data/"
_EXTRA = 'pip install "microagg-gpu[datasets]"'


class Dataset(NamedTuple):
    """The numeric variables of a reference file."""

    data: np.ndarray
    """float64 matrix, one row for each record."""
    columns: list[str]
    """Names of the variables."""


class _File(NamedTuple):
    rda: str
    sha256: str
    columns: str


_FILES = {
    "tarragona": _File(
        "Tarragona.rda",
        "e83def0648be5e47eaf202b4dd60dd6981591d0858fd249817b9a2cc97cf2aef",
        "FIXED.ASSETS CURRENT.ASSETS TREASURY UNCOMMITTED.FUNDS PAID.UP.CAPITAL SHORT.TERM.DEBT "
        "SALES LABOR.COSTS DEPRECIATION OPERATING.PROFIT FINANCIAL.OUTCOME GROSS.PROFIT "
        "NET.PROFIT",
    ),
    "census": _File(
        "CASCrefmicrodata.rda",
        "147d0d7fa823a384e36c2297174560e32cdbe6e39803f22f797610fb1a2993d6",
        "AFNLWGT AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA "
        "WSALVAL ERNVAL",
    ),
    "eia": _File(
        "EIA.rda",
        "8b61ceb0d1fa01d024bd62171655601abed62ff70a5e9e6fd550c43a1f76695e",
        "UTILITYID RESREVENUE RESSALES COMREVENUE COMSALES INDREVENUE INDSALES OTHREVENUE "
        "OTHRSALES TOTREVENUE TOTSALES",
    ),
}


def fetch(
    name: str, data_home: str | os.PathLike[str] | None = None, *, base_url: str = BASE_URL
) -> Dataset:
    """Read a reference file, and download it if it is not on this machine.

    The function looks for `<name>.csv`, then for the R file `Tarragona.rda`,
    `CASCrefmicrodata.rda` or `EIA.rda`. It looks in `data_home` if that is given. Otherwise it
    looks in the directory named by the environment variable MICROAGG_DATA, then in the cache
    directory (`microagg-gpu` under XDG_CACHE_HOME or `~/.cache`). If there is no such file, it
    downloads the R file to `data_home` or the cache directory and compares its SHA-256 checksum.

    Parameters
    ----------
    name : {"tarragona", "census", "eia"}
        "tarragona": 834 companies, 13 variables (1999, 2002, 2005, 2006). "census": 1,080
        records, 13 variables (2005, 2006, MF-TSP). "eia": 4,092 records, UTILITYID and the ten
        amounts RESREVENUE ... TOTSALES (2006).
    data_home : path, optional
        The only directory to look in and to download to.
    base_url : str
        Web address of the folder with the R files. The default is the public repository of the
        R package sdcMicro. We had no network when we wrote this and could not test it.

    Returns
    -------
    Dataset
        `data` (float64 matrix) and `columns` (names), in the order of the file.

    Raises
    ------
    InputError
        The name is unknown, or the file lacks a variable or contains a value that is not a number.
    OSError
        The download failed.
    ImportError
        The packages of the extra `datasets` are needed but not installed.

    Notes
    -----
    V1 ... V13 of the 1999 and 2002 papers are the columns of `tarragona` in this order, except
    in 1999 Tables 2 and 3, whose rows V7 ... V11 are columns 9, 11, 8, 7 and 10.
    """
    if not isinstance(name, str) or name not in _FILES:
        raise InputError(
            f"There is no reference file {shown(name)}; choose one of {', '.join(_FILES)}."
        )
    if not isinstance(base_url, str):
        raise InputError(f"base_url={shown(base_url)} must be a web address")
    if data_home is not None:
        data_home = file_path("data_home", data_home)
    file = _FILES[name]
    homes = _directories(data_home)
    for home in homes:
        if (home / f"{name}.csv").is_file():
            return _read_csv(home / f"{name}.csv", file.columns.split())
        if (home / file.rda).is_file():
            return _read_rda(home / file.rda, file.columns.split())
    return _read_rda(_download(name, homes[-1], base_url), file.columns.split())


def _directories(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """Return the directories to look in, in order. A download goes to the last one."""
    if data_home is not None:
        return [Path(data_home).expanduser()]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "microagg-gpu"
    named = os.environ.get("MICROAGG_DATA")
    return [Path(named).expanduser(), cache] if named else [cache]


def _read_csv(path: Path, columns: list[str]) -> Dataset:
    with path.open(newline="", encoding="utf-8-sig") as lines:
        rows = csv.DictReader(lines)
        _check_columns(path, columns, rows.fieldnames or [])
        try:
            records = [[float(row[column]) for column in columns] for row in rows]
        except (TypeError, ValueError):
            raise InputError(
                f"{path.name}, line {rows.line_num}: a variable used in the papers is not a "
                "number; get the file again."
            ) from None
    return Dataset(np.array(records, dtype=np.float64).reshape(-1, len(columns)), columns)


def _read_rda(path: Path, columns: list[str]) -> Dataset:
    try:
        import rdata
    except ImportError:
        raise ImportError(
            f"Reading {path.name} needs the package rdata ({_EXTRA}), or put a CSV file there."
        ) from None
    (table,) = rdata.read_rda(path).values()
    _check_columns(path, columns, list(table.columns))
    return Dataset(table[columns].to_numpy(dtype=np.float64), columns)


def _check_columns(path: Path, wanted: list[str], present: Sequence[str]) -> None:
    missing = [column for column in wanted if column not in present]
    if missing:
        raise InputError(
            f"{path.name} lacks {len(missing)} of {len(wanted)} variables "
            f"({', '.join(missing)}); get the file again."
        )


def _download(name: str, home: Path, base_url: str) -> Path:
    file = _FILES[name]
    place = f"put {name}.csv or {file.rda} into {home}, or name its directory in MICROAGG_DATA."
    try:
        import pooch
    except ImportError:
        raise ImportError(
            f"Downloading {file.rda} needs the package pooch ({_EXTRA}); else {place}"
        ) from None
    address = base_url.rstrip("/") + "/" + file.rda
    try:
        return Path(pooch.retrieve(address, f"sha256:{file.sha256}", file.rda, home))
    except (OSError, ValueError) as error:
        # pooch raises ValueError when the checksum differs and for an address it cannot use.
        differs = "hash" in str(error)
        what = "is not the expected file (its checksum differs)" if differs else "failed to load"
        raise OSError(f"{address} {what}; {place}") from error
