"""One user at work: the file, what was decided, what was tried, and what runs."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..datasets import survey
from ..settings import Missing
from .child import Child, Killed
from .plan import Choices, Plan
from .progress import Busy

Figures = dict[str, Any]
SKETCHED = (3, 4, 5, 6, 7, 8, 9, 10)
"""The k of the curves, as far as they are possible."""
SKETCHED_METHODS = ("mdav", "vmdav", "centroid", "path", "kward")
SMALL = 5_000
"""Records up to which other methods are tried unasked."""
ENDED = "The work ended unexpectedly, perhaps for want of memory."


class Session:
    """All that the pages show. Methods change it and notify the open pages."""

    def __init__(self, folder: Path, start: Path) -> None:
        self.folder, self.start = folder, start
        self.version = 0
        self.ended = asyncio.Event()
        self._watchers: set[asyncio.Event] = set()
        self._wanted: Callable[[], Awaitable[None]] | None = None
        self._wake = asyncio.Event()
        self.child = Child(folder, self._progress)
        self.busy: Busy | None = None
        self.jobs = 0
        self._forget()

    def _forget(self) -> None:
        """No file is open."""
        self.plan: Plan | None = None
        self.name = ""
        self.origin = ""  # "dropped", "here" or "sample"
        self.described: dict[str, Any] | None = None
        self.open_error: list[Any] = []
        self.warnings: list[str] = []
        self.checked: dict[str, Any] | None = None
        self.limits: dict[str, Any] | None = None
        self.tries: dict[str, Figures] = {}
        self.sketches: dict[str, Figures] = {}
        self.bounds: dict[str, float | None] = {}
        self.shown = ""  # the try whose figures are shown
        self.try_error: list[Any] = []
        self.result: dict[str, Any] | None = None
        self.result_folder: Path | None = None
        self.protect_error: list[Any] = []
        self.cancelled = ""

    # What the pages are notified of

    def changed(self) -> None:
        """Notify the pages that something is new."""
        self.version += 1
        for watcher in self._watchers:
            watcher.set()

    def watch(self) -> asyncio.Event:
        """An event that is set at every change, until `unwatch`."""
        event = asyncio.Event()
        self._watchers.add(event)
        return event

    def unwatch(self, event: asyncio.Event) -> None:
        """Stop setting it."""
        self._watchers.discard(event)

    def _progress(self, message: dict[str, Any]) -> None:
        if self.busy is not None:
            self.busy.take(message)
        self.changed()

    # Working

    async def work(self) -> None:
        """Do what is wanted last, for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            wanted, self._wanted = self._wanted, None
            if wanted is not None:
                try:
                    await wanted()
                finally:
                    self.busy = None
                    self.changed()

    def want(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do this next, and give up what runs."""
        self._wanted = work
        self.child.stop()
        self._wake.set()

    async def _ask(self, do: str, plan: Plan, **more: Any) -> dict[str, Any]:
        try:
            return await self.child.ask(do, plan.as_json(), **more)
        except Killed:
            return {"error": [ENDED], "warnings": []}

    async def cancel(self) -> None:
        """End what runs, at once."""
        if self.busy is not None:
            now = self.busy.now()
            done = f" during “{now.name}”" if now is not None else ""
            self.cancelled = f"Stopped{done}. Nothing was written."
            self._wanted = None
            await self.child.kill()
            await self.child.warm()
        self.changed()

    # Opening

    def new_folder(self, kind: str) -> Path:
        """A new folder in that of the session."""
        self.jobs += 1
        path = self.folder / f"{kind}-{self.jobs}"
        path.mkdir(mode=0o700)
        return path

    def open(self, path: Path, origin: str) -> None:
        """Open a file, in the place of the one that is open."""
        self._forget_files(path)
        self._forget()
        self.plan, self.name, self.origin = Plan(str(path)), path.name, origin
        self.want(self._open)

    def _forget_files(self, but: Path) -> None:
        """Remove what belongs to the file that was open."""
        for kind in ("upload", "job"):
            for path in self.folder.glob(f"{kind}-*"):
                if path not in but.parents:
                    shutil.rmtree(path, ignore_errors=True)

    def open_sample(self) -> None:
        """Open the simulated survey."""
        path = self.new_folder("upload") / "companies.csv"
        survey.write(path)
        self.open(path, "sample")

    def reopen(self, form: dict[str, str]) -> None:
        """Read the file again with another delimiter, encoding or decimal mark."""
        if self.plan is not None:
            old, origin = self.plan, self.origin
            known = {n: form.get(n, getattr(old, n)) for n in ("delimiter", "encoding", "decimal")}
            path = Path(old.source)
            self._forget()
            self.plan, self.name, self.origin = Plan(str(path), **known), path.name, origin
            self.want(self._open)

    async def _open(self) -> None:
        assert self.plan is not None
        self.busy = Busy("open")
        self.changed()
        plan = self.plan
        answer = await self._ask("open", plan)
        if self.plan is not plan or "stopped" in answer:
            return
        self.open_error = answer.get("error", [])
        if "done" in answer:
            self.described = answer["done"]
            columns = self.described["columns"]
            roles = {column["name"]: column["role"] for column in columns}
            orders = {c["name"]: c["categories"] for c in columns if c["categories"]}
            choices = Choices(average_weight=True, missing=self._missing(roles))
            self.plan = replace(plan, roles=roles, orders=orders, choices=choices)
            await self._check()

    def _missing(self, roles: dict[str, Any]) -> Missing:
        protected = ("protect", "ordinal", "nominal")
        gaps = any(
            column["missing"] and roles[column["name"]] in protected
            for column in (self.described or {"columns": []})["columns"]
        )
        chosen = self.plan.choices.missing if self.plan is not None else "error"
        return chosen if gaps and chosen != "error" else "pattern" if gaps else "error"

    # Columns

    def set_roles(self, roles: dict[str, Any], orders: dict[str, list[str]]) -> None:
        """Change what columns are; tries with other roles stay in the list."""
        assert self.plan is not None
        choices = replace(self.plan.choices, missing=self._missing(roles))
        self.plan = replace(self.plan, roles=roles, orders=orders, choices=choices)
        self.limits, self.shown, self.try_error = None, "", []
        self.want(self._check)

    async def _check(self) -> None:
        assert self.plan is not None
        plan = self.plan
        answer = await self._ask("check", plan)
        if self.plan is plan and "done" in answer:
            self.checked = answer["done"]
        self.changed()

    # Exploring

    def key(self, choices: Choices | None = None) -> str:
        """What makes a try this one and no other."""
        assert self.plan is not None
        plan = self.plan if choices is None else replace(self.plan, choices=choices)
        return json.dumps(plan.as_json())

    def choose(self, choices: Choices) -> None:
        """Try other settings."""
        assert self.plan is not None
        before = self.plan.choices
        self.plan = replace(self.plan, choices=choices)
        if (before.missing, before.small_strata) != (choices.missing, choices.small_strata):
            self.limits = None
        self.explore()

    def go_back(self, key: str) -> None:
        """Take the settings of an earlier try, and its columns."""
        if key in self.tries:
            self.plan = Plan.from_json(json.loads(key))
            self.limits, self.checked = None, None
            self.explore()

    def explore(self) -> None:
        """Show the figures of the plan, and compute them if they are not known."""
        self.cancelled = ""
        self.try_error = []
        if self.key() in self.tries:
            self.shown = self.key()
        self.changed()
        self.want(self._explore)

    async def _explore(self) -> None:
        assert self.plan is not None
        plan, key = self.plan, self.key()
        self.busy = Busy("explore")
        self.changed()
        if self.limits is None:
            answer = await self._ask("limits", plan)
            self.limits, self.try_error = answer.get("done"), answer.get("error", [])
            if self.limits is None:
                return
            self._fit_k()
            plan, key = self.plan, self.key()
        if key not in self.tries:
            answer = await self._ask("try", plan, full=True)
            self.try_error = answer.get("error", [])
            self.warnings = answer.get("warnings", [])
            if "done" not in answer:
                return
            self.tries[key] = answer["done"]
        self.shown = key
        self.busy = Busy("sketch")
        self.changed()
        await self._sketch(plan)

    def _fit_k(self) -> None:
        """Begin with a k that is possible."""
        assert self.plan is not None
        assert self.limits is not None
        choices, most = self.plan.choices, self.limits["most"]
        if not self.tries and choices.k > most >= 2:
            choices = replace(choices, k=most)
        if choices.method not in self.limits["methods"]:
            choices = replace(choices, method="mdav")
        if self.limits["mixed"]:
            choices = replace(choices, refine=False)
        self.plan = replace(self.plan, choices=choices)

    async def _sketch(self, plan: Plan) -> None:
        """Fill in the curves: other k, then other methods, then the bound."""
        for choices in self._sketched(plan):
            if self._wanted is not None:
                return
            key = self.key(choices)
            if key not in self.tries and key not in self.sketches:
                answer = await self._ask("try", replace(plan, choices=choices), full=False)
                if "stopped" in answer:
                    return
                if "done" in answer:
                    self.sketches[key] = answer["done"]
                    self.changed()
        key = self.bound_key()
        if self._wanted is None and key not in self.bounds:
            answer = await self._ask("bound", plan)
            if "done" in answer:
                self.bounds[key] = answer["done"]

    def _sketched(self, plan: Plan) -> list[Choices]:
        assert self.limits is not None
        chosen = plan.choices
        sizes = [k for k in SKETCHED if k <= self.limits["most"]]
        curve = [replace(chosen, k=k) for k in sizes]
        if self.limits["sample"] > SMALL:
            return curve
        methods = [m for m in SKETCHED_METHODS if m in self.limits["methods"]]
        others = [replace(chosen, method=m, refine=False) for m in methods]
        return curve + others + [replace(c, k=k) for c in others for k in sizes]

    def bound_key(self) -> str:
        """What the bound depends on."""
        assert self.plan is not None
        c = self.plan.choices
        return self.key(Choices(c.k, missing=c.missing, small_strata=c.small_strata))

    # Protecting

    def protect(self) -> None:
        """Protect the file with the settings that are chosen."""
        self.protect_error, self.cancelled, self.result = [], "", None
        self.want(self._protect)
        self.busy = Busy("protect")
        self.changed()

    async def _protect(self) -> None:
        assert self.plan is not None
        self.busy = Busy("protect")
        self.changed()
        folder = self.new_folder("job")
        answer = await self._ask("protect", self.plan, folder=str(folder))
        if "done" not in answer:
            shutil.rmtree(folder, ignore_errors=True)
            self.protect_error = [] if self.cancelled else answer.get("error", [])
            return
        if self.result_folder is not None:
            shutil.rmtree(self.result_folder, ignore_errors=True)
        self.result, self.result_folder = answer["done"], folder
        self.result["label"] = self.plan.choices.label
        self.result["k"] = self.plan.choices.k
