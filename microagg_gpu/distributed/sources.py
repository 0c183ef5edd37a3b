"""Where records come from and go to: Dask DataFrames, or Parquet files in a directory."""

import errno
import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from dask import dataframe as dd
from dask import delayed

from ..data.table import read
from ..errors import InputError, reason, repeated
from ..files.atomic import place_folder, real_target, temporary_folder
from ..files.data_file import DataFile, write_file
from ..files.formats import native_file, read_table
from ..files.verifying import verify
from .partitions import Layout
from .worker import BlockSettings, PublishedPart

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class Frames:
    """The partitions of a Dask DataFrame."""

    def __init__(self, data: dd.DataFrame) -> None:
        self.data = data
        self.names = list(data.columns)
        if len(set(self.names)) < len(self.names):
            raise InputError("two columns of the DataFrame have the same name: rename one")
        self.where = [f"partition {i}" for i in range(data.npartitions)]
        self.example = data._meta_nonempty

    def parts(self, layout: Layout) -> list[Any]:
        """The columns that are used, partition by partition."""
        return list(self.data[layout.used].to_delayed())

    def published_categories(self, new: list[Any]) -> list[Any]:
        """Tasks that say which categories of each column are still published, by partition."""
        names = [c for c in self.names if isinstance(self.example[c].dtype, pd.CategoricalDtype)]
        parts = zip(self.data.to_delayed(), new, strict=True)
        return [delayed(_categories)(part, rows, names) for part, rows in parts] if names else []

    def protected(
        self,
        new: list[Any],
        layout: Layout,
        settings: BlockSettings,
        categories: list[dict[Any, pd.Index]],
    ) -> dd.DataFrame:
        """The DataFrame with what is published; `categories` are those of all partitions."""
        table = read(self.example, layout.roles)
        every = np.arange(len(self.example))
        meta = table.rebuild(
            table.values, every, settings.given.keep_integers, None, table.sampling
        ).iloc[:0]
        kinds = {name: self._category(name, [part[name] for part in categories])
                 for name in (categories[0] if categories else ())}  # fmt: skip
        meta = meta.astype(kinds)
        parts = [
            delayed(_restored)(part, rows, layout, settings, meta)
            for part, rows in zip(self.data.to_delayed(), new, strict=True)
        ]
        return dd.from_delayed(parts, meta=meta, divisions=self.data.divisions, verify_meta=False)

    def _category(self, name: Any, parts: list[pd.Index]) -> pd.CategoricalDtype:
        """The type of a column that has these categories, in the order of the original."""
        used = parts[0]
        for part in parts[1:]:
            used = used.append(part.difference(used, sort=False))
        kind = self.data._meta[name].dtype
        known = pd.Index([c for c in kind.categories if c in used])
        return pd.CategoricalDtype(known if len(known) == len(used) else used, kind.ordered)

    def labels(self, new: list[Any]) -> dd.Series:
        """The group of each record, -1 if it is left out."""
        meta = pd.Series(np.empty(0, np.int64), self.data._meta.index, name="group")
        parts = [
            delayed(_labels)(part, rows)
            for part, rows in zip(self.data.to_delayed(), new, strict=True)
        ]
        return dd.from_delayed(parts, meta=meta, divisions=self.data.divisions, verify_meta=False)


def _restored(
    frame: pd.DataFrame,
    new: PublishedPart,
    layout: Layout,
    settings: BlockSettings,
    empty: pd.DataFrame,
) -> pd.DataFrame:
    if not len(frame):
        return empty
    result = read(frame, layout.roles).rebuild(
        new.values, new.kept, settings.given.keep_integers, None, new.weights
    )
    kinds = {c: t for c, t in empty.dtypes.items() if isinstance(t, pd.CategoricalDtype)}
    return result.astype(kinds)


def _categories(frame: pd.DataFrame, new: PublishedPart, names: list[Any]) -> dict[Any, pd.Index]:
    """The categories of the published records of a partition, column by column."""
    kept = frame.iloc[new.kept]
    return {name: kept[name].cat.remove_unused_categories().cat.categories for name in names}


def _labels(frame: pd.DataFrame, new: PublishedPart) -> pd.Series:
    labels = np.full(len(frame), -1)
    labels[new.kept] = new.groups
    return pd.Series(labels, frame.index, name="group")


