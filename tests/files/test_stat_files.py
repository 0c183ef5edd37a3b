"""Files of Stata, SPSS and SAS: what goes in comes out, with its labels and nothing more."""

import datetime
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyreadstat")

import pandas as pd
import pyreadstat

from helpers.command import ok, refuse

pytestmark = pytest.mark.usefixtures("empty_directory")
N = 40
READERS = {
    "dta": pyreadstat.read_dta,
    "sav": pyreadstat.read_sav,
    "zsav": pyreadstat.read_sav,
    "xpt": pyreadstat.read_xport,
}


def survey():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "name": [f"firm {i}" for i in range(N)],
            "region": rng.integers(1, 3, N).astype(float),
            "day": [datetime.date(2026, 1, 1 + i % 7) for i in range(N)],
            "turnover": rng.lognormal(3, 1, N).round(1),
            "staff": rng.integers(1, 90, N).astype(float),
        }
    )


def write(frame, path):
    labels = {"turnover": "Turnover in 1,000 EUR", "name": "Name of the firm"}
    regions = {"region": {1.0: "North", 2.0: "South", 3.0: "Atlantis"}}
    if path.endswith("dta"):
        pyreadstat.write_dta(frame, path, column_labels=labels, variable_value_labels=regions)
    elif path.endswith("xpt"):
        pyreadstat.write_xport(frame, path, column_labels=labels)
    else:
        pyreadstat.write_sav(
            frame, path, column_labels=labels, compress=path.endswith("zsav"),
            variable_value_labels=regions | {"staff": {98.0: "refused", 99.0: "unknown"}},
            missing_ranges={"staff": [{"lo": 98, "hi": 99}]}, variable_format={"staff": "F3.0"},
        )  # fmt: skip


@pytest.mark.parametrize("ending", READERS)
def test_a_file_in_and_out(ending):
    frame = survey()
    write(frame, f"in.{ending}")
    out = f"out.{ending}"
    ok("protect", f"in.{ending}", "-k", 4, "--columns", "turnover,staff", "--by", "region",
       "--drop", "name", "-o", out)  # fmt: skip
    after, meta = READERS[ending](out)
    assert list(after) == ["region", "day", "turnover", "staff"]
    assert after["region"].tolist() == frame["region"].tolist()
    assert after["day"].tolist() == frame["day"].tolist()
    assert after.groupby(["region", "turnover", "staff"]).size().min() >= 4
    assert meta.column_names_to_labels["turnover"] == "Turnover in 1,000 EUR"
    if ending != "xpt":
        assert meta.variable_value_labels == {"region": {1: "North", 2: "South"}}
    raw = Path(out).read_bytes()
    assert not any(text in raw for text in (b"firm 7", b"Name of the firm", b"Atlantis"))
    ok("check", out, "-k", 4, "--columns", "region,turnover,staff")


def test_codes_for_missing_values():
    frame = survey()
    frame.loc[:9, "staff"] = 98.0
    frame["other"] = np.where(np.arange(N) < 5, 98.0, 7.0)
    write(frame.assign(kept=frame["staff"]), "in.sav")
    refuse("10 values of in.sav are missing, in column staff", "protect", "in.sav", "-k", 4,
           "--columns", "staff", "-o", "out.sav")  # fmt: skip
    ok("protect", "in.sav", "-k", 4, "--columns", "turnover,staff", "--missing", "pattern",
       "-o", "out.sav")  # fmt: skip
    after, meta = pyreadstat.read_sav("out.sav", user_missing=True)
    assert after["staff"].isna().tolist() == [True] * 10 + [False] * 30
    assert after["kept"].tolist()[:10] == [98.0] * 10
    # A mean of 98 or 99 would be taken for a code.
    assert "staff" not in meta.missing_ranges
    assert "staff" not in meta.variable_value_labels


def test_from_one_program_to_another():
    write(survey(), "in.dta")
    for name in ("out.sav", "out.csv", "out.parquet"):
        ok("protect", "in.dta", "-k", 4, "--columns", "turnover,staff", "-o", name)
    assert "Turnover in 1,000 EUR" in pyreadstat.read_sav("out.sav")[1].column_labels
    assert pd.read_csv("out.csv")["turnover"].equals(pd.read_parquet("out.parquet")["turnover"])


def test_what_cannot_be(monkeypatch):
    write(survey(), "in.sav")
    rest = ["-k", 4, "--columns", "turnover,staff", "-o"]
    Path("broken.sav").write_bytes(b"$FL2 and nothing more")
    refuse("broken.sav cannot be read as SPSS", "protect", "broken.sav", *rest, "o.csv")
    refuse("no.dta does not exist", "protect", "no.dta", *rest, "o.csv")
    refuse("or cannot be written", "protect", "in.sav", *rest, "o.sas7bdat")
    survey().assign(flag=True).to_parquet("in.parquet")
    refuse("column 'flag' is bool", "protect", "in.parquet", *rest, "o.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    refuse("needs the package pyreadstat: install microagg-gpu\\[stat]", "protect", "in.sav", *rest,
           "o.csv")  # fmt: skip
    assert sorted(path.name for path in Path().iterdir()) == ["broken.sav", "in.parquet", "in.sav"]


def test_missing_values_of_stata_with_a_letter():
    frame = survey().drop(columns="day")
    frame["asked"] = [1.0, "a", "b", np.nan, 2.0] * (N // 5)
    frame["staff"] = frame["staff"].astype(object)
    frame.loc[:9, "staff"] = "c"
    letters = {"asked": ["a", "b", "z"], "staff": ["c"]}
    pyreadstat.write_dta(
        frame, "in.dta", missing_user_values=letters,
        variable_value_labels={"asked": {1.0: "yes", "a": "refused", "z": "never"}},
    )  # fmt: skip
    refuse("10 values of in.dta are missing, in column staff", "protect", "in.dta", "-k", 4,
           "--columns", "staff", "-o", "out.dta")  # fmt: skip
    given = ("protect", "in.dta", "-k", 4, "--columns", "turnover,staff", "--missing", "pattern")
    ok(*given, "-o", "out.dta")
    after, meta = pyreadstat.read_dta("out.dta", user_missing=True, output_format="dict")
    assert after["asked"] == [1.0, "a", "b", None, 2.0] * (N // 5)
    assert [x is None for x in after["staff"]] == [True] * 10 + [False] * 30
    assert meta.missing_user_values == {"asked": ["a", "b"]}
    assert meta.variable_value_labels == {"asked": {1: "yes", "a": "refused"}}
    for name in ("out.csv", "out.sav"):  # which have no such values
        ok(*given, "-o", name)
    assert pd.read_csv("out.csv")["asked"].isna().tolist() == [False, True, True, True, False] * 8
    other, meta = pyreadstat.read_sav("out.sav", user_missing=True)
    assert other["asked"].tolist()[:1] + other["asked"].tolist()[4:5] == [1.0, 2.0]
    assert other["asked"].isna().sum() == 24
    assert meta.missing_ranges == {}
    assert meta.variable_value_labels == {"asked": {1: "yes"}}
