"""Workbooks of Excel: the first sheet is read, whatever its columns hold."""

import datetime
import sys
import zipfile
from xml.sax.saxutils import escape

import numpy as np
import pyarrow.parquet as pq
import pytest

from helpers.command import ok, read, refuse, write

calamine = pytest.importorskip("python_calamine")
pytestmark = pytest.mark.usefixtures("empty_directory")

PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DAY = datetime.date(1899, 12, 30)  # day 0 of Excel


def cell(place, value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime.date):
        return f'<c r="{place}" s="1"><v>{(value - DAY).days}</v></c>'
    if isinstance(value, (int, float)):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    if value.startswith("#"):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def sheet(rows):
    lines = []
    for i, row in enumerate(rows, 1):
        cells = "".join(cell(f"{chr(65 + j)}{i}", value) for j, value in enumerate(row))
        lines.append(f'<row r="{i}">{cells}</row>')
    return f'<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def workbook(path, *sheets, hidden=()):
    """Write a workbook as the standard ECMA-376 has it; a sheet is a list of rows."""
    states = [" state='hidden'" * (i in hidden) for i in range(len(sheets))]
    listed = "".join(
        f'<sheet name="s{i}" sheetId="{i + 1}" r:id="r{i}"{state}/>'
        for i, state in enumerate(states)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": relations([("w", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets>'
        "</workbook>",
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/></cellXfs></styleSheet>',
        "xl/_rels/workbook.xml.rels": relations(
            [(f"r{i}", "worksheet", f"worksheets/s{i}.xml") for i in range(len(sheets))]
            + [("styles", "styles", "styles.xml")]
        ),
    }
    parts |= {f"xl/worksheets/s{i}.xml": sheet(rows) for i, rows in enumerate(sheets)}
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)


def relations(targets):
    each = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for key, kind, target in targets
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{each}</Relationships>'


def survey(n=30):
    rng = np.random.default_rng(1)
    rows = [
        [
            f"Müller & {i}", datetime.date(2026, 1, 1 + i % 5), i % 2 == 0,
            int(rng.integers(1, 90)), round(float(rng.lognormal(3, 1)), 1),
        ]
        for i in range(n)
    ]  # fmt: skip
    return [["name", "day", "active", "staff", "turnover"], *rows]


def test_the_first_visible_sheet():
    rows = survey()
    workbook("in.xlsx", [["hidden"], [1]], rows, [["notes"], ["x"]], hidden=[0])
    write("\n".join(f"{row[3]},{row[4]}" for row in rows) + "\n")
    for source in ("in.xlsx", "in.csv"):
        ok("protect", source, "-k", 3, "--columns", "staff,turnover", "-o", f"{source}.out.csv")
    found, expected = read("in.xlsx.out.csv"), read("in.csv.out.csv")
    assert [row[3:] for row in found] == expected
    assert [row[0] for row in found] == [row[0] for row in rows]


def test_types_in_parquet():
    rows = survey()
    workbook("in.xlsx", rows)
    ok("protect", "in.xlsx", "-k", 3, "--columns", "staff,turnover", "-o", "out.parquet")
    table = pq.read_table("out.parquet")
    assert [str(kind) for kind in table.schema.types] == [
        "string", "date32[day]", "bool", "int64", "double",
    ]  # fmt: skip
    assert table["day"].to_pylist() == [row[1] for row in rows[1:]]


def test_empty_cells_errors_and_mixed_columns():
    rows = survey()
    rows[3][3], rows[4][3], rows[5][4] = None, "#N/A", "unknown"
    workbook("in.xlsx", rows)
    given = ("protect", "in.xlsx", "-k", 3, "-o", "out.csv", "--columns")
    refuse("2 values of in.xlsx are missing, in column staff", *given, "staff")
    refuse(
        "column 'turnover' of in.xlsx is not numeric but string: use it for strata",
        *given, "turnover",
    )  # fmt: skip
    ok(*given, "staff", "--missing", "drop")
    assert read("out.csv")[3][4] == "unknown"


def test_what_cannot_be_read(monkeypatch):
    write("a,b\n1,2\n", "text.xlsx")
    refuse("text.xlsx cannot be read as Excel: it has another", "check", "text.xlsx", "-k", 2)
    refuse("none.xlsx does not exist", "check", "none.xlsx", "-k", 2)
    workbook("empty.xlsx", [])
    refuse("empty.xlsx has no records", "check", "empty.xlsx", "-k", 2)
    workbook("in.xlsx", survey())
    refuse(
        "the format of out.xlsx is not known, or cannot be written",
        "protect", "in.xlsx", "-k", 2, "--columns", "staff", "-o", "out.xlsx",
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    refuse(
        "in.xlsx needs the package python-calamine: install microagg-gpu.excel.",
        "check", "in.xlsx", "-k", 2,
    )  # fmt: skip
