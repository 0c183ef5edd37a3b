"""What lies on the disk: formats and compressions by the ending of a name, and the target."""

import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from ..errors import InputError, reason
from . import excel, stat_files
from .atomic import check_writable, real_target
from .compact import without_views

_FORMATS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
_TEXTS = (".csv", ".tsv", ".txt")
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
# All that Arrow raises for content that is not what it should be; not the want of memory.
_BROKEN = (OSError, ValueError, LookupError, TypeError, NotImplementedError)


def kind_of(path: Path) -> tuple[str, str | None]:
    """The format and the compression that the ending of a name says."""
    ending = path.suffix.lower()
    return (_FORMATS | excel.FORMATS | stat_files.FORMATS).get(ending, "CSV"), _COMPRESSIONS.get(
        ending
    )


@contextmanager
def _clear_reading(path: Path) -> Iterator[None]:
    """One sentence for a file that cannot be opened or read."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory: give a file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from None


# Threads of Arrow may hold what they read for a moment after the call has returned. If that is a
# Python file or Python bytes, and the process ends in that moment, as it does after an error, then
# giving it back aborts the process. So Arrow gets its own files and buffers only.


def native_copy(data: bytes) -> pa.Buffer:
    """The same bytes in memory that belongs to Arrow."""
    buffer = pa.allocate_buffer(len(data))
    memoryview(buffer).cast("B")[:] = data
    return buffer


def native_file(path: Path) -> pa.NativeFile:
    """A file that Arrow reads by itself; a pipe is read to its end first."""
    if path.is_file():
        return pa.OSFile(os.fsencode(path))  # a name need not be UTF-8
    return pa.BufferReader(native_copy(path.read_bytes()))


def read_bytes(path: Path, compression: str | None) -> bytes:
    """The content of a file, decompressed."""
    with _clear_reading(path):
        if compression is None:
            return path.read_bytes()
        with native_file(path) as file:
            try:
                with pa.CompressedInputStream(file, compression) as stream:
                    return stream.read()
            except _BROKEN as error:
                if getattr(error, "errno", None):
                    raise
                raise InputError(
                    f"{path} cannot be read: it is not a {compression} file, or is damaged"
                ) from None


def read_table(path: Path, form: str) -> pa.Table:
    """The table in a Parquet or Arrow file, which may be an Arrow stream as well."""
    with _clear_reading(path), native_file(path) as file:
        try:
            if form == "Parquet":
                table = pa.parquet.ParquetFile(file).read()
            else:
                stream = file.read(6) != b"ARROW1"
                file.seek(0)
                table = (pa.ipc.open_stream if stream else pa.ipc.open_file)(file).read_all()
            table.validate(full=True)  # or a broken file could end the process later
            table = without_views(table)
        except _BROKEN:
            raise InputError(
                f"{path} cannot be read as {form}: it has another format, or is damaged"
            ) from None
    return table


def write_table(table: pa.Table, path: Path, form: str) -> None:
    """Write a Parquet or Arrow file."""
    with pa.OSFile(os.fsencode(path), "wb") as target:
        if form == "Parquet":
            pa.parquet.write_table(table, target)
        else:
            options = pa.ipc.IpcWriteOptions(unify_dictionaries=True)
            with pa.ipc.new_file(target, table.schema, options=options) as writer:
                writer.write_table(table)


def write_bytes(produce: Callable[[Any], None], path: Path, compression: str | None) -> None:
    """Write what a function sends, compressed."""
    if compression in (None, "gzip"):
        with path.open("wb") as target:
            if compression is None:
                produce(target.write)
                return
            # Arrow takes its slowest level
            with gzip.GzipFile("", fileobj=target, mode="wb", compresslevel=6, mtime=0) as stream:
                produce(stream.write)
    else:
        with (
            pa.OSFile(os.fsencode(path), "wb") as target,
            pa.CompressedOutputStream(target, compression) as stream,
        ):
            produce(stream.write)


def sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def check_ending(target: Path) -> None:
    """Refuse the name of a data file whose format is not known."""
    names = [suffix.lower() for suffix in target.suffixes[-2:]]
    if names and names[-1] in _COMPRESSIONS:
        names.pop()
    if not names or names[-1] not in (*_FORMATS, *_TEXTS, *stat_files.WRITTEN):
        endings = ", ".join([*_TEXTS, *_FORMATS, *stat_files.WRITTEN])
        raise InputError(
            f"the format of {target} is not known, or cannot be written: end its name with "
            f"{endings}, those of text also with {', '.join(_COMPRESSIONS)}"
        )


def check_target(target: Path, sources: Sequence[Path], force: bool) -> None:
    """Refuse a target that cannot or should not be written, before any work is done."""
    if any(os.path.realpath(target) == os.path.realpath(source) for source in sources):
        raise InputError(
            f"{target} is also an input or another output and would be overwritten: choose another "
            "name"
        )
    real = real_target(target)
    if target.is_dir():
        raise InputError(f"{target} is a directory: give the name of a file")
    if target.exists() and not target.is_file():
        raise InputError(f"{target} is not a regular file: give the name of a file")
    if target.exists() and not force:
        raise InputError(f"{target} exists: give another name, or --force to replace it")
    folder = real.parent if target.is_symlink() else target.parent
    if not folder.is_dir():
        raise InputError(f"{target} cannot be written: {folder} is not a directory")
    check_writable(target)
