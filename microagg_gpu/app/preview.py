"""A try: the groups of some settings, measured as in a report, and nothing written."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.columns import NUMBER, Table
from ..data.strata import divide
from ..data.table import read
from ..files.data_file import DataFile
from ..files.identifiers import identifying_columns
from ..files.verdict import count_k
from ..kernels import to_numpy
from ..measures import dominance
from ..pipeline.comparison import SAMPLE, sample_rows, variants
from ..pipeline.problem import prepare
from ..pipeline.protection import protect
from ..pipeline.provenance import left_out
from ..pipeline.refinement import least_loss
from ..pipeline.result import Result
from ..progress import Phases
from ..settings import Roles, Settings
from ..tasks.columns import decimals_of, find_roles, published, rounding
from .plan import Plan

BOUNDED = 5_000
"""Records up to which a lower bound is computed: it takes seconds."""


class Prepared:
    """The records of a file with the roles of a plan, ready for tries."""

    def __init__(self, file: DataFile, plan: Plan) -> None:
        self.file = file
        data, self.roles = find_roles(
            file, plan.library_roles(), plan.having("drop"), plan.choices.missing
        )
        self.rounded = rounding("input", True, decimals_of(file, data, self.roles))
        self.whole: Table = read(data, Roles(**self.roles))
        self.sampled = self.whole.values.shape[0] > SAMPLE
        self.table = self.whole
        if self.sampled:
            self.table = read(data.take(sample_rows(self.whole)), Roles(**self.roles))

    def settings(self, plan: Plan) -> Settings:
        """Those of a plan; strata that are too small in a sample only are left out of it."""
        given = replace(plan.settings(), **self.rounded)
        return replace(given, small_strata="suppress") if self.sampled else given

    def limits(self, plan: Plan) -> dict[str, Any]:
        """How large k can be, and why; and the methods that fit."""
        values = to_numpy(self.whole.values)
        cells = divide(self.whole, 1, plan.choices.missing, "merge")
        smallest = int(cells.sizes.argmin())
        most = len(cells.kept)
        if plan.choices.small_strata == "error":
            most = int(cells.sizes[smallest])
        elif plan.choices.small_strata == "suppress":
            most = int(cells.sizes.max())
        methods = list(dict.fromkeys(name for name, _ in variants("all", self.table)))
        return {
            "most": most, "records": len(values), "sample": self.table.values.shape[0],
            "sampled": self.sampled, "strata": len(cells.names), "smallest": cells.names[smallest],
            "methods": methods, "mixed": self.whole.mixed,
            "missing": bool(np.isnan(values).any()), "names": self.whole.names,
            "small": int((cells.sizes < plan.choices.k).sum()),
        }  # fmt: skip


def figures(prepared: Prepared, plan: Plan, phase: Phases, full: bool) -> dict[str, Any]:
    """What a try loses and risks.

    Parameters
    ----------
    full : bool
        Whether variables, and what is still given away, are wanted too.
    """
    settings = prepared.settings(plan)
    if prepared.sampled:  # what the whole file would be refused for
        choices = plan.choices
        divide(prepared.whole, settings.k, choices.missing, choices.small_strata)
    with phase(f"{plan.choices.label}, k = {settings.k}") as progress:
        result = protect(prepare(prepared.table, settings), settings, progress, progress)
    sizes = result.sizes
    found: dict[str, Any] = {
        "k": settings.k, "method": plan.choices.label, "loss": result.loss,
        "groups": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max()),
        "records": len(prepared.table.values), "of": prepared.whole.values.shape[0],
        "seconds": result.seconds,
    }  # fmt: skip
    with phase("measuring utility and risk") as progress:
        if not full:
            return {**found, "risk": 100 * result.linkage(progress).share}
        content = result.report(progress=progress)
        found |= {
            "risk": content["risk"]["linkage"], "ceiling": content["risk"]["linkage_at_most"],
            "variables": content["by_variable"], "densities": content["densities"],
            "categories": content["categories"], "given": _given_away(prepared, plan, result),
        }  # fmt: skip
    return found


def _given_away(prepared: Prepared, plan: Plan, result: Result) -> dict[str, Any]:
    """What is known of single records although each is in a group of k."""
    file, numbers = prepared.file, prepared.table.kinds == NUMBER
    kept = result.labels >= 0
    names = [name for name, number in zip(result.names, numbers, strict=True) if number]
    values = to_numpy(prepared.table.values)[kept][:, numbers]
    found = dominance(values, result.labels[kept]) if names else None
    rows = []
    if found is not None:
        places = np.flatnonzero(kept)[found.record].tolist()
        where = [""] * len(names) if prepared.sampled else file.places(places)
        rows = [
            {
                "name": name, "dominated": int(found.groups[j]), "equal": int(found.equal[j]),
                "share": 100 * float(found.share[j]), "where": where[j],
            }
            for j, name in enumerate(names)
        ]  # fmt: skip
    dropped = plan.having("drop")
    verdict = None
    if not prepared.sampled:
        new = published(file, result, dropped, None, plan.having("stratum"), False)
        counted = count_k(new.table, result.k, result.views(dropped))
        verdict = {"word": counted.word, "sentence": str(counted)}
    return {
        "verdict": verdict, "variables": rows, "merged": result.merged,
        "left_out": left_out(result.dropped, result.suppressed),
        "identifying": identifying_columns(file.table, plan.having("keep")),
    }  # fmt: skip


def bound(prepared: Prepared, plan: Plan, phase: Phases) -> float | None:
    """A lower bound on the loss of any grouping; None if it is not known or takes too long."""
    table = prepared.table
    if table.mixed or len(table.values) > BOUNDED:
        return None
    with phase(f"the lower bound for k = {plan.choices.k}") as progress:
        return least_loss(prepare(table, prepared.settings(plan)), progress)
