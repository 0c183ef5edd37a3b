"""Where compiled kernels are kept, by a key that changes with everything they are made from.

The key is a hash of the kernels' sources, whichever of them a kernel uses, with the versions of
Numba and Python. A folder has the key in its name, so what it holds is never stale; the type of
processor is in the names of the files. Nothing here imports Numba.
"""

import hashlib
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

_HERE = Path(__file__).parent
_KEPT = 8  # folders of other keys: other versions, or checkouts in development
EVERYTHING = "all"
"""The work that all other work is part of."""
_ready: set[str] = set()  # work that this process has done with compiled kernels


@cache
def key() -> str:
    """The key of the sources as they are when it is first asked for."""
    digest = hashlib.sha256(f"{version('numba')} {sys.implementation.cache_tag}".encode())
    for path in sorted(_HERE.rglob("*.py")):
        if "cuda" not in path.parts:
            digest.update(f"\0{path.relative_to(_HERE).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def folders() -> tuple[Path, ...]:
    """Where kernels are looked for, and kept in the first that can be written.

    The user's own cache, then the package's folder; or NUMBA_CACHE_DIR alone, if it is set.
    """
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        homes = [Path(named)]
    else:
        homes = [_users_cache(), _HERE / "__pycache__"]
    # Without sources (some installers keep the compiled ones only) nothing tells what is stale.
    sources = (_HERE / "cache.py").is_file()
    return tuple(home / "microagg-gpu" / key() for home in homes if sources and home.is_absolute())


def _users_cache() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", ""))
    if sys.platform == "darwin":
        return Path("~/Library/Caches").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))


def load(name: str) -> Iterator[bytes]:
    """What files of this name hold, in each of the folders that has one."""
    for folder in folders():
        with suppress(OSError):
            yield (folder / name).read_bytes()


def save(name: str, content: bytes) -> None:
    """Keep a file whole in the first folder that can be written; if there is none, do nothing."""
    for folder in folders():
        temporary = folder / f"{uuid.uuid4().hex}.tmp"
        try:
            if not folder.is_dir():
                folder.mkdir(parents=True)
                _remove_old(folder)
            temporary.write_bytes(content)
            temporary.replace(folder / name)
            return
        except OSError:
            with suppress(OSError):
                temporary.unlink()


def _remove_old(new: Path) -> None:
    """Remove the folders of other keys but for some that were changed last."""
    with suppress(OSError):
        others = [path for path in new.parent.iterdir() if path != new and path.is_dir()]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[_KEPT:]:
            shutil.rmtree(path, ignore_errors=True)


def is_ready(work: str) -> bool:
    """Whether the kernels for some work are compiled."""
    names = {work, EVERYTHING}
    return bool(names & _ready) or any(True for name in names for _ in load(f"{name}.ready"))


def set_ready(work: str) -> None:
    """Note that some work was done with compiled kernels."""
    if not is_ready(work):
        save(f"{work}.ready", b"")
    _ready.add(work)
