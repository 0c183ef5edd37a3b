"""The short form of ``python -m benchmarks.reliability``, and faults that its checker must find."""

import ast
import os
import signal
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")

from benchmarks.reliability import calls, checker, draw, hostile, records, report, signals, tables
from benchmarks.reliability.containers import build, content
from benchmarks.reliability.worker import attempt
from microagg_gpu import METHODS

HOME = Path(calls.__file__).parent
posix = pytest.mark.skipif(os.name != "posix", reason="signals as on Linux and macOS")


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_random_calls(first):
    wrong = {}
    for number in range(first, first + 50):
        outcome = attempt("calls", number, None)
        if outcome.faults:
            wrong[number] = outcome.faults, draw.draw(number)
    assert not wrong


def test_few_random_calls_are_refused():
    plans = [checker.Plan(draw.draw(number)) for number in range(400)]
    assert sum(plan.may_refuse for plan in plans) < 60


def test_all_methods_and_containers_are_drawn():
    cases = [draw.draw(number) for number in range(3000)]
    assert {case.method for case in cases} == set(METHODS)
    assert {case.container for case in cases} == {*draw.ARRAYS, *draw.FRAMES}
    assert {type_ for case in cases for type_ in case.types.values()} >= {*draw.INTEGERS, "float32"}


