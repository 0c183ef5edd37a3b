"""What each column of a file seems to be: a role for it, and why."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError, Option
from ..files import numbers
from ..files.counting import group_codes
from ..files.data_file import DataFile
from ..files.identifiers import identifying_columns, is_identifier, is_weight
from ..files.verdict import count_k
from .plan import Plan, Role

FEW = 30  # categories of a stratum, at most
USUAL_K = 5
BINS = 14
SHOWN = 3


def describe(file: DataFile) -> dict[str, Any]:
    """The columns of a file, each with a suggested role and the reason for it."""
    names = file.table.column_names
    numeric = set(file.numeric_columns())
    identifying = identifying_columns(file.table, names)
    taken: dict[Role, list[str]] = {"weight": [], "stratum": []}
    columns = []
    for name in names:
        facts = _facts(file, name, name in numeric)
        role, why = _suggest(file, name, facts, identifying.get(name, ""), taken)
        taken.setdefault(role, []).append(name)
        columns.append({**facts, "role": role, "why": why, "mark": _other_mark(file, name, facts)})
    return {
        "records": file.table.num_rows,
        "form": None if file.text is None else {
            "delimiter": file.text.delimiter, "encoding": file.text.encoding,
            "decimal": file.text.decimal,
        },
        "columns": columns,
    }  # fmt: skip


def _facts(file: DataFile, name: str, numeric: bool) -> dict[str, Any]:
    """Type, examples, missing values, distinct values and a histogram of a column."""
    column = file.table[name]
    if numeric:
        values = file.with_numbers([name])[name]
        whole = pa.types.is_integer(values.type)
        known = values.drop_null().cast(pa.float64(), safe=False).to_numpy()
        kind = "whole numbers" if whole else "numbers"
        missing, distinct = values.null_count, len(np.unique(known))
        drawn = _histogram(known)
    else:
        texts = _texts(column)
        known, kind = texts, "text" if file.text is not None else str(column.type)
        missing = len(column) - len(texts)
        counts = pc.value_counts(texts).to_pylist() if len(texts) else []
        counts.sort(key=lambda entry: -entry["counts"])
        distinct = len(counts)
        drawn = [{"from": entry["values"], "count": entry["counts"]} for entry in counts[:BINS]]
    return {
        "name": name, "kind": kind, "numeric": numeric, "missing": missing, "distinct": distinct,
        "examples": _examples(column),
        "histogram": drawn,
        "negative": numeric and bool((known < 0).any()),
        "zeros": int((known == 0).sum()) if numeric else 0,
        "categories": [] if numeric or distinct > FEW else sorted(b["from"] for b in drawn),
    }  # fmt: skip


def _examples(column: pa.ChunkedArray) -> list[str]:
    """The first few different values."""
    some = dict.fromkeys(str(value.as_py())[:40] for value in column.slice(0, 100))
    return [text for text in some if text.strip()][:SHOWN]


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a column as texts, without those that are missing."""
    try:
        texts = column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        texts = pa.chunked_array([[str(value) for value in column.to_pylist()]], pa.string())
    texts = texts.drop_null()
    return texts.filter(pc.not_equal(pc.utf8_trim_whitespace(texts), ""))


