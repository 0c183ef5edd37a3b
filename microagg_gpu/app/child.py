"""The server's side of the worker: ask, stop, kill. It is started when it is first needed."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

LONGEST = 2**27  # characters of an answer


class Killed(Exception):
    """The worker ended in the middle of a request."""


class Child:
    """A worker. One request at a time; progress goes to a callback."""

    def __init__(self, folder: Path, receive: Callable[[dict[str, Any]], None]) -> None:
        self._folder, self._receive = folder, receive
        self._process: Process | None = None
        self._number = 0
        self._asked = False

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "microagg_gpu.app.worker", stdin=PIPE, stdout=PIPE,
                cwd=self._folder, limit=LONGEST, start_new_session=True,
            )  # fmt: skip
        return self._process

    async def warm(self) -> None:
        """Start the process before it is needed: its imports take a second."""
        await self._started()

    async def ask(self, do: str, plan: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        process = await self._started()
        self._number += 1
        self._asked = True
        try:
            self._send(process, {"request": self._number, "do": do, "plan": plan, **more})
            assert process.stdout is not None
            while line := await process.stdout.readline():
                message = json.loads(line)
                if message["request"] != self._number:
                    continue
                if {"done", "error", "stopped"} & set(message):
                    return message
                self._receive(message)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            self._asked = False
        await process.wait()
        raise Killed

    def stop(self) -> None:
        """Ask the worker to give up its request at the next occasion."""
        process = self._process
        if self._asked and process is not None and process.returncode is None:
            self._send(process, {"stop": self._number})

    async def kill(self) -> None:
        """End the process now, whatever it does."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    @staticmethod
    def _send(process: Process, message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
