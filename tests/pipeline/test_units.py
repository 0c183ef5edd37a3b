"""Units of several records, such as households: k counts units, and each stays together."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.command import refuse, run
from microagg_gpu import InputError, compare, microaggregate
from microagg_gpu.files.verdict import count_k
from microagg_gpu.pipeline.partition import prove

pytestmark = pytest.mark.usefixtures("empty_directory")
RNG = np.random.default_rng(31)


def people(households=60):
    """Persons in households of 1 to 5, shuffled: income and rent of the household, own age."""
    sizes = RNG.integers(1, 6, households)
    of = np.repeat(np.arange(households), sizes)
    frame = pd.DataFrame(
        {
            "household": [f"h{i:03}" for i in of],
            "region": np.where(of % 2, "N", "S"),
            "income": RNG.lognormal(7, 1, households).round()[of],
            "rent": RNG.lognormal(5, 1, households).round()[of],
            "age": RNG.integers(0, 90, len(of)).astype(float),
            "w": RNG.integers(1, 9, len(of)).astype(float),
        }
    )
    return frame.sample(frac=1, random_state=3).reset_index(drop=True)


FRAME = people()
BOTH = ["income", "rent"]


def fewest(table, columns, unit):
    """The fewest different units that share some columns, and the most groups of one unit."""
    by = [tuple(row) for row in table[columns].to_numpy()]
    units, groups = {}, {}
    for values, one in zip(by, unit, strict=True):
        units.setdefault(values, set()).add(one)
        groups.setdefault(one, set()).add(values)
    return min(map(len, units.values())), max(map(len, groups.values()))


@pytest.mark.parametrize(
    "given",
    [{}, {"by": "region"}, {"method": "vmdav"}, {"refine_steps": 20}, {"shuffle": True, "seed": 5},
     {"sampling_weight": "w", "average_weight": True}, {"scale": "log"},
     {"by": "region", "scale": "strata"}, {"columns": ["income", "age"]}],
)  # fmt: skip
def test_every_group_has_k_units_and_every_unit_one_group(given):
    given = {"columns": BOTH} | given
    result = microaggregate(FRAME, 4, unit="household", **given)
    household = FRAME["household"].to_numpy()[result.order]
    columns = [*given["columns"], *(["region"] if "by" in given else [])]
    least, groups = fewest(result.protected, columns, household)
    assert least >= 4
    assert groups == 1
    assert result.verdict.smallest_named == least
    if "sampling_weight" not in given:
        assert np.isclose(result.protected["income"].sum(), FRAME["income"].sum())


def test_units_are_grouped_as_records_of_their_means():
    """The same groups as of a file of households, one line each, on the scale of the persons."""
    result = microaggregate(FRAME, 4, columns=["income", "age"], unit="household", engine="generic")
    spread = FRAME[["income", "age"]].std(ddof=0)
    means = FRAME.groupby("household", sort=False)[["income", "age"]].mean() / spread
    alone = microaggregate(means, 4, standardize=False, engine="generic")
    groups = dict(zip(means.index, alone.labels.tolist(), strict=True))
    expected = [groups[name] for name in FRAME["household"]]
    pairs = {*zip(expected, result.labels.tolist(), strict=True)}
    assert len(pairs) == len(alone.sizes) == len(result.sizes)
    published = FRAME.groupby(np.array(expected))[["income", "age"]].transform("mean")
    assert np.allclose(result.protected[["income", "age"]], published)


def test_records_of_one_are_as_without_units():
    """If every record is a unit of its own, nothing changes."""
    frame = FRAME.assign(person=np.arange(len(FRAME)))
    with_units = microaggregate(frame, 4, columns=BOTH, unit="person")
    without = microaggregate(frame, 4, columns=BOTH)
    assert with_units.labels.tolist() == without.labels.tolist()
    assert with_units.loss == without.loss


def test_k_records_of_few_units_are_not_enough():
    """Five people of one household are one unit."""
    frame = pd.DataFrame({"h": [1] * 5 + [2] * 5 + [3, 4], "x": [1.0] * 5 + [9.0] * 5 + [5.0, 6.0]})
    assert fewest(microaggregate(frame, 2, columns="x").protected, ["x"], frame["h"])[0] == 1
    assert fewest(microaggregate(frame, 2, columns="x", unit="h").protected, ["x"], frame["h"]) == (
        2, 1,
    )  # fmt: skip
    with pytest.raises(InputError, match="k=5 is more than the 4 units"):
        microaggregate(frame, 5, columns="x", unit="h")


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas, "array"])
def test_all_kinds_of_tables(kind):
    expected = microaggregate(FRAME, 4, columns=BOTH, unit="household")
    if kind == "array":
        numbers = np.unique(FRAME["household"], return_inverse=True)[1]
        data = np.column_stack([FRAME[BOTH].to_numpy(), numbers])
        result = microaggregate(data, 4, unit=2)
    else:
        result = microaggregate(kind(FRAME), 4, columns=BOTH, unit="household")
    assert result.labels.tolist() == expected.labels.tolist()
    assert result.loss == expected.loss


def test_several_columns_name_a_unit():
    numbers = FRAME.groupby("region")["household"].rank("dense").astype(int)
    frame = FRAME.assign(number=numbers)
    result = microaggregate(frame, 4, columns=BOTH, unit=["region", "number"])
    expected = microaggregate(frame, 4, columns=BOTH, unit="household")
    assert result.labels.tolist() == expected.labels.tolist()


def test_strata_count_units():
    """A stratum of 10 persons in 2 households is smaller than k = 3."""
    frame = FRAME.copy()
    few = frame["household"].isin(["h000", "h002"])
    frame.loc[few, "region"] = "W"
    given = {"k": 3, "columns": BOTH, "by": "region", "unit": "household"}
    with pytest.raises(InputError, match=r"1 of 3 strata .* fewer than k=3 units: region=W \(2\)"):
        microaggregate(frame, **given)
    result = microaggregate(frame, **given, small_strata="suppress")
    assert result.suppressed == few.sum()
    assert (result.labels < 0).tolist() == few.tolist()
    assert result.verdict.below_named == 0
    merged = microaggregate(frame, **given, small_strata="merge")
    assert len(merged.merged) == 1
    assert fewest(merged.protected, BOTH, frame["household"]) >= (3, 1)


def test_missing_values():
    frame = FRAME.copy()
    gone = frame["household"].isin(["h001", "h003", "h005", "h007"])
    frame.loc[gone, "rent"] = np.nan
    result = microaggregate(frame, 4, columns=BOTH, unit="household", missing="pattern")
    assert result.protected["rent"].isna().tolist() == gone.tolist()
    assert fewest(result.protected.fillna(-1), BOTH, frame["household"]) >= (4, 1)
    sizes = frame.groupby("household")["rent"].transform("size")
    one = frame.index[~gone & (sizes > 1)][0]
    frame.loc[one, "rent"] = np.nan
    with pytest.raises(InputError, match="1 of the 60 units have records with different values"):
        microaggregate(frame, 4, columns=BOTH, unit="household", missing="pattern")
    dropped = microaggregate(frame, 4, columns=BOTH, unit="household", missing="drop")
    assert dropped.dropped == gone.sum() + 1
    kept = frame["household"].to_numpy()[dropped.order]
    assert fewest(dropped.protected, BOTH, kept) >= (4, 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"unit": "household", "by": "age"}, "units have records in several strata"),
        ({"unit": "house"}, "Did you mean 'household'"),
        ({"unit": "household", "columns": ["household"]}, "named in unit= and cannot be protected"),
        ({"unit": "household", "nominal": "region"}, "units take numbers only"),
        ({"unit": "household", "dominance": (1, 85)}, "count records and not units"),
        ({"unit": "household", "sensitive": "age", "t": 0.2}, "t-closeness is for records"),
        ({"unit": "gaps"}, "'gaps' names the unit of each record and is missing in 2"),
    ],
)
def test_what_is_refused(given, message):
    frame = FRAME.assign(gaps=[None, " ", *["x"] * (len(FRAME) - 2)])
    with pytest.raises(InputError, match=message):
        microaggregate(frame, 1, **{"columns": BOTH} | given)


def test_blocks_and_individual_ranking_count_units_too():
    for given in ({"blocks": [["income"], ["rent", "age"]]}, {"method": "individual"}):
        given = {"columns": [*BOTH, "age"]} | given
        result = microaggregate(FRAME, 4, unit="household", **given)
        assert result.verdict.below_named == 0
        assert fewest(result.protected, ["income"], FRAME["household"]) >= (4, 1)
    assert compare(FRAME, 4, ["mdav", "mst"], columns=BOTH, unit="household")[0]["loss"] > 0


def test_the_verdict_counts_units():
    table = pa.table({"x": [1, 1, 1, 2, 2, 2], "y": [1, 1, 1, 2, 2, 3]})
    units = np.array([0, 0, 1, 2, 3, 3])
    verdict = count_k(table, 2, [["x"]], units=units, unit="household")
    assert (verdict.smallest_named, verdict.smallest, verdict.below) == (2, 1, 1)
    assert str(verdict) == (
        "k = 2 holds for these columns only: x. 1 of the 6 records share their values in all 2 "
        "columns with fewer than 1 other units (household), because of y"
    )
    assert str(count_k(table.drop("y"), 2, [["x"]], units=units, unit="household")) == (
        "PASS: every one of the 6 records shares its values in the one column with at least 1 "
        "other units (household)"
    )
    assert count_k(table.drop("y"), 3, [["x"]], units=units, unit="household").word == "FAIL"


def test_a_unit_in_two_groups_never_leaves():
    result = microaggregate(FRAME, 4, columns=BOTH, unit="household")
    problem, labels = result._problem, result.labels.copy()
    labels[0] = (labels[0] + 1) % len(result.sizes)
    if (FRAME["household"] == FRAME["household"][0]).sum() > 1:
        with pytest.raises(RuntimeError, match="a unit is in two groups"):
            prove(problem, labels)
    with pytest.raises(RuntimeError, match="fewer than k=4"):
        prove(problem, np.where(problem.units.of < 3, 0, 1))


def test_the_command_counts_units_in_the_written_file():
    FRAME.to_csv("in.csv", index=False)
    done = run(
        "protect", "in.csv", "-k", 4, "--columns", "income,rent", "--unit", "household", "--drop",
        "household,age,w", "--by", "region", "-o", "out.csv", "--json", "out.json", "--report",
        "out.html", "--shuffle", "--note", "note.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "columns with at least 3 other units (household)" in text
    assert "60 units (household), at least 4 in each group" in text
    content = json.loads(Path("out.json").read_text())
    assert content["verdict"]["unit"] == "household"
    assert content["provenance"]["Units"] == "household (k counts units)"
    written = Path("out.csv").read_bytes()
    assert "with records of at least 3 other units" in Path("note.html").read_text()
    for name in ("out.csv", "out.json", "out.html", "note.html"):
        Path(name).unlink()
    again = run(*shlex.split(content["provenance"]["Command"])[1:])
    assert again.exit_code == 0, again.output
    assert Path("out.csv").read_bytes() == written
    published = run("protect", "in.csv", "-k", 4, "--columns", "income,rent", "--unit", "household",
                    "-o", "all.csv")  # fmt: skip
    assert "because of household" in " ".join(published.output.split())
    refuse("--unit cannot be used with --workers", "protect", "in.csv", "-k", 4, "--columns",
           "income", "--unit", "household", "--workers", 2, "-o", "out")  # fmt: skip
