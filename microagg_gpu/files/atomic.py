"""Files and folders that appear whole or not at all, and never in the place of another's."""

import atexit
import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from .. import stopping
from ..errors import InputError, reason

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be deleted
    fcntl = None  # type: ignore[assignment]

_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.microagg-tmp(\.[A-Za-z0-9]{1,16})?")
# What file systems answer that have no hard links.
_NO_LINKS = {
    getattr(errno, name)
    for name in ("EPERM", "EACCES", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "EINVAL")
    if hasattr(errno, name)
}


@dataclass
class Temporary:
    """A file or folder under a temporary name, locked while the process lives.

    A lock ends with its process, so the next run knows what a killed one left behind.
    """

    path: Path
    _lock: int | None = None

    @classmethod
    def make(cls, folder: Path, suffix: str = "", *, directory: bool = False) -> "Temporary":
        """Make one that is new, and remove what killed runs left in the same folder."""
        remove_leftovers(folder)
        if not re.fullmatch(r"\.[A-Za-z0-9]{1,16}", suffix):
            suffix = ""
        while True:
            new = cls(folder / f".{secrets.token_hex(8)}.microagg-tmp{suffix}")
            _there[new.path] = new
            if new._create(directory):
                return new
            del _there[new.path]

    def _create(self, directory: bool) -> bool:
        """Create and lock it; False if another run found it before it was locked."""
        if directory:
            self.path.mkdir()
            if fcntl is None:
                return True
            self._lock = os.open(self.path, os.O_RDONLY)
        else:
            self._lock = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is not None:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.unlock()
                return False
            except OSError:
                return True  # a file system without locks, where nobody removes it
            try:
                if not os.path.samestat(os.stat(self.path), os.fstat(self._lock)):
                    raise FileNotFoundError
            except FileNotFoundError:
                self.unlock()
                return False
        return True

    def unlock(self) -> None:
        """Give up the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Remove it, if it is still there."""
        if fcntl is None:
            self.unlock()
        _remove(self.path)
        self.unlock()
        _there.pop(self.path, None)


_there: dict[Path, Temporary] = {}  # those that this process made and did not remove yet
if hasattr(os, "register_at_fork"):  # they belong to the process that made them
    os.register_at_fork(after_in_child=_there.clear)


@atexit.register
def _remove_all() -> None:
    """Remove what is left: a signal can come on the way into the block that would remove it."""
    for temporary in list(_there.values()):
        temporary.remove()


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files and folders of runs that were killed."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if _TEMPORARY.fullmatch(entry.name)]
    except OSError:
        return  # who cannot list a folder may still write to it
    for name in names:
        with suppress(OSError):
            _remove_unlocked(folder / name)


def _remove_unlocked(path: Path) -> None:
    if fcntl is None:
        _remove(path)
        return
    kind = path.lstat().st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        return
    lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(path)
    finally:
        os.close(lock)


def real_target(target: Path) -> Path:
    """The file that a name stands for, through symbolic links; a loop of them is refused."""
    try:
        target.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError(
                f"{target} is a symbolic link that leads back to itself: give another name"
            ) from None
    return Path(os.path.realpath(target))


def exists_now(target: Path) -> InputError:
    """What is said of a file that came while the command worked."""
    return InputError(
        f"{target} was made by another program in the meantime and is kept: give another name, or "
        "--force to replace it"
    )


@dataclass
class _Output:
    target: Path  # as it was given
    real: Path
    temporary: Temporary
    backup: Temporary | None = None
    placed: os.stat_result | None = None

    def place(self, force: bool) -> None:
        """Put the file in its place; without force only if nothing is there."""
        made = self.temporary.path
        found = made.stat()
        if fcntl is None:
            self.temporary.unlock()
        if force:
            self.backup = _backup(self.real)
            os.replace(made, self.real)
        else:
            try:
                _move_to_new(made, self.real)
            except FileExistsError:
                raise exists_now(self.target) from None
        self.placed = found

    def take_back(self) -> None:
        """Undo `place`, unless the file is another by now."""
        if self.placed is None:
            return
        with suppress(OSError):
            if not os.path.samestat(self.real.stat(), self.placed):
                return
            if self.backup is not None:
                os.replace(self.backup.path, self.real)
            else:
                self.real.unlink()

    def tidy(self) -> None:
        """Remove what is temporary."""
        self.temporary.remove()
        if self.backup is not None:
            self.backup.remove()


