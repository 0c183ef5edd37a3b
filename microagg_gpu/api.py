"""The public functions: a table and settings in, a `Result` or a `Comparison` out."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .checks import as_list, callable_or_none, known_keywords, number, whole_number
from .data.table import read
from .engines import on_device
from .errors import InputError
from .pipeline.comparison import Comparison, compare_methods, variants
from .pipeline.problem import prepare
from .pipeline.protection import protect
from .pipeline.refinement import given_groups
from .pipeline.result import Result
from .progress import LossProgress, Progress, RunProgress
from .settings import (
    COMPARED_SIZES,
    DEFAULT,
    REFINE_SECONDS,
    ROLES,
    Aggregate,
    Blocks,
    Columns,
    Decimals,
    EngineName,
    Missing,
    Ordinal,
    Precision,
    Roles,
    Scale,
    Settings,
    SmallStrata,
    TMethod,
    Unrepaired,
    Weights,
)


@known_keywords
def microaggregate(
    data: Any,
    k: int = DEFAULT.k,
    method: str = DEFAULT.method,
    columns: Columns = ROLES.columns,
    standardize: bool = DEFAULT.standardize,
    variable_weights: Weights | None = DEFAULT.variable_weights,
    device: str | None = DEFAULT.device,
    engine: EngineName | None = DEFAULT.engine,
    precision: Precision = DEFAULT.precision,
    seed: int = DEFAULT.seed,
    progress: Progress | None = None,
    *,
    by: Columns = ROLES.by,
    sampling_weight: Any = ROLES.sampling_weight,
    ordinal: Ordinal = ROLES.ordinal,
    nominal: Columns = ROLES.nominal,
    unit: Columns = ROLES.unit,
    missing: Missing = DEFAULT.missing,
    small_strata: SmallStrata = DEFAULT.small_strata,
    aggregate: Aggregate = DEFAULT.aggregate,
    keep_integers: bool = DEFAULT.keep_integers,
    decimals: Decimals | None = DEFAULT.decimals,
    average_weight: bool = DEFAULT.average_weight,
    refine: float | None = DEFAULT.refine,
    refine_steps: int | None = DEFAULT.refine_steps,
    shuffle: bool = DEFAULT.shuffle,
    dominance: tuple[int, float] | None = DEFAULT.dominance,
    p_percent: float | None = DEFAULT.p_percent,
    unrepaired: Unrepaired = DEFAULT.unrepaired,
    scale: Scale = DEFAULT.scale,
    trim: float = DEFAULT.trim,
    blocks: Blocks | None = DEFAULT.blocks,
    sensitive: Any = ROLES.sensitive,
    t: float | None = DEFAULT.t,
    t_method: TMethod = DEFAULT.t_method,
    watch: LossProgress | None = None,
    **options: Any,
) -> Result:
    """Group records in groups of at least k and replace each by its group's centroid.

    Parameters
    ----------
    data : array, list of lists, DataFrame or other table
        A row per record; one dimension is one variable. Arrays of any Array API library
        (NumPy, CuPy, PyTorch, ...), pandas and polars DataFrames, Arrow tables.
    k : int
        The least number of records in a group.
    method : str
        A name in `METHODS`.
    columns : name, position, or several, optional
        The variables to protect (names, or positions in an array); by default all but those of
        ``by`` and ``sampling_weight``. Other columns are returned unchanged.
    standardize : bool
        Bring each variable to mean 0 and standard deviation 1 first; if False, distances and
        loss are in the units of the data.
    variable_weights : sequence or dict, optional
        Weight of each variable in all sums of squares (2002 paper, after expression 5), in the
        order of the columns or by name.
    device : {"auto", "cpu", "cuda", "cuda:1", ...}
        Where to compute; "auto", or None, is where the data are.
    engine : {None, "generic", "cpu", "cuda"}
        Use this engine, whatever the type of the array.
    precision : {"double", "single"}
        Precision of the distances. "single" is for GPUs that are slow in double precision; its
        groups may differ a little. The CPU engine always computes in double.
    seed : int
        Seed of methods that draw random numbers.
    progress : callable, optional
        Called with the fraction done, from 0 to 1.
    by : name, position, or several, optional
        Columns that divide the records into strata: each combination of their values is grouped
        by itself. Variables are standardized over all records.
    sampling_weight : column or array, optional
        Sampling weight of each record, above 0. Centroids become weighted means, so that weighted
        totals are preserved; grouping and loss do not use it.
    ordinal : name, position, several, or dict, optional
        Columns of ordered categories: names, or a dict from name to categories, lowest first. By
        default numbers are in their order and ordered categorical types in theirs. The median
        category is published. Columns named here need not be in ``columns``.
    nominal : name, position, or several, optional
        Columns of categories without order: two records are equal in them or not. The most
        frequent category is published. With ordinal or nominal columns the method is MDAV-generic
        (Domingo-Ferrer and Torra 2005).
    unit : name, position, or several, optional
        Columns that name the unit of each record, such as its household. Units are grouped by
        the means of their records, all records of a unit get the same values, and k counts
        units. For numbers only; a unit must be in one stratum.
    missing : {"error", "pattern", "drop"}
        What to do with missing values: raise an error; group only records in which the same
        variables are missing, and leave them missing; leave out records with any.
    small_strata : {"error", "merge", "suppress"}
        What to do with strata (and patterns of missing values) of fewer than k records: raise an
        error; merge each with the stratum whose centroid is nearest; leave out its records.
        After a merger records of one group may differ in the columns of ``by``.
    aggregate : {"mean", "median", "trimmed"}
        What is published for a group of numbers; "trimmed" is the mean without the lowest and
        the highest values.
    trim : float
        Which share of a group "trimmed" leaves out at each end, at least one value in groups of
        three or more.
    keep_integers : bool
        Round what is published in columns of integers, and keep their type.
    decimals : int or dict, optional
        Round published numbers to so many decimals, the same for all variables or by name. By
        default they have all the digits of the mean.
    average_weight : bool
        Publish in the column of ``sampling_weight`` the mean weight of each group: weights that
        differ within a group tell its records apart. Weighted totals stay as they are.
    refine : float, optional
        Spend this many seconds reducing the loss of the method's groups by annealing. Ctrl-C ends
        it earlier, with the best groups so far.
    refine_steps : int, optional
        Instead of seconds: annealing steps per record, some thousands. The same steps and seed
        give the same groups on every machine; 0 descends to the next local optimum.
    scale : {"standard", "strata", "robust", "log"}
        How variables are standardized: by mean and standard deviation of all records; by those
        of each stratum (``by``); by median and MAD, or the standard deviation if the MAD is 0; by
        those of the logarithms ``sign(x) log(1 + |x| / u)`` with the median u of all ``|x|`` but 0.
        Distances and loss are on this scale; what is published stays in the units of the data.
    blocks : list of lists of columns, optional
        Variables that are grouped together, each block by itself: k holds within each block, and
        whole records may be unique, as `Result.verdict` says. By default the protected columns
        are those of the blocks. `suggest_blocks` proposes some.
    shuffle : bool
        Return the records in a random order that ``seed`` gives, so that their order tells
        nothing; `Result.order` says which record is where. A pandas frame gets a new index,
        since the old one would undo it. Whoever knows the seed can undo it too: 0, the default,
        draws one that nobody can guess, which `Result.provenance` keeps.
    dominance : pair of numbers, optional
        (n, k): the n largest contributors of a group may hold k percent of its total in each
        variable, as in (1, 85). Groups that break it are repaired after method and refinement, by
        exchanging records or merging with the nearest groups at least loss; see
        `measures.dominance`.
    p_percent : float, optional
        The second largest contributor of a group may not be able to estimate the largest to within
        this percentage; such groups are repaired too.
    unrepaired : {"keep", "suppress"}
        What to do with groups that cannot be repaired: publish them, listed in
        ``result.dominance.unrepaired``; leave out their records.
    sensitive : name or position, optional
        A column that is published as it is and that nobody may infer from the others: it is not
        protected, k is not counted in it, and `Result.closeness` says what groups give away of
        it. Numbers have an order, texts do not.
    t : float, optional
        The distribution of the sensitive column in each group is at most t from that of all
        records, by the Earth mover's distance (t-closeness through microaggregation: Soria-Comas,
        Domingo-Ferrer, Sanchez and Martinez 2015); from 0 to 1.
    t_method : {"auto", "first", "merge"}
        How: by "first", groups of MDAV that take one record of each part of the ranking of the
        sensitive column; by "merge", groups of the method, of which the farthest are merged with
        their nearest. "auto" does both and keeps what loses less; `Result.found_by` says which.
    watch : callable, optional
        Called during refinement with the fraction done and the loss so far.
    **options
        Options of the method.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        A ValueError, if the data or the options cannot be used.
    """
    settings = Settings(
        k, method, options, standardize, variable_weights, device, engine, precision, seed, missing,
        small_strata, aggregate, keep_integers, decimals, average_weight, refine, refine_steps,
        shuffle, dominance, p_percent, unrepaired, scale, trim, blocks, t, t_method,
    )  # fmt: skip
    callable_or_none("progress", progress)
    callable_or_none("watch", watch)
    if columns is None and settings.blocks is not None:
        columns = [column for block in settings.blocks for column in block]
    with _at_the_data(data):
        roles = Roles(columns, by, sampling_weight, ordinal, nominal, sensitive, unit)
        return protect(prepare(read(data, roles), settings), settings, progress, watch)


@known_keywords
def refine(
    data: Any,
    labels: Any,
    k: int = DEFAULT.k,
    seconds: float | None = REFINE_SECONDS,
    steps: int | None = None,
    *,
    columns: Columns = ROLES.columns,
    standardize: bool = DEFAULT.standardize,
    variable_weights: Weights | None = DEFAULT.variable_weights,
    device: str | None = DEFAULT.device,
    engine: EngineName | None = DEFAULT.engine,
    seed: int = DEFAULT.seed,
    watch: LossProgress | None = None,
    by: Columns = ROLES.by,
    sampling_weight: Any = ROLES.sampling_weight,
    missing: Missing = DEFAULT.missing,
    small_strata: SmallStrata = DEFAULT.small_strata,
    aggregate: Aggregate = DEFAULT.aggregate,
    keep_integers: bool = DEFAULT.keep_integers,
    decimals: Decimals | None = DEFAULT.decimals,
    average_weight: bool = DEFAULT.average_weight,
    dominance: tuple[int, float] | None = DEFAULT.dominance,
    p_percent: float | None = DEFAULT.p_percent,
    unrepaired: Unrepaired = DEFAULT.unrepaired,
    scale: Scale = DEFAULT.scale,
    trim: float = DEFAULT.trim,
) -> Result:
    """Reduce the loss of existing groups, from this tool or another.

    Parameters
    ----------
    data : array or DataFrame
        As in `microaggregate`.
    labels : array_like of int, (n,)
        Group of each record; at least k records in each.
    k : int
        Smallest number of records in a group.
    seconds, steps
        The budget, as ``refine`` and ``refine_steps`` of `microaggregate`.
    columns, standardize, variable_weights, device, engine, seed, watch, by, sampling_weight
        As in `microaggregate`.
    missing, small_strata, aggregate, keep_integers, decimals, average_weight, scale, trim
        As in `microaggregate`.
    dominance, p_percent, unrepaired
        As in `microaggregate`.

    Returns
    -------
    Result
        Its loss is at most that of the given groups, unless groups that break a rule on
        contributors are repaired.
    """
    if seconds is not None:
        seconds = number("seconds", seconds, 0)
    if steps is not None:
        steps = whole_number("steps", steps, 0, 10**9)
    if seconds is None and steps is None:
        seconds = 0.0
    settings = Settings(
        k, standardize=standardize, variable_weights=variable_weights, device=device, engine=engine,
        seed=seed, missing=missing, small_strata=small_strata, aggregate=aggregate,
        keep_integers=keep_integers, decimals=decimals, average_weight=average_weight,
        refine=seconds, refine_steps=steps, dominance=dominance, p_percent=p_percent,
        unrepaired=unrepaired, scale=scale, trim=trim,
    )  # fmt: skip
    callable_or_none("watch", watch)
    with _at_the_data(data):
        problem = prepare(read(data, Roles(columns, by, sampling_weight)), settings)
        return protect(problem, settings, watch=watch, groups=given_groups(labels, problem))


@known_keywords
def compare(
    data: Any,
    k: int | Iterable[int] = COMPARED_SIZES,
    methods: str | Iterable[Any] = "all",
    *,
    columns: Columns = ROLES.columns,
    standardize: bool = DEFAULT.standardize,
    variable_weights: Weights | None = DEFAULT.variable_weights,
    device: str | None = DEFAULT.device,
    engine: EngineName | None = DEFAULT.engine,
    seed: int = DEFAULT.seed,
    progress: Progress | None = None,
    watch: RunProgress | None = None,
    refine_best: int = 0,
    refine: float | None = DEFAULT.refine,
    by: Columns = ROLES.by,
    sampling_weight: Any = ROLES.sampling_weight,
    ordinal: Ordinal = ROLES.ordinal,
    nominal: Columns = ROLES.nominal,
    unit: Columns = ROLES.unit,
    missing: Missing = DEFAULT.missing,
    small_strata: SmallStrata = DEFAULT.small_strata,
    aggregate: Aggregate = DEFAULT.aggregate,
    keep_integers: bool = DEFAULT.keep_integers,
    decimals: Decimals | None = DEFAULT.decimals,
    average_weight: bool = DEFAULT.average_weight,
    scale: Scale = DEFAULT.scale,
    trim: float = DEFAULT.trim,
) -> Comparison:
    """Try methods on the same data, as the 2002 paper advises (section 6), best first.

    Parameters
    ----------
    data : array or DataFrame
        As in `microaggregate`.
    k : int or several
        Smallest number of records in a group; each is tried with every method.
    methods : "all" or several
        Each a method's name, which runs its usual variants, or a pair (name, options). "all" is
        every method that groups whole records; individual ranking, which does not, and above
        1,500 records "tsp", whose time grows with their cube, run only when named.
    watch : callable, optional
        Called with the fraction done and the name of the method that runs.
    refine_best : int
        Steps per record by which the best groups of each k are refined at the end, as a row of
        their own; 0 leaves it out.
    columns, standardize, variable_weights, device, engine, seed, progress, refine, by
        As in `microaggregate`.
    sampling_weight, ordinal, nominal, missing, small_strata, aggregate, keep_integers, decimals
        As in `microaggregate`.
    average_weight, scale, trim, unit
        As in `microaggregate`.

    Returns
    -------
    Comparison
        A list of rows (dictionaries), sorted by k and loss; printing it shows a table. The risk
        is that of `Result.linkage`, in percent. Ctrl-C ends it with the rows that are finished.
    """
    sizes = as_list(k)
    if not sizes:
        raise InputError("nothing to compare: give one k, or more")
    settings = [
        Settings(
            size, standardize=standardize, variable_weights=variable_weights, device=device,
            engine=engine, seed=seed, missing=missing, small_strata=small_strata,
            aggregate=aggregate, keep_integers=keep_integers, decimals=decimals,
            average_weight=average_weight, refine=refine, scale=scale, trim=trim,
        )
        for size in sizes
    ]  # fmt: skip
    callable_or_none("progress", progress)
    callable_or_none("watch", watch)
    refine_best = whole_number("refine_best", refine_best, 0, 10**9)
    with _at_the_data(data):
        table = read(data, Roles(columns, by, sampling_weight, ordinal, nominal, unit=unit))
        problems = [prepare(table, given) for given in settings]
        runs = variants(methods, table)
        return compare_methods(problems, settings, runs, progress, watch, refine_best)


@contextmanager
def _at_the_data(data: Any) -> Iterator[None]:
    """Make the GPU of the data the current one, and say in a sentence if memory runs out."""
    try:
        with on_device(data):
            yield
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        raise InputError(
            f"the records need more memory than there is{detail}: protect fewer at a time"
        ) from error
