"""Parts of the app without a server: roles that are suggested, plans, phases, names."""

from dataclasses import replace
from pathlib import Path

import pytest

from microagg_gpu.app import columns
from microagg_gpu.app.plan import Choices, Plan, output_name
from microagg_gpu.app.progress import Busy
from microagg_gpu.datasets.survey import write as write_survey
from microagg_gpu.errors import InputError
from microagg_gpu.files.data_file import read_file


def described(tmp_path, text):
    path = tmp_path / "in.csv"
    path.write_text(text)
    file = read_file(path)
    return file, {column["name"]: column for column in columns.describe(file)["columns"]}


def table(**made):
    names = list(made)
    rows = zip(*(made[name] for name in names), strict=True)
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("firm", range(60), "drop"),  # numbers the records
        ("turnover", [f"{i * 17 % 60}.5" for i in range(60)], "protect"),
        ("staff", [i % 13 for i in range(60)], "protect"),
        ("region", ["ab"[i % 2] for i in range(60)], "stratum"),
        ("region code", [i % 3 for i in range(60)], "stratum"),
        ("village", ["ab"[i > 57] for i in range(60)], "nominal"),  # a stratum of 2 records
        ("weight", [f"{i % 7 + 1}.5" for i in range(60)], "weight"),
        ("weight", [f"{i % 7 - 3}.5" for i in range(60)], "protect"),
        ("mail", [f"a{i}@b.org" for i in range(60)], "drop"),
        ("birth", [f"19{i % 60 + 10}-01-02" for i in range(60)], "drop"),
        ("note", ["" for _ in range(60)], "drop"),
        ("town", [f"town {i % 40}" for i in range(60)], "drop"),
    ],
)
def test_suggested_roles(tmp_path, name, values, role):
    _, found = described(tmp_path, table(**{name: values, "x": [f"{i}.5" for i in range(60)]}))
    assert found[name]["role"] == role, found[name]["why"]
    assert found[name]["why"].endswith(".")


def test_facts_of_columns(tmp_path):
    text = table(x=["1.5", "", "-2", "1.5"] * 5, y=["a", "b", "a", "c"] * 5)
    _, found = described(tmp_path, text)
    assert (found["x"]["missing"], found["x"]["distinct"], found["x"]["kind"]) == (5, 2, "numbers")
    assert found["x"]["examples"] == ["1.5", "-2"]
    assert sum(b["count"] for b in found["x"]["histogram"]) == 15
    assert [b["count"] for b in found["y"]["histogram"]] == [10, 5, 5]
    assert found["x"]["negative"]


def test_numbers_with_another_decimal_mark_are_found(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("x;y\n" + "1,5;2\n" * 20)
    (x, y) = columns.describe(read_file(path))["columns"]
    assert (x["mark"], y["mark"]) == (",", "")


def test_kept_columns_that_break_k(tmp_path):
    path = tmp_path / "companies.csv"
    write_survey(path)
    file = read_file(path)
    roles = {c["name"]: c["role"] for c in columns.describe(file)["columns"]}
    plan = Plan(str(path), roles=roles, choices=Choices(average_weight=True))
    calm = columns.check(file, plan)
    assert calm == {"strata": 12, "smallest": 128, "kept": "", "identifying": {}, "refusal": ""}
    kept = columns.check(file, replace(plan, roles={**roles, "id": "keep", "weight": "keep"}))
    assert "2,500 of 2,500 records" in kept["kept"]
    assert list(kept["identifying"]) == ["id"]
    uneven = columns.check(file, replace(plan, choices=Choices()))
    assert "2,474 of 2,500" in uneven["kept"]
    none = columns.check(file, replace(plan, roles=dict.fromkeys(roles, "drop")))
    assert none["refusal"].startswith("no column is protected")


def test_plans_become_jobs():
    plan = Plan("/x/a.csv", roles={"a": "protect", "b": "ordinal", "c": "weight", "d": "drop"},
                orders={"b": ["lo", "hi"]}, choices=Choices(7, "path", True))  # fmt: skip
    job = plan.job("a-k7.csv")
    assert (job.settings.k, job.settings.method, job.settings.refine_steps) == (7, "path", 100)
    assert job.roles.ordinal == {"b": ["lo", "hi"]}
    assert (job.roles.columns, job.roles.sampling_weight, job.drop) == (["a"], "c", ["d"])
    assert (job.report, job.note) == (Path("a-k7-report.html"), Path("a-k7-note.html"))
    assert Plan.from_json(plan.as_json()) == plan
    with pytest.raises(InputError, match="choose one"):
        Plan("x", roles={"a": "protect", "b": "weight", "c": "weight"}).library_roles()


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("companies.csv", "companies-k5.csv"),
        ("a.b.csv.gz", "a.b-k5.csv.gz"),
        ("x.parquet", "x-k5.parquet"),
        ("data", "data-k5.csv"),
        ("staff.sas7bdat", "staff-k5.xpt"),
        ("book.xlsx", "book-k5.csv"),
        ("codes.sav", "codes-k5.sav"),
    ],
)
def test_names_of_outputs(source, name):
    assert output_name(source, 5) == name


def test_phases():
    busy = Busy("protect")
    for message in (
        {"phase": "reading", "fraction": None, "loss": None},
        {"phase": "reading", "fraction": 1.0, "loss": None, "ended": True},
        {"phase": "mdav", "fraction": None, "loss": None},
        {"phase": "refining", "fraction": None, "loss": None},
        {"phase": "mdav", "fraction": 0.5, "loss": None},
    ):
        busy.take(message)
    assert busy.now().name == "mdav"
    busy.take({"compiling": True})
    assert busy.now().name == "compiling, once"
    busy.take({"compiling": False})
    busy.take({"phase": "refining", "fraction": 0.1, "loss": 20.5})
    assert busy.now().name == "refining"
    assert busy.now().loss == 20.5
    busy.take({"phase": "refining", "fraction": 1.0, "loss": None, "ended": True})
    busy.take({"phase": "mdav", "fraction": 1.0, "loss": None, "ended": True})
    assert busy.now() is None
    assert [phase.name for phase in busy.phases] == [
        "reading",
        "mdav",
        "refining",
        "compiling, once",
    ]
