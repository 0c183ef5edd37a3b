"""Random calls of `microaggregate`, each checked by `checker`."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from microagg_gpu import DataWarning, InputError, microaggregate
from microagg_gpu.pipeline.result import Result

from .checker import Answer, Plan, check, verdict_faults
from .containers import Content, build, content, unused_categories
from .draw import ARRAYS, Case, draw
from .outcome import Outcome

ASKED, BATCH = 100_000, 1000  # each is two calls


@contextmanager
def setup(folder: Path) -> Iterator[None]:
    """Nothing is needed; integers at the end of their range are meant to be there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield


def describe(number: int) -> str:
    """What a case is."""
    return str(draw(number))


def run(number: int, state: Any = None) -> Outcome:
    """Make the call of a case, check what it returns, and make it again."""
    case = draw(number)
    data = build(case)
    before = content(data)
    try:
        result = call(case, data, case.engine)
    except InputError as error:
        return Outcome(refused=True, faults=_refusal_faults(case, before, data, str(error)))
    faults = check(case, before, answer_of(result))
    verdict = result.verdict
    faults += verdict_faults(case.k, content(result.protected), verdict.smallest, verdict.below)
    faults += [f"column {c!r} holds unused categories" for c in unused_categories(result.protected)]
    if content(data) != before:
        faults.append("the input was changed")
    compared = number % 5 == 0 and case.engine is None and case.n <= 40
    other = "generic" if compared and case.container != "strict" else case.engine
    again = call(case, build(case), other)
    if not np.array_equal(again.labels, result.labels):
        what = "the second call" if other == case.engine else "the generic engine"
        faults.append(f"{what} gives other labels")
    elif content(again.protected) != content(result.protected) or again.loss != result.loss:
        faults.append("a second call with the same labels publishes something else")
    return Outcome(faults=faults)


def _refusal_faults(case: Case, before: Content, data: Any, message: str) -> list[str]:
    """A refusal must be due, be one sentence and leave the data alone."""
    faults = [] if Plan(case).may_refuse else [f"was refused: {message}"]
    if "\n" in message or not message:
        faults.append(f"the message is not one line: {message!r}")
    if content(data) != before:
        faults.append("the input was changed")
    return faults


def call(case: Case, data: Any, engine: str | None) -> Result:
    """Call the library as a case says."""
    roles: dict[str, Any] = {
        "by": case.by or None, "sampling_weight": case.weight, "nominal": case.nominal,
        "ordinal": _orders(case), "variable_weights": case.variable_weights,
    }  # fmt: skip
    if case.form not in ("series", "flat"):
        roles["columns"] = case.protect
    roles["engine"] = engine
    return microaggregate(
        data,
        case.k,
        case.method,
        **roles,
        **case.settings,
        **case.options,
    )


def _orders(case: Case) -> Any:
    if all(order is None for order in case.ordinal.values()):
        return list(case.ordinal)
    return case.ordinal


def answer_of(result: Result) -> Answer:
    """What the checker wants to know of a result."""
    sizes = result.sizes if isinstance(result.sizes, list) else result.sizes.tolist()
    return Answer(
        content(result.protected), result.labels.tolist(), result.loss, result.sse, result.sst,
        [size.tolist() if isinstance(size, np.ndarray) else size for size in sizes],
        result.dropped, result.suppressed, len(result.merged),
    )  # fmt: skip


__all__ = ["ARRAYS", "describe", "run", "setup"]