def _histogram(values: np.ndarray) -> list[dict[str, Any]]:
    """Counts in classes over the middle 98 %; the first and the last hold what is beyond."""
    if not len(values):
        return []
    low, high = np.percentile(values, [1, 99])
    if not low < high:
        low, high = values.min(), values.max()
    if not low < high:
        return [{"from": float(low), "to": float(low), "count": len(values)}]
    # Skewed amounts are easier to see in classes of equal ratio.
    skewed = values.min() > 0 and high > 20 * low and np.median(values) < (low + high) / 6
    edges = np.geomspace(low, high, BINS + 1) if skewed else np.linspace(low, high, BINS + 1)
    edges[0], edges[-1] = low, high
    counts = np.histogram(np.clip(values, low, high), edges)[0]
    return [
        {"from": float(a), "to": float(b), "count": int(count)}
        for a, b, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def _other_mark(file: DataFile, name: str, facts: dict[str, Any]) -> str:
    """The decimal mark, if a column of text would hold numbers with another one."""
    if file.text is None or facts["numeric"] or not facts["distinct"]:
        return ""
    for cell in _texts(file.table[name]).slice(0, 100).to_pylist():
        for part in numbers.advice(cell, file.text.decimal):
            if isinstance(part, Option) and part.name == "decimal":
                return str(part.value)
    return ""


def _suggest(
    file: DataFile, name: str, facts: dict[str, Any], identifying: str, taken: dict[Role, list[str]]
) -> tuple[Role, str]:
    column, records = file.table[name], file.table.num_rows
    few = facts["distinct"] <= min(FEW, max(2, records // 10))
    if not facts["distinct"]:
        return "drop", "Empty."
    if not name.strip():
        return "drop", "It has no name, as an index that was written."
    if is_weight(name) and facts["numeric"] and not facts["negative"] and not taken["weight"]:
        many = " Almost unique: it is averaged within groups." * (not few)
        return "weight", f"Its name says weight, and it holds positive numbers.{many}"
    if facts["numeric"]:
        numbered = is_identifier(name, column) and not is_weight(name)
        if numbered and not few:
            return "drop", "Its name or its values say that it numbers the records."
        if numbered and _fits(file, [*taken["stratum"], name]):
            return "stratum", "Few codes."
        return "protect", _amount(facts)
    if identifying:
        return "drop", f"It {identifying}: it identifies."
    if not few:
        return "drop", f"{facts['distinct']:,} different texts: together with others they identify."
    if _fits(file, [*taken["stratum"], name]):
        return "stratum", "Few categories."
    return "nominal", (
        f"Few categories; as a stratum it would leave strata of fewer than {USUAL_K} records."
    )


def _amount(facts: dict[str, Any]) -> str:
    kind = "Count: published as whole numbers" if facts["kind"] == "whole numbers" else "Amount"
    parts = [kind + ", also negative" * facts["negative"]]
    if facts["missing"]:
        parts.append("records are grouped with those that miss it too")
    if 5 * facts["zeros"] > sum(bin["count"] for bin in facts["histogram"]):
        parts.append("with many zeros: look at dominance")
    return "; ".join(parts) + "."


def _fits(file: DataFile, strata: list[str]) -> bool:
    """Whether each combination of values has enough records."""
    return int(np.bincount(group_codes(file.table, strata)).min()) >= USUAL_K


def check(file: DataFile, plan: Plan) -> dict[str, Any]:
    """What the roles mean together: strata, and kept columns that identify or break k.

    Returns
    -------
    dict
        "strata" (how many), "smallest" (records of the smallest), "kept" (a sentence about kept
        columns together, or nothing), and "identifying": what identifies, by column.
    """
    strata, kept = plan.having("stratum"), plan.having("keep")
    try:
        plan.library_roles()
        refusal = ""
    except InputError as error:
        refusal = str(error)
    sizes = np.bincount(group_codes(file.table, strata))
    k = plan.choices.k
    sentence = ""
    if kept:
        alone = count_k(file.table.select([*strata, *kept]), k, [[*strata, *kept]])
        if alone.below:
            sentence = (
                f"{alone.below:,} of {alone.records:,} records share {' + '.join([*strata, *kept])}"
                f" with fewer than {k - 1} others. Published as they are, these columns break k."
            )
    weights = plan.having("weight")
    if weights and not plan.choices.average_weight:
        alone = count_k(file.table.select([*strata, *weights]), k, [[*strata, *weights]])
        if alone.below:
            sentence += (
                f" {' + '.join([*strata, *weights])} would single out records, "
                f"{alone.below:,} of {alone.records:,}: average the weight within groups."
            )
    return {
        "strata": len(sizes) if strata else 0, "smallest": int(sizes.min()), "kept": sentence,
        "identifying": identifying_columns(file.table, kept), "refusal": refusal,
    }  # fmt: skip
