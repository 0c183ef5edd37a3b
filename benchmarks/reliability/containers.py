"""The data of a case in every kind of array and frame, and back as plain lists."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

from .draw import ARRAYS, Case

MODULES = {
    "torch": "torch", "strict": "array_api_strict", "pandas": "pandas", "nullable": "pandas",
    "arrow-backed": "pandas", "polars": "polars",
}  # fmt: skip
NULLABLE = {"float64": "Float64", "float32": "Float32", "text": "string"}


@dataclass
class Content:
    """A table as plain lists, with what else must survive."""

    columns: dict[Any, list[Any]]
    types: dict[Any, str]
    index: list[Any]


def build(case: Case) -> Any:
    """The case's data in its container; in NumPy or Arrow where a library is not installed."""
    container = case.container
    if container in MODULES and not _installed(MODULES[container]):
        container = "numpy" if container in ARRAYS else "pyarrow"
    if container in ARRAYS:
        return _array(case, container)
    if container == "pyarrow":
        return pa.table({name: _arrow(case, name) for name in case.columns})
    if container == "polars":
        return _polars(case)
    return _pandas(case, container)


@cache
def _installed(module: str) -> bool:
    return find_spec(module) is not None


def _array(case: Case, container: str) -> Any:
    matrix = np.stack([_plain(case, name) for name in case.columns], axis=1)
    if container == "list":
        return matrix.tolist()
    if container == "torch":
        return import_module("torch").from_numpy(np.ascontiguousarray(matrix))
    if container == "strict":
        return import_module("array_api_strict").asarray(matrix)
    if case.form == "fortran":
        return np.asfortranarray(matrix)
    if case.form == "view":
        wide = np.repeat(np.repeat(matrix, 2, axis=0), 2, axis=1)
        return wide[::2, ::2]
    if case.form == "readonly":
        matrix.flags.writeable = False
    return matrix[:, 0] if case.form == "flat" else matrix


def _plain(case: Case, name: Any) -> np.ndarray:
    values, type_ = case.columns[name], case.types[name]
    if type_ in ("text", "category", "ordered"):
        return np.array(values, dtype=object)
    if type_.startswith("float"):
        return np.array([np.nan if value is None else value for value in values], dtype=type_)
    return np.array(values, dtype=type_)


def _arrow(case: Case, name: Any) -> pa.Array:
    values, type_ = case.columns[name], case.types[name]
    if type_ in ("text", "category", "ordered"):
        texts = pa.array(values, pa.string())
        if type_ == "text":
            return texts
        known = _categories(case, name)
        codes = pa.array([None if v is None else known.index(v) for v in values], pa.int32())
        return pa.DictionaryArray.from_arrays(codes, pa.array(known, pa.string()),
                                              ordered=type_ == "ordered")  # fmt: skip
    return pa.array(values, {"float64": pa.float64(), "float32": pa.float32()}.get(
        type_) or pa.type_for_alias(type_))  # fmt: skip


def _categories(case: Case, name: Any) -> list[str]:
    if case.types[name] == "ordered":
        return ["low", "middle", "high"]
    return sorted({value for value in case.columns[name] if value is not None})


def _polars(case: Case) -> Any:
    polars = import_module("polars")
    series = []
    for name, values in case.columns.items():
        type_ = case.types[name]
        if type_ == "ordered":
            kind = polars.Enum(_categories(case, name))
        elif type_ == "category":
            kind = polars.Categorical
        else:
            kind = polars.String if type_ == "text" else getattr(
                polars, type_.capitalize().replace("Uint", "UInt"))  # fmt: skip
        series.append(polars.Series(name, values, dtype=kind))
    return series[0] if case.form == "series" else polars.DataFrame(series)


