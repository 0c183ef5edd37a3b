"""The table of all methods. A new method needs its module and an entry here."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import hypot, inf
from typing import Any

from ..engines import Work
from .best import best
from .extremes import centroid, diameter
from .genetic import genetic
from .mdav import mdav
from .mst import mst
from .options import Option, Parameters, no_option, parameters_of
from .path import path
from .projection import individual, projection
from .ranked import fixed, optimal
from .tsp import tsp
from .vmdav import vmdav
from .ward import kward


@dataclass(frozen=True)
class Method:
    """What a user wants to know of a method before running it, and what it takes.

    Attributes
    ----------
    function : callable
        ``function(points, k, *, engine, progress, **options) -> labels``, and ``seed`` and
        ``found_by`` if it has such parameters (see `options.Parameters`).
    paper : str
        Where it was published, and its name there.
    good_for : str
        When to choose it, in a few words.
    cost : str
        Time for n records of d variables, in the generic engine.
    sizes : str
        The group sizes that the paper promises.
    quick : int
        Records of 8 variables that the generic engine groups in 2 seconds, about: measured on
        one core of an AMD EPYC, k = 5, with the default options. 0 if it is not known.
    univariate : bool
        Takes one variable only.
    variants : tuple of dict
        Options worth comparing.
    compared_up_to : float
        Number of records above which comparing "all" leaves it out, as too slow.
    time : str, optional
        The option that is a time in seconds: each stratum gets its share of it.
    variable : str, optional
        The option that is a variable, given by name or position.
    inner : str, optional
        The option that names another method, whose options are taken too.
    recommended : bool
        One of the two that most users want.
    """

    function: Callable[..., Any]
    paper: str
    good_for: str
    cost: str
    sizes: str
    quick: int = 0
    univariate: bool = False
    variants: tuple[dict[str, Any], ...] = ({},)
    compared_up_to: float = inf
    time: str | None = None
    variable: str | None = None
    inner: str | None = None
    recommended: bool = False

    @property
    def takes(self) -> Parameters:
        """Options with their defaults and choices, and whether it takes a seed."""
        return parameters_of(self.function)

    def options(self, given: Mapping[str, Any]) -> dict[str, Option]:
        """The options that can be given, with those of the inner method."""
        known = self.takes.options
        if self.inner is None:
            return known
        inner = METHODS.get(given.get(self.inner, known[self.inner].default))
        return (inner.takes.options if inner else {}) | known


_1999 = "Mateo-Sanz and Domingo-Ferrer 1999"
_2002 = "Domingo-Ferrer and Mateo-Sanz 2002"
_2005 = "Laszlo and Mukherjee 2005"
_RANKED = tuple({"projection": p} for p in ("fpc", "sz"))
METHODS: dict[str, Method] = {
    "fixed": Method(
        fixed,
        f"{_2002}, F",
        "one variable, in no time",
        "n log n",
        "k..2k-1",
        50_000,
        univariate=True,
    ),
    "optimal": Method(
        optimal,
        "Hansen and Mukherjee 2003",
        "one variable: the lowest loss there is",
        "n log n + kn",
        "k..2k-1",
        50_000,
        univariate=True,
    ),
    "genetic": Method(
        genetic,
        f"{_2002}, A and M",
        "repeating the papers",
        "generations x population x n",
        "k..2k-1",
        2_300,
        variants=({"convergence": "average"}, {"convergence": "maximal"}),
    ),
    "projection": Method(
        projection,
        f"{_2002}, PF and Pk-W",
        "a quick look at very large files",
        "nd^2",
        "k..2k-1",
        50_000,
        variants=_RANKED,
        variable="variable",
        inner="inner",
    ),
    "individual": Method(
        individual,
        f"{_1999}, FS_I and MWA_I",
        "least loss of single variables; high risk",
        "d n log n",
        "k..2k-1",
        50_000,
        inner="inner",
    ),
    "kward": Method(
        kward,
        f"{_1999}, k-Ward",
        "groups of varying size",
        "n^2 d",
        "k..2k-1",
        2_500,
        variants=({"ranking": "md"}, {"ranking": "fpc"}, {"ranking": "sz"}),
        variable="variable",
    ),
    "diameter": Method(diameter, f"{_2002}, UF", "repeating the papers", "n^2 d", "k..2k-1", 2_500),
    "centroid": Method(centroid, f"{_2005}, C", "large files, low loss", "n^2 d", "k..2k-1", 6_000),
    "mst": Method(
        mst,
        f"{_2005}, M, M-d, M-c",
        "records in clear clusters",
        "n^2 d",
        "k.. (split: k..2k-1)",
        6_000,
        variants=({}, {"split": "diameter"}, {"split": "centroid"}),
    ),
    "mdav": Method(
        mdav,
        "Domingo-Ferrer and Torra 2005",
        "most files: fast, low loss, well known",
        "n^2 d / k",
        "k..2k-1",
        8_000,
        recommended=True,
    ),
    "vmdav": Method(
        vmdav,
        "Solanas and Martínez-Ballesté 2006",
        "clusters of varying size",
        "n^2 d",
        "k..3k-2",
        6_000,
    ),
    "path": Method(
        path,
        "Domingo-Ferrer et al. 2006, MHM",
        "less loss than mdav, for some more time",
        "n^2 d",
        "k..2k-1",
        2_200,
    ),
    "best": Method(
        best,
        "all of these, refined",
        "the lowest loss, given time",
        "as given: seconds",
        "k..2k-1",
        0,
        variants=({"steps": 2000},),
        compared_up_to=0,
        time="seconds",
        recommended=True,
    ),
    "tsp": Method(
        tsp,
        "MF-TSP",
        "a few hundred records",
        "n^2 d + n^3",
        "k..2k-1",
        300,
        compared_up_to=1500,
    ),
}


def work_of(method: str, given: Mapping[str, Any], sizes: Collection[int], d: int) -> Work:
    """What a run of a method is for the choice of an engine.

    The time of most methods grows with n^2 d, of the others less. The steps by themselves take
    0.1 ms for each record, which is most of it below 8 variables and in small strata. An option
    that is a number, as of generations, may mean any time.

    Parameters
    ----------
    method, given
        The method and its options.
    sizes : collection of int
        The records of each stratum.
    d : int
        Variables.
    """
    registered = METHODS[method]
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    known = registered.options(texts)
    choices = [
        f"{name}={value}"
        for name, value in sorted(texts.items())
        if name in known and value in (known[name].choices or METHODS)
    ]
    inner = METHODS.get(texts.get(registered.inner or "", ""), registered)
    quick = min(registered.quick, inner.quick)
    if quick and all(value is None or isinstance(value, str) for value in given.values()):
        steps = min(1e-4, 2.0 / quick) * sum(sizes)
        seconds = max(steps, 2.0 * (hypot(*sizes) / quick) ** 2 * max(d, 8) / 8)
    else:
        seconds = inf
    name = " ".join([method, *choices, *["of one variable"] * (d == 1)])
    return Work(name, seconds, max(sizes, default=0))


def check_names(method: str, given: Mapping[str, Any]) -> None:
    """Refuse options that neither a method nor its inner method has."""
    known = METHODS[method].options(given)
    for name in given:
        if name not in known:
            raise no_option(method, name, known)