@pytest.mark.parametrize("name", ["draw", "containers", "checker", "losses", "outcome"])
def test_the_checker_shares_nothing_with_the_library(name):
    tree = ast.parse((HOME / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("microagg_gpu") for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith(("microagg_gpu", "calls"))
            assert node.level < 2


# The checker


def example(**given):
    """A case that all goes well with: strata, an integer column, one that is left alone."""
    rng = np.random.default_rng(3)
    n = 40
    case = draw.Case(0, "pandas", form="texts")
    case.columns = {
        "income": rng.normal(size=n).tolist(), "age": rng.integers(0, 90, n).tolist(),
        "region": ["north", "south"] * (n // 2), "id": list(range(n)),
    }  # fmt: skip
    case.types = {"income": "float64", "age": "int64", "region": "text", "id": "int64"}
    case.protect, case.by, case.k = ["income", "age"], ["region"], 3
    case.settings = {
        "missing": "error", "small_strata": "error", "aggregate": "mean", "keep_integers": True,
        "standardize": True, "seed": 0,
    }  # fmt: skip
    for name, value in given.items():
        if name in case.settings:
            case.settings[name] = value
        else:
            setattr(case, name, value)
    data = build(case)
    return case, content(data), calls.answer_of(calls.call(case, data, None))


def swap_two_values(answer):
    column = answer.table.columns["income"]
    other = next(i for i, value in enumerate(column) if value != column[0])
    column[0], column[other] = column[other], column[0]


def move_a_record(answer):
    answer.labels[0] = next(label for label in answer.labels if label != answer.labels[0])


def shift_a_group(answer):
    column = answer.table.columns["income"]
    answer.table.columns["income"] = [
        value + 1e-9 if value == column[0] else value for value in column
    ]


def publish_a_fraction_more(answer):
    column = answer.table.columns["age"]
    answer.table.columns["age"] = [value + 1 if value == column[0] else value for value in column]


def change_another_column(answer):
    answer.table.columns["id"][5] = 77


def change_a_type(answer):
    answer.table.types["age"] = "float64"


def change_the_index(answer):
    answer.table.index[-1].reverse()


def change_the_order_of_columns(answer):
    answer.table.columns = dict(reversed(answer.table.columns.items()))


def leave_out_a_record(answer):
    answer.labels[3] = -1


def report_another_loss(answer):
    answer.loss *= 1 + 1e-7


def report_another_sse(answer):
    answer.sse *= 1 + 1e-7


def report_other_sizes(answer):
    answer.sizes[0] += 1


def cross_the_strata(answer):
    """North and south change places in two groups of equal size."""
    groups = {}
    for record, label in enumerate(answer.labels):
        groups.setdefault(label, []).append(record)
    one = groups[0]
    other = next(g for g in groups.values() if (g[0] - one[0]) % 2 and len(g) == len(one))
    answer.labels[one[-1]], answer.labels[other[-1]] = (
        answer.labels[other[-1]], answer.labels[one[-1]],
    )  # fmt: skip


FAULTS = [
    swap_two_values, move_a_record, shift_a_group, publish_a_fraction_more, change_another_column,
    change_a_type, change_the_index, change_the_order_of_columns, leave_out_a_record,
    report_another_loss, report_another_sse, report_other_sizes, cross_the_strata,
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_the_checker_finds(fault):
    case, before, answer = example()
    assert checker.check(case, before, answer) == []
    changed = deepcopy(answer)
    fault(changed)
    assert checker.check(case, before, changed)


def test_the_checker_finds_a_group_of_fewer_than_k():
    case, before, answer = example(k=3)
    case.k = 1 + min(answer.sizes)
    assert any("a group has 3 records" in fault for fault in checker.check(case, before, answer))


@pytest.mark.parametrize("weight", [None, [1.0 + i % 7 for i in range(40)]])
@pytest.mark.parametrize(
    ("how", "other"), [("mean", "median"), ("median", "trimmed"), ("trimmed", "mean")]
)
def test_the_checker_distinguishes_aggregates(how, other, weight):
    case, before, answer = example(aggregate=how, weight=weight)
    assert checker.check(case, before, answer) == []
    case.settings["aggregate"] = other
    assert checker.check(case, before, answer)


@pytest.mark.parametrize("how", ["mean", "trimmed"])
def test_the_checker_misses_sampling_weights(how):
    case, before, answer = example(aggregate=how)
    case.weight = [1.0 + i % 7 for i in range(case.n)]
    assert checker.check(case, before, answer)


def test_the_checker_wants_a_refusal_where_one_is_due():
    case, before, answer = example()
    case.k = case.n + 1
    assert checker.check(case, before, answer) == ["was not refused: k is more than the records"]


# Signals, hostile files, the report


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What the command writes when nobody disturbs it, for all signals."""
    with signals.setup(tmp_path_factory.mktemp("signals") / "work") as state:
        yield state


# With reports the command works on for long after its first file, so that the signal always comes
# in the middle; python -m benchmarks.reliability sends it at any moment.
@posix
@pytest.mark.parametrize(
    ("name", "force"), [("SIGKILL", True), ("SIGINT", True), ("SIGTERM", False)]
)
def test_signals(name, force, undisturbed):
    kind = getattr(signal, name)
    case = signals.Case(
        kind, "small.csv", "out.csv", reports=True, force=force, share=1.0, writing=0.01 * force
    )
    assert signals.run_case(case, undisturbed).faults == []


@posix
def test_what_is_wrong_after_a_signal_is_found(tmp_path):
    case = signals.draw(0, "interrupt")
    case.force, case.reports = True, False
    assert signals._file_faults(case, tmp_path, b"all")[0] == [
        f"{case.output} was there and is lost"
    ]
    (tmp_path / case.output).write_bytes(b"al")
    assert signals._file_faults(case, tmp_path, b"all")[0] != []
    (tmp_path / case.output).write_bytes(b"all")
    assert signals._file_faults(case, tmp_path, b"all") == ([], [case.output])
    assert signals._exit_faults(case, -2, "", sent=True, working=True)
    assert signals._exit_faults(case, 1, "", sent=True, working=False)
    assert signals._exit_faults(case, 130, "Traceback ...\nmicroagg_gpu", sent=True, working=True)
    assert not signals._exit_faults(case, 130, "stopped\n", sent=True, working=True)


@posix
def test_hostile_files(tmp_path):
    with hostile.setup(tmp_path) as folder:
        wrong = {n: outcome.faults for n in range(1, 20) if n % 10 and n % 50 != 17
                 if (outcome := hostile.run(n, folder)).faults}  # fmt: skip
    assert wrong == {}


def test_results_are_kept_by_commit_and_without_paths(tmp_path):
    path = tmp_path / "reliability.json"
    rows = [
        {"case": 0, "refused": True, "faults": []},
        {"case": 1, "refused": False, "faults": ["in /home/somebody/x.py it failed"]},
    ]
    records.Records(path, "first").add("calls", rows, 60.0, 2)
    other = records.Records(path, "second")
    other.add("calls", rows[:1], 60.0, 1)
    assert records.Records(path, "first").part("calls")["done"] == 2
    text = report.report(other.all)
    assert "somebody" not in text
    assert "- calls 1: in x.py it failed" in text
    assert "| calls | 100,000 | 2 | 1 | 1 | 1.0 |" in text
    assert text.index("Commit second") < text.index("Commit first")


def test_tables_are_readable(tmp_path):
    import pyarrow.parquet as pq

    tables.write_table(tables.table(10), tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 10
