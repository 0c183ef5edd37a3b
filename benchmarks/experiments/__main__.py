"""The experiments of Laszlo and Mukherjee (2005), section 4, on simulated clusters.

``python -m benchmarks.experiments separation`` repeats Tables 5 to 7 (clusters that overlap more
and more), ``size`` Table 9, ``dimension`` Table 10, ``points`` Table 8 (points per cluster), and
``all`` the four of them; ``--small`` takes smaller data, ``--help`` after a name tells the rest.
``report`` measures nothing and writes Markdown and plots again.

Options take several values with commas between, and all combinations are measured. Each
measurement is saved in `experiments.json` at once, and what is there is not measured again: a run
can be stopped with Ctrl-C and continued by the same command, and further data, methods, seeds,
engines and machines are added to what is known.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from datetime import date
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

from microagg_gpu import METHODS, InputError, measures, microaggregate
from microagg_gpu.cli.parsing import method_options, parse, split
from microagg_gpu.cli.progress import phases
from microagg_gpu.pipeline.provenance import named

from ..common import RESULTS, commit, load, machine, write
from ..papers.ours import METHODS_2005
from ..papers.simulations import upper_bound
from ..scaling.measure import gpu, ours, without_gpu
from .data import CLUSTERS, EXPERIMENTS, KINDS, UB, Row, draw, shown
from .report import write_report

KEY = ("experiment", *KINDS, "method", "engine", "seed", "machine")


def measured(case: Row, row: Row) -> Row:
    """Loss and time of a method, or the loss of the true clusters."""
    data, truth = draw(case, row["seed"])
    found: Row = {"records": len(data)}
    if row["method"] == UB:
        return found | {"loss": _short(upper_bound(data, truth, case["k"]), 6)}
    method, options = METHODS_2005.get(row["method"]) or _method(row["method"])
    task = {
        **{"method": method, "options": options, "engine": row["engine"], "k": case["k"]},
        "repeat": EXPERIMENTS[case["experiment"]].repeat,
    }
    full = ours(task, data)
    found |= {"loss": _short(full["loss"], 6), "labels": full["labels"]}
    times = ("seconds", "tree_seconds", "cut_seconds")
    found |= {name: _short(full[name], 4) for name in times if name in full}
    if case["experiment"] == "separation" and row["method"] == "M":
        # Of Table 6. Engines return the same groups, so the quickest to hand will do.
        labels = microaggregate(data, case["k"], method).labels
        share, size = measures.oversized(labels, case["k"])
        found |= {"oversized": _short(share, 6), "oversized_size": _short(size, 6)}
    return found


def _short(x: float, digits: int) -> float:
    return float(f"{x:.{digits}g}")


def _method(text: str) -> tuple[str, dict[str, Any]]:
    """A method of the library and its options, from 'vmdav gamma=0.5'."""
    name, *pairs = text.split() or [""]
    if name not in METHODS:
        known = ", ".join([*METHODS_2005, UB, *METHODS])
        raise InputError(f"There is no method {name!r}; choose from {known}.")
    return name, method_options(name, pairs)


# What is known ----------------------------------------------------------------------------------


class Store:
    """The rows of a JSON file, which is replaced as a whole after each measurement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.machines: dict[str, dict[str, str]] = {}
        self.rows: dict[tuple[Any, ...], Row] = {}
        self._read()

    def _read(self) -> None:
        if not self.path.is_file():
            return
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
            self.machines |= known["machines"]
            self.rows |= {key(row): row for row in known["rows"]}
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"{self.path} is not a file of results of this program; move it away, or choose "
                "another directory with --output."
            ) from None

    def add(self, row: Row, about: dict[str, str]) -> None:
        """Save a row, beside those that another process may have added meanwhile."""
        self._read()
        self.rows[key(row)] = row
        self.machines[row["machine"]] = about
        rows = ",\n".join(json.dumps(row) for row in self.rows.values())
        write(self.path, f'{{"machines": {json.dumps(self.machines)},\n"rows": [\n{rows}\n]}}\n')


def key(row: Row) -> tuple[Any, ...]:
    """What identifies a measurement."""
    return tuple(row.get(name) for name in KEY)


# A run ------------------------------------------------------------------------------------------


def cases(name: str, given: dict[str, tuple[Any, ...]], small: bool) -> Iterator[Row]:
    """The data sets and group sizes of an experiment."""
    experiment = EXPERIMENTS[name]
    lists = experiment.full | (experiment.small if small else {}) | given
    for values in product(*lists.values()):
        yield {"experiment": name, **dict(zip(lists, values, strict=True))}
    if "k" not in given:
        first = {parameter: values[0] for parameter, values in lists.items()}
        for k in experiment.other_k:
            yield {"experiment": name, **first, "k": k}


def plan(options: argparse.Namespace, where: str) -> Iterator[tuple[Row, Row]]:
    """Cases and what is measured of them: all curves with the first seed, then with the next."""
    names = list(EXPERIMENTS) if options.experiment == "all" else [options.experiment]
    for name in names:
        seeds = options.seeds or EXPERIMENTS[name].seeds[not options.small]
        for seed in range(seeds):
            for case in cases(name, options.given, options.small):
                for method in options.methods or EXPERIMENTS[name].methods:
                    row = {**case, "method": method, "engine": options.engine, "seed": seed}
                    yield case, row | {"machine": where}


