"""What was done so far, in a JSON file: by commit and part."""

import json
import re
from pathlib import Path
from typing import Any

from ..common import load, machine_line, write

KEPT = 50  # descriptions of wrong cases of a part


def without_paths(text: str) -> str:
    """A text with only the last parts of paths: where a machine keeps its files is of no use."""
    return re.sub(r"(?:/[^\s/'\":,;]+)+/", "", text)


class Records:
    """The results of a commit, saved after every batch."""

    def __init__(self, path: Path, of: str) -> None:
        self._path = path
        self.all: dict[str, Any] = {"commits": {}}
        if path.exists():
            self.all = json.loads(path.read_text(encoding="utf-8"))
        self.commit = of

    def part(self, name: str) -> dict[str, Any]:
        """The row of a part."""
        known = self.all["commits"].get(self.commit, {}).get("parts", {})
        return known.get(name) or {
            "done": 0, "refused": 0, "wrong": 0, "wrong_cases": [], "seconds": 0.0, "load": 0.0,
        }  # fmt: skip

    def add(self, name: str, rows: list[dict[str, Any]], seconds: float, last: int) -> None:
        """Add a batch that ends before case number `last`, and save."""
        row = self.part(name)
        wrong = [one for one in rows if one["faults"]]
        total = row["seconds"] + seconds
        if total > 0:  # the mean over the time
            row["load"] = (row["load"] * row["seconds"] + load() * seconds) / total
        row["seconds"], row["done"] = total, last
        row["refused"] += sum(one["refused"] for one in rows)
        row["wrong"] += len(wrong)
        room = KEPT - len(row["wrong_cases"])
        row["wrong_cases"] += [
            {"case": one["case"], "what": without_paths("; ".join(one["faults"]))[:400]}
            for one in wrong[:room]
        ]
        of = self.all["commits"].setdefault(self.commit, {"parts": {}})
        of["machine"] = machine_line()
        of["parts"][name] = row
        write(self._path, json.dumps(self.all, indent=1, ensure_ascii=False) + "\n")
