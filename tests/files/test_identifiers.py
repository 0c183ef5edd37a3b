"""Columns that tell who somebody is."""

import datetime

import pyarrow as pa
import pytest

from helpers.command import refuse, run
from microagg_gpu.files.identifiers import identifying_columns, is_identifier

N = 20
COLUMNS = {
    "id": [f"{i:05d}" for i in range(N)],
    "number": list(range(N)),
    "born": [f"19{i + 50}-03-0{i % 9 + 1}" for i in range(N)],
    "begun": [f"{i % 3 + 1}.5.2001" for i in range(N)],
    "day": [datetime.date(2000, 1, 1 + i % 3) for i in range(N)],
    "mail": [f"p{i % 4}@office.example" for i in range(N)],
    "name": [f"Ann {'ABCDEFGHIJKLM'[i % 13]}." for i in range(N)],
    "region": ["North", "South"] * (N // 2),
    "weight": [1.5, 2.5] * (N // 2),
    "staff": [i % 7 for i in range(N)],
    "amount": [0.5 * i * i for i in range(N)],
}
EXPECTED = {
    "id": "has a different value in every record",
    "number": "has a different value in every record",
    "born": "holds dates",
    "begun": "holds dates",
    "day": "holds dates or times",
    "mail": "holds e-mail addresses",
    "name": "holds names or other texts that few records share",
    "amount": "has a different value in every record",
}


def test_what_is_telling():
    table = pa.table(COLUMNS)
    assert identifying_columns(table, table.column_names) == EXPECTED
    assert identifying_columns(table, ["region"]) == {}
    coded = pa.table({"id": pa.array(COLUMNS["id"]).dictionary_encode(), "l": [[1]] * N})
    assert identifying_columns(coded, coded.column_names) == {"id": EXPECTED["id"]}
    few = pa.table({"x": [1, 2, 3]})
    assert identifying_columns(few, ["x"]) == {}


@pytest.mark.parametrize(
    ("name", "expected"), [("id", True), ("number", True), ("weight", True), ("staff", False),
                           ("amount", False)],
)  # fmt: skip
def test_identifiers_and_weights_are_not_proposed(name, expected):
    assert is_identifier(name, pa.table(COLUMNS)[name]) == expected


@pytest.mark.usefixtures("empty_directory")
def test_the_command_warns():
    lines = [",".join(map(str, row)) for row in zip(*COLUMNS.values(), strict=True)]
    with open("in.csv", "w", encoding="utf-8") as file:
        file.write("\n".join([",".join(COLUMNS), *lines]))
    chosen = ("protect", "in.csv", "-k", 4, "-o", "out.csv")
    shown = " ".join(run(*chosen, "--columns", "staff,amount", "--by", "region").output.split())
    for name in ("id", "number", "born", "begun"):
        assert f"column {name} {EXPECTED[name]} and is published unchanged" in shown
    assert "and 2 more such columns" in shown


@pytest.mark.usefixtures("empty_directory")
@pytest.mark.parametrize(
    ("name", "values", "advice"),
    [
        ("id", range(7, 7 + N), "an identifier: leave it out with --drop id"),
        ("company_no", [i * 37 % 101 for i in range(N)], "an identifier"),
        ("line", range(N), "an identifier"),
        ("weight", [1.5, 2.5] * (N // 2), "sampling weights: give it as --weight weight"),
        ("staff", [i % 7 for i in range(N)], ""),
        ("turnover", [i * 37 % 101 for i in range(N)], ""),
    ],
)
def test_identifiers_and_weights_are_protected_only_if_they_are_named(name, values, advice):
    with open("in.csv", "w", encoding="utf-8") as file:
        file.write("\n".join([f"{name},x", *(f"{v},{i % 3}" for i, v in enumerate(values))]))
    for command in (["protect", "-o", "out.csv"], ["compare", "--methods", "mdav,centroid"]):
        given = (command[0], "in.csv", "-k", 4, *command[1:])
        if advice:
            refuse(f"column {name!r} of in.csv seems to hold {advice}", *given)
            given = *given, "--columns", f"{name},x"
        assert run(*given).exit_code == 0


def test_names_of_columns_and_values_that_nearly_all_differ():
    n = 100
    table = pa.table(
        {
            "contact": [f"A. {'BCDFGHJKLMNPQRSTVWXZaeiou'[i % 25]}." for i in range(n)],
            "phone": [5550000 + i % 70 for i in range(n)],
            "case": [max(i, 4) for i in range(n)],
            "birth": [19500101 + i % 28 for i in range(n)],
            "name of region": ["North", "South"] * (n // 2),
            "amount": [i % 50 for i in range(n)],
        }
    )
    assert identifying_columns(table, table.column_names) == {
        "contact": "seems to say who somebody is",
        "phone": "seems to say who somebody is",
        "case": "has a different value in nearly every record",
        "birth": "holds dates",
    }
