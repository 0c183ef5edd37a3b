"""What requests bring: paths, names and bodies, taken only if they are what they should be."""

import json
import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from starlette.requests import Request

from ..errors import InputError


def below(start: Path, given: str) -> Path:
    """A file below a folder, by whatever links; what lies elsewhere is refused."""
    if "\0" in given or not given.strip():
        raise InputError("give the path of a file")
    root = Path(os.path.realpath(start))
    path = Path(os.path.realpath(root / given.strip()))
    if not path.is_relative_to(root) or path == root:
        raise InputError(
            f"{given} is not below {root}, where the app was started: start it there with "
            "microagg app FILE, or drop the file"
        )
    if not path.is_file():
        raise InputError(f"{given} does not exist, or is not a file")
    return path


def file_name(given: str) -> str:
    """The last part of a name, however it was written."""
    name = PureWindowsPath(PurePosixPath(given).name).name.replace("\0", "")
    name = "".join(c if c.isprintable() else "_" for c in name)
    while len(os.fsencode(name)) > 180:
        name = name[1:]
    if not name.strip(". "):
        raise InputError("the file has no name")
    return name


def plain_name(name: str) -> str:
    """A name for the header of an answer."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that a request holds."""
    try:
        body = json.loads(await request.body() or b"{}")
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise InputError("the request is not understood")
    return body


def text_of(body: dict[str, Any], name: str) -> str:
    """A text in it."""
    if not isinstance(body.get(name), str):
        raise InputError("the request is not understood")
    return body[name]


def mapping_of(body: dict[str, Any], name: str) -> dict[str, Any]:
    """An object in it; none by default."""
    if not isinstance(body.get(name, {}), dict):
        raise InputError("the request is not understood")
    return body.get(name, {})