def _pandas(case: Case, container: str) -> Any:
    pd = import_module("pandas")
    data = {}
    for name, values in case.columns.items():
        type_ = case.types[name]
        if type_ in ("category", "ordered"):
            known = _categories(case, name)
            data[name] = pd.Categorical(values, known, ordered=type_ == "ordered")
        elif container == "arrow-backed":
            data[name] = pd.array(values, dtype=pd.ArrowDtype(_arrow(case, name).type))
        elif container == "nullable":
            kind = NULLABLE.get(type_, type_.capitalize().replace("Uint", "UInt"))
            data[name] = pd.array([pd.NA if v is None else v for v in values], dtype=kind)
        else:
            data[name] = _plain(case, name)
    frame = pd.DataFrame(data, index=_index(pd, case.form, case.n))
    return frame.iloc[:, 0] if case.form == "series" else frame


def _index(pd: Any, form: str, n: int) -> Any:
    if form == "texts":
        return pd.Index([f"r{i % 7}{i}" for i in range(n)], name="key")
    if form == "repeated":
        return pd.Index([i // 3 for i in range(n)])
    if form == "pairs":
        return pd.MultiIndex.from_tuples([(i % 2, f"r{i}") for i in range(n)], names=["a", None])
    if form == "dates":
        return pd.date_range("2020-02-28", periods=n)
    return pd.RangeIndex(n, 0, -1) if form == "backwards" else None


def content(data: Any) -> Content:
    """What a container holds."""
    if isinstance(data, list):
        return _array_content(data, "list")
    module = type(data).__module__.split(".")[0]
    if module == "pandas":
        return _pandas_content(data)
    if module == "polars":
        frame = data.to_frame() if type(data).__name__ == "Series" else data
        return Content(
            {name: _none(frame[name].to_list()) for name in frame.columns},
            {name: str(kind).partition("(categories")[0] for name, kind in frame.schema.items()},
            [],
        )  # fmt: skip
    if module == "pyarrow":
        return Content(
            {name: _none(data[name].to_pylist()) for name in data.column_names},
            {name: str(data[name].type) for name in data.column_names}, [],
        )  # fmt: skip
    if module == "array_api_strict":
        data = np.from_dlpack(data)
    array = np.asarray(data)
    rows = array.reshape(-1, 1) if array.ndim == 1 else array
    return _array_content(rows.T.tolist(), str(array.dtype), columns=True)


def unused_categories(data: Any) -> list[Any]:
    """Columns whose type holds categories that no record has."""
    module = type(data).__module__.split(".")[0]
    if module == "pandas" and data.ndim == 2:
        return [name for name in data.columns if hasattr(data[name], "cat")
                and set(data[name].cat.categories) - set(data[name])]  # fmt: skip
    if module == "polars" and type(data).__name__ == "DataFrame":
        return [name for name, kind in data.schema.items() if type(kind).__name__ == "Enum"
                and set(kind.categories) - set(data[name])]  # fmt: skip
    if module == "pyarrow":
        return [name for name in data.column_names for chunk in data[name].chunks
                if hasattr(chunk, "dictionary")
                and set(chunk.dictionary.to_pylist()) - set(chunk.to_pylist())]  # fmt: skip
    return []


def _array_content(rows: list[Any], type_: str, columns: bool = False) -> Content:
    if not columns:
        rows = [list(column) for column in zip(*rows, strict=True)]
    found = {j: _none(column) for j, column in enumerate(rows)}
    return Content(found, dict.fromkeys(found, type_), [])


def _pandas_content(data: Any) -> Content:
    frame = data.to_frame() if data.ndim == 1 else data
    missing = import_module("pandas").NA
    names = list(frame.columns)
    lists = [frame.iloc[:, j].tolist() for j in range(len(names))]
    index = [type(frame.index).__name__, list(frame.index.names), frame.index.tolist()]
    return Content(
        {
            name: _none([None if value is missing else value for value in values])
            for name, values in zip(names, lists, strict=True)
        },
        {name: str(frame.dtypes.iloc[j]) for j, name in enumerate(names)},
        index,
    )


def _none(values: list[Any]) -> list[Any]:
    """The values with None for NaN."""
    return [None if value is None or value != value else value for value in values]
