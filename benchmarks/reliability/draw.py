"""Random calls: case number i is always the same data and settings. Imports no library code."""

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ARRAYS = ("numpy", "list", "torch", "strict")
FRAMES = ("pandas", "nullable", "arrow-backed", "polars", "pyarrow")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# How often each method is drawn: those that take longer come less often.
METHODS = {
    "mdav": 30, "vmdav": 9, "fixed": 5, "optimal": 5, "individual": 8, "projection": 9,
    "kward": 8, "diameter": 6, "centroid": 6, "mst": 5, "path": 3, "genetic": 3, "tsp": 1.0,
    "best": 0.4,
}  # fmt: skip
UNIVARIATE = ("fixed", "optimal")
ORDERS = ("nearest", "tour", "mdav", "mdav-tour", "curve")


@dataclass
class Case:
    """A call: the data as lists (None is a missing value), and what is asked for."""

    number: int
    container: str
    columns: dict[Any, list[Any]] = field(default_factory=dict)
    types: dict[Any, str] = field(default_factory=dict)
    protect: list[Any] = field(default_factory=list)
    by: list[Any] = field(default_factory=list)
    weight: Any = None  # a column, or a number for each record
    ordinal: dict[Any, list[Any] | None] = field(default_factory=dict)
    nominal: list[Any] = field(default_factory=list)
    k: int = 3
    method: str = "mdav"
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    variable_weights: list[float] | None = None
    form: str = ""  # of the container: index, order in memory, ...
    engine: str | None = None

    @property
    def n(self) -> int:
        """Number of records."""
        return len(next(iter(self.columns.values())))

    @property
    def sampling(self) -> list[float] | None:
        """Sampling weight of each record."""
        if self.weight is None or isinstance(self.weight, list):
            return self.weight
        return self.columns[self.weight]

    def __str__(self) -> str:
        roles = {
            "by": self.by, "weight": self.weight if not isinstance(self.weight, list) else "given",
            "ordinal": self.ordinal, "nominal": self.nominal,
            "variable_weights": self.variable_weights, "engine": self.engine,
        }  # fmt: skip
        chosen = {name: value for name, value in (roles | self.settings).items() if value}
        kinds = ",".join(sorted(set(self.types.values())))
        return (
            f"{self.method} {self.options or ''} k={self.k}, {self.n} x {len(self.protect)} in "
            f"{self.container} {self.form} ({kinds}), {chosen}"
        )