def cost(row: Row) -> float:
    """How long a measurement takes beside others, for the estimate of the time left."""
    n = row.get("n", CLUSTERS * row.get("y", 1))
    slow = row["method"] in ("D", "diameter") or row["engine"] == "generic"
    return EXPERIMENTS[row["experiment"]].repeat * n * row["d"] * (n / 4_000 if slow else 1)


def run(options: argparse.Namespace, store: Store) -> None:
    """Measure what is not known yet."""
    about = machine() | (gpu() if options.engine == "cuda" else {})
    where = f"{about.get('GPU', about['processor'])}, {about['cores']} cores"
    work = list(plan(options, where))
    left = [(case, row) for case, row in work if options.again or key(row) not in store.rows]
    if len(left) < len(work):
        known = f"{len(work) - len(left)} of {len(work)} measurements are in {store.path}"
        print(f"{known}; --again measures them anew", file=sys.stderr)
    stamp = {"date": date.today().isoformat(), "commit": commit()}
    done, total = 0.0, sum(cost(row) for _, row in left)
    with phases() as phase, phase(options.experiment) as tell:
        for number, (case, row) in enumerate(left, 1):
            row = row | measured(case, row) | {"load": round(load(), 1)} | stamp
            store.add(row, about)
            print(f"[{number}/{len(left)}] {as_line(row)}", file=sys.stderr)
            done += cost(row)
            if tell is not None:
                tell(done / total)


def as_line(row: Row) -> str:
    """A measurement in a line."""
    where = " ".join(f"{name}={shown(row[name])}" for name in KINDS if name in row)
    seconds = f"  {row['seconds']:.3f} s" if "seconds" in row else ""
    return f"{row['experiment']} {where} seed={row['seed']} {row['method']}: loss " + (
        f"{row['loss']:.4f} %{seconds}"
    )


# The command ------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Exit with code 2."""
        raise InputError(f"{message}; see --help")


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = Parser(
        prog="python -m benchmarks.experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="experiment", required=True)
    for name, title in {
        **{name: experiment.title for name, experiment in EXPERIMENTS.items()},
        "all": "all four",
        "report": "write Markdown and plots again, from what was measured",
    }.items():
        add = commands.add_parser(name, help=title, description=title).add_argument
        add("--output", type=Path, default=RESULTS, help="directory (benchmarks/results)")
        if name == "report":
            continue
        for parameter, values in getattr(EXPERIMENTS.get(name), "full", {}).items():
            usual = ",".join(map(str, values))
            add(f"--{parameter}" if parameter != "k" else "-k", help=f"one or several ({usual})")
        add("--methods", help='such as "D,C,M,M-d,M-c,UB,mdav,vmdav gamma=0.5"')
        add("--engine", default="cpu", help="cpu, generic or cuda (cpu)")
        add("--seeds", help="number of data sets drawn for each set of parameters")
        add("--small", action="store_true", help="smaller data, for minutes instead of an hour")
        add("--again", action="store_true", help="measure also what is known, and replace it")
    options = parser.parse_args(arguments)
    if options.experiment != "report":
        check(options)
    return options


def check(options: argparse.Namespace) -> None:
    """Read the lists among the options."""
    options.given = {}
    for name, kind in KINDS.items():
        if (text := getattr(options, name, None)) is not None:
            options.given[name] = tuple(parse(name, kind, part) for part in split(text))
            if not options.given[name] or min(options.given[name]) < (kind is int):
                least = "whole numbers, 1 or more" if kind is int else "numbers, 0 or more"
                raise InputError(f"{name} is {text!r}; give {least}, with commas between.")
    if options.methods is not None:
        texts = [part for part in split(options.methods) if part]
        if not texts:
            raise InputError("--methods is empty; name one method or several.")
        options.methods = [
            text if text in (UB, *METHODS_2005) else named(*_method(text)) for text in texts
        ]
    if options.seeds is not None:
        options.seeds = parse("seeds", int, options.seeds)
        if options.seeds < 1:
            raise InputError(f"seeds is {options.seeds}; it must be 1 or more.")
    if options.engine not in ("cpu", "generic", "cuda"):
        raise InputError(f"engine is {options.engine!r}; choose cpu, generic or cuda.")
    if options.engine == "cuda" and (problem := without_gpu(quick=False)):
        raise InputError(problem)


def main(arguments: list[str] | None = None) -> int:
    """Run experiments from the command line."""
    try:
        options = parsed(arguments)
        if find_spec("matplotlib") is None:
            raise InputError('Plots need Matplotlib: pip install ".[report]"')
        store = Store(options.output / "experiments.json")
        stopped = False
        try:
            if options.experiment != "report":
                run(options, store)
        except KeyboardInterrupt:
            stopped = True
        if not store.rows and not stopped:
            raise InputError(f"Nothing is measured yet in {options.output}.")
        written = write_report(list(store.rows.values()), store.machines, options.output)
    except (InputError, OSError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 2
    print(f"written: {store.path}, {', '.join(path.name for path in written)}", file=sys.stderr)
    if stopped:
        print("stopped; what was measured is kept, the same command goes on", file=sys.stderr)
    return 130 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