def _move_to_new(made: Path, target: Path) -> None:
    """Rename a file, or fail if the new name is taken."""
    if os.name == "nt":
        os.rename(made, target)
        return
    try:
        os.link(made, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        try:
            os.replace(made, target)
        except OSError:
            target.unlink()
            raise


def _backup(real: Path) -> Temporary | None:
    """A second name for a file that is about to be replaced, where there are hard links."""
    backup = Temporary(real.with_name(f".{secrets.token_hex(8)}.microagg-tmp"))
    try:
        os.link(real, backup.path)
    except OSError:
        return None
    _there[backup.path] = backup
    return backup


@dataclass
class Outputs:
    """Files that appear together when all are written, or none of them.

    As a context: `add` gives the temporary name to write to; at the end all get their own names.
    """

    force: bool = False
    _all: list[_Output] = field(default_factory=list)

    def add(self, target: Path) -> Path:
        """A temporary name beside the target."""
        real = real_target(target)
        with stopping.deferred(), _clear_writing(target):
            made = Temporary.make(real.parent, real.suffix)
            self._all.append(_Output(target, real, made))
        return made.path

    def __enter__(self) -> "Outputs":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                with stopping.deferred():
                    self._place_all()
        finally:
            with stopping.deferred():
                for output in self._all:
                    output.tidy()
        if isinstance(error, OSError) and self._all:
            last = self._all[-1].target
            raise InputError(f"{last} cannot be written: {reason(error)}") from None

    def _place_all(self) -> None:
        try:
            for output in self._all:
                with _clear_writing(output.target):
                    output.place(self.force)
        except BaseException:
            for output in reversed(self._all):
                output.take_back()
            raise
        stopping.written.extend(str(output.target) for output in self._all)


@contextmanager
def _clear_writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{target} cannot be written: {reason(error)}") from None


@contextmanager
def whole_file(target: Path, force: bool = False) -> Iterator[Path]:
    """Yield a temporary name beside the target, which takes its place if all goes well."""
    if _TEMPORARY.fullmatch(target.name):  # the command looks after it
        yield target
        return
    with Outputs(force) as files:
        yield files.add(target)


def check_writable(target: Path) -> None:
    """Refuse a target in a folder to which nothing can be written."""
    with _clear_writing(target), stopping.deferred():
        Temporary.make(real_target(target).parent).remove()


# Folders


@contextmanager
def temporary_folder(home: Path, target: Path) -> Iterator[Path]:
    """A folder that is removed in the end, or by the next run if this one is killed."""
    folder = None
    try:
        with stopping.deferred(), _clear_writing(target):
            folder = Temporary.make(home, directory=True)
        yield folder.path
    finally:
        with stopping.deferred():
            if folder is not None:
                folder.remove()


def place_folder(made: Path, target: Path, real: Path, force: bool) -> None:
    """Give a folder its name; without force only if there is nothing, or an empty folder."""
    with stopping.deferred(), _clear_writing(target):
        if force and real.is_dir():
            _replace_folder(made, real)
        else:
            try:
                if os.name == "nt" and real.is_dir():
                    real.rmdir()  # fails unless it is empty; elsewhere the renaming does
                os.rename(made, real)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise exists_now(target) from None
                raise
        stopping.written.append(str(target))


def _replace_folder(made: Path, real: Path) -> None:
    # Not a temporary name while it is the only copy: who is killed now leaves it to be found.
    old = real.with_name(f".{real.name}.{secrets.token_hex(4)}.old")
    os.rename(real, old)
    try:
        os.rename(made, real)
    except OSError:
        os.rename(old, real)
        raise
    gone = real.with_name(f".{secrets.token_hex(8)}.microagg-tmp")
    os.rename(old, gone)
    shutil.rmtree(gone, ignore_errors=True)