def draw(number: int) -> Case:
    """Case number i."""
    dice = random.Random(f"calls {number}")
    rng = np.random.default_rng([7, number])
    case = Case(number, dice.choices([*ARRAYS, *FRAMES], [30, 4, 3, 3, 12, 6, 5, 9, 8])[0])
    n = dice.randint(1, 60) if dice.random() < 0.97 else dice.randint(61, 300)
    case.method = dice.choices(list(METHODS), list(METHODS.values()))[0]
    if case.method in ("tsp", "best"):
        n = min(n, 30)
    p = 1 if case.method in UNIVARIATE else dice.choice([1, 2, 2, 3, 3, 4, 6])
    case.k = dice.randint(1, max(1, min(n, 9 if dice.random() < 0.9 else 30)))
    if dice.random() < 0.005:
        case.k = n + 1
    _numbers(case, dice, rng, n, p)
    if case.container in FRAMES:
        _frame_roles(case, dice, n)
    else:
        _array_roles(case, dice, rng, n)
    if case.by and dice.random() < 0.8:  # or most strata would be too small
        case.k = min(case.k, max(1, n // 8))
    _missing(case, dice)
    _settings(case, dice, len(case.protect))
    case.options = _options(case, dice, len(case.protect))
    return case


def _numbers(case: Case, dice: random.Random, rng: np.random.Generator, n: int, p: int) -> None:
    """The columns to protect: of one type in an array, each of its own in a frame."""
    frame = case.container in FRAMES
    kind = dice.choice(list(KINDS))
    for j in range(p):
        if frame and dice.random() < 0.5:
            kind = dice.choice(list(KINDS))
        if j == 0 or frame:
            types: tuple[str, ...] = (
                INTEGERS if kind in ("integers", "extremes") else ("float64",) * 4 + ("float32",)
            )
            if case.container in ("torch",):
                types = tuple(t for t in types if not t.startswith("uint") or t == "uint8")
            if case.container == "list":
                types = tuple(t for t in types if t in ("float64", "int64"))
            type_ = dice.choice(types)
        with np.errstate(all="ignore"):
            previous = case.columns.get(_name(case, j - 1))
            values = KINDS[kind](rng, n, type_, previous)
            values = np.asarray(values).astype(type_)
        if not type_.startswith(("int", "uint")) and dice.random() > 0.003:
            values = np.where(np.isinf(values), np.sign(values), values)
        name = _name(case, j)
        case.columns[name], case.types[name] = values.tolist(), type_
        case.protect.append(name)


def _name(case: Case, j: int) -> Any:
    names = ("turnover", "Ünïcode", "a b", "x,y", "staff", "z", "q")
    return names[j] if case.container in FRAMES else j


def _grid(rng: Any, n: int, type_: str, previous: Any) -> Any:
    return np.round(rng.normal(size=n), 1)


def _extremes(rng: Any, n: int, type_: str, previous: Any) -> Any:
    limits = np.iinfo(type_)
    ends = [limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2, 0, 1]
    ends = ends[2:4] if rng.random() < 0.3 else ends
    return np.array([ends[i] for i in rng.integers(0, len(ends), n)], dtype=type_)


def _duplicated(rng: Any, n: int, type_: str, previous: Any) -> Any:
    return rng.choice(rng.normal(size=max(1, n // 6)), n)


def _scaled(rng: Any, n: int, type_: str, previous: Any) -> Any:
    powers = [-140, -100, -30, 30, 100, 140] * 3 + [-320, -300, -160, 149, 155, 300, 308]
    if type_ == "float32":
        powers = [-44, -30, -10, 20, 37]
    return rng.normal(size=n) * 10.0 ** float(rng.choice(powers))


def _far(rng: Any, n: int, type_: str, previous: Any) -> Any:
    centre = float(rng.choice([1e6, 1e9, -1e12, 1e15]))
    return centre + rng.normal(size=n) * float(rng.choice([1.0, 1e-3, 1e3]))


def _collinear(rng: Any, n: int, type_: str, previous: Any) -> Any:
    if previous is None or None in previous:
        return rng.normal(size=n)
    return np.asarray(previous, dtype=float) * -2.0 + 1.0


# Data of each kind: called with the generator, the number of records, the type to come and the
# column before.
KINDS: dict[str, Any] = {
    "random": lambda rng, n, type_, previous: rng.normal(size=n),
    "skewed": lambda rng, n, type_, previous: rng.lognormal(3, 2, size=n),
    "grid": _grid,
    "duplicated": _duplicated,
    "constant": lambda rng, n, type_, previous: np.full(
        n, rng.choice([0.0, 1.5, -1e100, 0.1, 1e15])
    ),
    "collinear": _collinear,
    "clustered": lambda rng, n, type_, previous: rng.integers(0, 4, n) * 10 + rng.normal(size=n),
    "integers": lambda rng, n, type_, previous: rng.integers(0, 100, n),
    "extremes": _extremes,
    "scaled": _scaled,
    "far": _far,
}


def _array_roles(case: Case, dice: random.Random, rng: np.random.Generator, n: int) -> None:
    type_ = case.types[0]
    p = len(case.columns)

    def add(values: list[Any]) -> int:
        name = len(case.columns)
        whole = type_.startswith(("int", "uint"))
        case.columns[name] = values if whole else [float(value) for value in values]
        case.types[name] = type_
        return name

    mixed = case.method == "mdav" and dice.random() < 0.15
    if mixed and p > 1:
        name = case.protect[-1]
        case.columns[name] = add_values = [dice.randint(0, 4) for _ in range(n)]
        if not type_.startswith(("int", "uint")):
            case.columns[name] = [float(value) for value in add_values]
        if dice.random() < 0.5:
            case.nominal = [name]
        else:
            case.ordinal = {name: None}
    if dice.random() < 0.25:
        count = dice.choice([1, 1, 2, 4])
        case.by = [add([dice.randrange(count) for _ in range(n)])]
    if dice.random() < 0.2:
        values = [dice.randint(1, 60) for _ in range(n)]
        given = [value + dice.random() for value in values]
        case.weight = add(values) if dice.random() < 0.5 else given
    if dice.random() < 0.15:
        add([dice.randint(0, 100) for _ in range(n)])  # left untouched
    if case.container == "numpy":
        one = len(case.columns) == 1
        case.form = dice.choice(["", "", "", "fortran", "view", "readonly", *["flat"] * 3 * one])


def _frame_roles(case: Case, dice: random.Random, n: int) -> None:
    texts = ["north", "süd", "", "east, or west", "💶"]
    if case.method == "mdav" and dice.random() < 0.2:
        some = [dice.choice(texts) for _ in range(n)]
        _add(case, "branch", some, dice.choice(["text", "category"]))
        case.nominal, case.protect = ["branch"], [*case.protect, "branch"]
    if case.method == "mdav" and dice.random() < 0.2:
        grades = ["low", "middle", "high"]
        _add(case, "grade", [dice.choice(grades) for _ in range(n)],
             dice.choice(["text", "ordered"]))  # fmt: skip
        case.ordinal = {"grade": grades if case.types["grade"] == "text" else None}
        case.protect = [*case.protect, "grade"]
    if dice.random() < 0.3:
        count = dice.choice([1, 2, 3])
        _add(case, "region", [dice.choice(texts[:count]) for _ in range(n)],
             dice.choice(["text", "category"]))  # fmt: skip
        case.by = ["region"]
        if dice.random() < 0.3:
            _add(case, "size", [dice.randint(0, 1) for _ in range(n)], dice.choice(INTEGERS))
            case.by.append("size")
    if dice.random() < 0.2:
        values = [dice.randint(1, 60) + dice.choice([0.0, 0.1]) for _ in range(n)]
        if dice.random() < 0.6:
            _add(case, "w", values, "float64")
            case.weight = "w"
        else:
            case.weight = values
    if dice.random() < 0.5:
        _add(case, "id", [2**53 + 1 + i for i in range(n)], "int64")
    if dice.random() < 0.3:
        _add(case, "note", [dice.choice(texts) for _ in range(n)], "text")
    if dice.random() < 0.5:  # columns in any order
        names = list(case.columns)
        dice.shuffle(names)
        case.columns = {name: case.columns[name] for name in names}
    if case.container in ("pandas", "nullable", "arrow-backed"):
        case.form = dice.choice(["", "", "texts", "repeated", "pairs", "dates", "backwards"])
    if list(case.columns) == case.protect[:1] and dice.random() < 0.5:
        case.form = "series"


def _add(case: Case, name: str, values: list[Any], type_: str) -> None:
    case.columns[name], case.types[name] = values, type_


def _missing(case: Case, dice: random.Random) -> None:
    """Take out values, where the type has a way to say so."""
    case.settings["missing"] = dice.choice(["error", "error", "pattern", "drop"])
    if dice.random() > 0.15:
        return
    if case.settings["missing"] == "error" and dice.random() > 0.1:
        case.settings["missing"] = dice.choice(["pattern", "drop"])
    share = dice.choice([0.03, 0.2, 0.5])
    case.k = min(case.k, max(1, case.n // 6))
    for name in [*case.protect, *(case.by if dice.random() < 0.3 else [])]:
        type_ = case.types[name]
        whole = type_.startswith(("int", "uint"))
        if (whole and case.container in (*ARRAYS, "pandas")) or dice.random() < 0.4:
            continue
        case.columns[name] = [
            None if dice.random() < share else value for value in case.columns[name]
        ]


def _settings(case: Case, dice: random.Random, p: int) -> None:
    settings = case.settings
    settings["small_strata"] = dice.choice(["suppress", "merge"] * 7 + ["error"])
    settings["aggregate"] = dice.choice(["mean"] * 5 + ["median", "trimmed"])
    settings["keep_integers"] = dice.random() < 0.5
    settings["standardize"] = dice.random() < 0.85
    settings["seed"] = dice.randint(0, 1000)
    mixed = bool(case.ordinal or case.nominal)
    if case.method != "individual" and not mixed and case.n <= 60 and dice.random() < 0.04:
        settings["refine_steps"] = dice.choice([0, 3, 10])
    if dice.random() < 0.15:
        case.variable_weights = [round(dice.uniform(0.1, 4), 2) for _ in range(p)]
    case.engine = dice.choices([None, "cpu", "generic"], [16, 3, 1])[0]


def _inner(dice: random.Random) -> dict[str, Any]:
    inner = dice.choice(["fixed", "optimal", "kward", "fixed", "optimal", "genetic"])
    more = {"generations": 3, "population": 4} if inner == "genetic" else {}
    return {"inner": inner, **more}


def _options(case: Case, dice: random.Random, p: int) -> dict[str, Any]:
    method, variable = case.method, dice.randrange(p)
    if dice.random() < 0.3:
        return {"best": {"steps": 10}, "genetic": {"generations": 5}}.get(method, {})
    if method == "fixed":
        return {"remainder": dice.choice(["mode", "last"])}
    if method == "genetic":
        return {
            "generations": dice.randint(1, 6), "population": dice.randint(2, 8),
            "convergence": dice.choice(["average", "maximal"]), "pmut": dice.choice([0.0, 0.3, 1]),
            "order": dice.choice([None, *ORDERS]), "pcross": dice.choice([0.0, 0.5, 1.0]),
        }  # fmt: skip
    if method == "projection":
        axis = dice.choice(["fpc", "sz", "pv"])
        more = {"variable": variable} if axis == "pv" else {}
        down = dice.random() < 0.5
        return {"projection": axis, **more, "descending": down, **_inner(dice)}
    if method == "individual":
        return _inner(dice)
    if method == "kward":
        ranking = dice.choice(["md", "fpc", "sz", "pv"])
        more = {"variable": variable} if ranking == "pv" else {}
        return {"ranking": ranking, **more, "descending": dice.random() < 0.5}
    if method in ("diameter", "centroid"):
        return {"gather": dice.choice(["centroid", "seed"])}
    if method == "mst":
        return {"split": dice.choice([None, "diameter", "centroid"])}
    if method == "vmdav":
        return {"gamma": dice.choice([0.0, 0.2, 0.5, 1.1, 3])}
    if method == "path":
        return {"order": dice.choice(["all", *ORDERS])}
    if method == "tsp":
        return {"tour": dice.choice(["insertion", "nearest"]), "window": dice.choice([0, 3, 50])}
    return {"steps": dice.randint(1, 20)} if method == "best" else {}
