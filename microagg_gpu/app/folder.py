"""The folder of a session: private, removed at the end, or by the next start after a kill.

It lies in a folder that only its owner may enter. A session's folder is locked while its process
lives, so a second start finds the first, and whatever killed ones left behind.
"""

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import InputError
from ..files.atomic import remove_leftovers, temporary_folder

ADDRESS, TOKEN = "address", "token"


def home() -> Path:
    """The folder that holds the sessions of this user, and nobody else's."""
    user = os.getuid() if hasattr(os, "getuid") else os.getpid()  # Windows has no locks
    path = Path(tempfile.gettempdir()) / f"microagg-app-{user}"
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    mine = not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o077)
    if not stat.S_ISDIR(found.st_mode) or not mine:
        raise InputError(
            f"{path} belongs to somebody else, or others may enter it: remove it, or set TMPDIR to "
            "a folder of your own"
        )
    return path


def running() -> Path | None:
    """The folder of a session that runs already."""
    place = home()
    remove_leftovers(place)
    return next((path.parent for path in place.glob(f".*/{ADDRESS}")), None)


@contextmanager
def session_folder() -> Iterator[Path]:
    """A new folder, which lasts as long as this."""
    place = home()
    try:
        with temporary_folder(place, place / "session") as folder:
            folder.chmod(0o700)
            yield folder
    finally:
        with suppress(OSError):  # another session has begun
            place.rmdir()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read; it appears whole."""
    made = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
    os.replace(made, path)


def new_token(folder: Path) -> str:
    """A token that lets one browser in, once. Who can write it here is the owner."""
    token = secrets.token_urlsafe(24)
    write_private(folder / TOKEN, token)
    return token


def use_token(folder: Path, given: str) -> bool:
    """Whether this is the token; it is none from now on."""
    try:
        expected = (folder / TOKEN).read_text()
    except OSError:
        return False
    if not secrets.compare_digest(expected.encode(), given.encode()):
        return False
    (folder / TOKEN).unlink()
    return True


def entrance(folder: Path) -> str:
    """The address that lets one browser in."""
    return f"{(folder / ADDRESS).read_text()}/?token={new_token(folder)}"