class Files:
    """Parquet files, each a partition, to be written under the same names."""

    def __init__(self, given: Paths) -> None:
        self.paths = _expanded(given)
        schemas = [_schema(path) for path in self.paths]
        self.names = schemas[0].names
        for path, schema in zip(self.paths, schemas, strict=True):
            if schema.names != self.names or schema.types != schemas[0].types:
                raise InputError(
                    f"{path} has other columns or types than {self.paths[0]}: protect files of one "
                    "kind together"
                )
        if len(set(self.names)) < len(self.names):
            raise InputError(f"two columns of {self.paths[0]} have the same name: rename one")
        self.where = list(map(str, self.paths))
        kinds = {field.name: pd.ArrowDtype(field.type) for field in schemas[0]}
        self.example = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})

    def parts(self, layout: Layout) -> list[Any]:
        """The columns that are used, file by file."""
        return [delayed(_columns)(path, layout.used) for path in self.paths]

    def whole(self) -> list[Any]:
        """All columns, file by file."""
        return [delayed(_columns)(path, self.names) for path in self.paths]

    def written(
        self,
        new: list[Any],
        layout: Layout,
        settings: BlockSettings,
        folder: Path,
        drop: Sequence[str],
        group_column: str | None,
        keep_metadata: bool,
    ) -> list[Any]:
        """Tasks that write each file, and return its SSE."""
        return [
            delayed(_write)(
                path,
                rows,
                layout,
                settings,
                folder / path.name,
                list(drop),
                group_column,
                keep_metadata,
            )
            for path, rows in zip(self.paths, new, strict=True)
        ]


def _expanded(given: Paths) -> list[Path]:
    several = [given] if isinstance(given, (str, os.PathLike)) else given
    found: list[Path] = []
    for path in several:
        text = os.fspath(path)
        if os.path.isdir(text):
            text = os.path.join(glob.escape(text), "*.parquet")
        matches = sorted(glob.glob(text)) if glob.has_magic(text) else [text]
        if not matches:
            raise InputError(f"no file is at {text}: give Parquet files, or a directory of them")
        found += map(Path, matches)
    twice = repeated(path.name for path in found)
    if twice:
        raise InputError(
            f"two files are called {twice[0]}: one copy would overwrite the other, so rename one"
        )
    return found


def _schema(path: Path) -> pa.Schema:
    try:
        with native_file(path) as file:
            return pq.read_schema(file)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from None
    except pa.ArrowInvalid:
        raise InputError(
            f"{path} cannot be read as Parquet: on several workers only Parquet files are taken"
        ) from None


def _columns(path: Path, names: list[Any]) -> pd.DataFrame:
    try:
        with native_file(path) as file:
            return pq.ParquetFile(file).read(columns=names).to_pandas(types_mapper=pd.ArrowDtype)
    except FileNotFoundError:
        raise InputError(
            f"a worker does not find {path}: files must be where all workers can read them"
        ) from None


def _write(
    path: Path,
    new: PublishedPart,
    layout: Layout,
    settings: BlockSettings,
    target: Path,
    drop: list[str],
    group_column: str | None,
    keep_metadata: bool,
) -> float:
    """Write a file with what is published, compare it with what was to be written."""
    file = DataFile(path, read_table(path, "Parquet"), None)
    numbers = file.with_numbers(layout.replaced)
    if file.table.num_rows:
        protected = read(numbers, layout.roles).rebuild(
            new.values, new.kept, settings.given.keep_integers, None, new.weights
        )
    else:
        columns = {name: _no_values(numbers[name], settings) for name in layout.columns}
        if layout.averaged:
            columns[layout.weight] = numbers[layout.weight].cast(pa.float64())
        protected = pa.table(columns)
    mask = np.zeros(file.table.num_rows, dtype=bool)
    mask[new.kept] = True
    added = {} if group_column is None else {group_column: new.groups}
    changed = file.replaced(
        protected, layout.replaced, None if mask.all() else mask, drop=drop, added=added,
        strata=layout.by, keep_metadata=keep_metadata,
    )  # fmt: skip
    write_file(changed, target, target)
    if changed.table.num_rows:
        verify(target, target, changed, [], settings.k)
    return new.sse


def _no_values(column: pa.ChunkedArray, settings: BlockSettings) -> pa.ChunkedArray:
    """A column of a file without records, in the type that those of other files get."""
    kept = pa.types.is_float32(column.type) or (
        settings.given.keep_integers and pa.types.is_integer(column.type)
    )
    return column if kept else column.cast(pa.float64())


@contextmanager
def whole_folder(target: Path, sources: Sequence[Path], force: bool) -> Iterator[Path]:
    """Yield a new folder beside the target, which takes its place if all goes well."""
    real = real_target(target)
    if any(real in Path(os.path.realpath(source)).parents for source in sources):
        raise InputError(f"{target} holds the files to protect: give another directory")
    _check_folder(target, real, force)
    with temporary_folder(real.parent, target) as new:
        yield new
        if force:  # what came in the meantime is not for us to delete
            _check_folder(target, real, force)
        place_folder(new, target, real, force)


def _check_folder(target: Path, real: Path, force: bool) -> None:
    if real.exists() and not real.is_dir():
        raise InputError(f"{target} is a file: several files are written to a directory")
    there = list(real.iterdir()) if real.is_dir() else []
    if there and not force:
        raise InputError(f"{target} is not empty: give another directory, or --force to replace it")
    if any(path.suffix != ".parquet" for path in there):
        raise InputError(f"{target} holds more than Parquet files: give another directory")


def disk_is_full(error: BaseException) -> bool:
    """Whether an error, or what caused it, is a full disk."""
    seen: BaseException | None = error
    while seen is not None:
        if getattr(seen, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            return True
        if "No space left on device" in str(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
