"""The command ``microagg``: what it refuses, and how it says so."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

import microagg_gpu.files.atomic
import microagg_gpu.tasks.protect
from helpers.command import (
    command,
    process,
    refuse,
    refuse_for_real,
    run,
    write,
    write_companies,
)
from microagg_gpu import microaggregate

OUT = ["-k", 2, "-o", "out.csv"]


# Of each kind of refusal one by the real command; all others are made in this process.
@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", ["protect", "in.csv", *OUT], "in.csv is empty"),
        ("x,y\n1,2\n3\n", ["protect", "in.csv", *OUT], "line 3 of in.csv has 1 cell"),
        ("x,y\n1,\0\n", ["protect", "in.csv", *OUT], "in.csv is not a text file in UTF-8"),
        ("x,y\n1,\n3,4\n", ["protect", "in.csv", *OUT], "1 value of in.csv is missing"),
        ("x,y\n1,a\n3,4\n", ["protect", "in.csv", *OUT], "column 'y' of in.csv is not numeric"),
        ("x\n1\n2\n", ["protect", "absent.csv", *OUT], "absent.csv does not exist"),
        ("x\n1\n2\n", ["protect", "in.csv", "-k", 3, "-o", "out.csv"], "-k 3 is more than the 2"),
        (
            "x\n1\n2\n",
            ["protect", "in.csv", "-k", 2, "-o", "in.csv", "--force"],
            "would be overwritten",
        ),
        ("x\n1\n2\n", ["protect", "in.csv", *OUT, "--method", "magic"], "'magic' is unknown"),
        ("x\n1\n2\n", ["check", "in.csv", "-k", 2, "--columns", "y"], "'y' is not in in.csv"),
        ("x\n1\n2\n", ["report", "in.csv", "in.csv", "-o", "o.html"], "no column of numbers"),
        ("x\n1\n2\n", ["compare", "in.csv", "-k", "", "--columns", "x"], "-k is empty"),
    ],
)
def test_the_real_command_refuses(text, arguments, message):
    write(text)
    refuse_for_real(message, *arguments)


# The file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "in.csv is empty"),
        ("\n\n", "in.csv is empty"),
        ("x,y\n", "in.csv has a header and no records"),
        ("\nx,y\n1,2\n", "line 1 of in.csv is empty"),
        ("x,y\n1,2\n3\n", "line 3 of in.csv has 1 cell and the header 2"),
        ("x,y\n1,2\n3,4,5\n", "line 3 of in.csv has 3 cells and the header 2"),
        ("x,y\n1,2\n\n3,4\n", "line 3 of in.csv has no cells and the header 2"),
        ('x,y\n1,"2\n3,4\n', "in.csv cannot be read as CSV from line 2 on"),
        ("x,y,x\n1,2,3\n", r"column names of in.csv appear twice \('x'\)"),
        ("1,2\n3,4\n5,6\n", "first line of in.csv holds only numbers"),
        ("x,y\n1,2\n3,4\n", "-k 5 is more than the 2 records"),
        ("x,y\n1,\0\n", "in.csv is not a text file in UTF-8"),
    ],
)
def test_bad_file(text, message):
    refuse(message, "protect", write(text), "-k", 5, "-o", "out.csv")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "1 value of in.csv is missing, in column y .1, the first on line 3"),
        ("NA", "1 value of in.csv is missing, in column y"),
        ("nan", "1 value of in.csv is missing, in column y"),
        ("-inf", "1 value of in.csv is infinite or too large, in column y .1, the first on line"),
        ("1e999", "1 value of in.csv is infinite or too large"),
        ("abc", "column 'y' of in.csv is not numeric: 1 of 3 .* the first 'abc' on line 3"),
        ('"1,5"', "column 'y' of in.csv is not numeric: 1 of 3 .* the first '1,5' on line 3"),
        ("1_000", "column 'y' of in.csv is not numeric: 1 of 3 .* the first '1_000' on line 3"),
    ],
)
def test_bad_cell(cell, message):
    write(f"x,y\n1,2\n3,{cell}\n5,6\n")
    refuse(message, "protect", "in.csv", "-k", 2, "-o", "out.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x;y\n1,5;2\n2,5;3\n", r"first '1,5' on line 2: if , is the decimal mark, .*--decimal ,"),
        ('x,y\n"1,234.5",2\n"2,345.6",3\n', "take out the marks that part thousands"),
        ("x:y\n1:2\n3:4\n", "column 'x:y' of in.csv is not numeric"),
        ("x,y\n1,2\n3,b\n", "column 'y' of in.csv is not numeric: 1 of 2 .* 'b' on line 3"),
    ],
)
def test_real_files_in_other_notations(text, message):
    refuse(message, "protect", write(text), "-k", 2, "-o", "out.csv")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffx,y\n1,2\n3,4\n",  # a byte order mark
        'x,y\n"1","2"\n"3","4"\n',  # quoted numbers
        "x,y\n1,7\n3,7\n",  # a constant column
        "x , y\n 1 , 2\n3,4 \n",  # spaces
    ],
)
def test_real_files_that_are_read(text):
    done = process("protect", write(text), "-k", 2, "-o", "out.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("out.csv").read_text(encoding="utf-8-sig").splitlines()[1].startswith("2,")


def test_wrong_delimiter():
    write("x;y\n1;2\n3;4\n")
    chosen = ("protect", "in.csv", "-k", 2, "-o", "out.csv", "--delimiter", ",")
    refuse("one column only with the delimiter ',', but more with ';': give --delimiter", *chosen)


def test_a_column_of_text_says_what_it_could_be_for():
    write_companies()
    refuse(
        r"column 'name' of in.csv is not numeric: 40 of 40 values .* line 2: use it for strata "
        r"\(--by\) or as categories \(--nominal\), leave it out \(--drop\), or name",
        "protect", "in.csv", "-k", 3, "-o", "out.csv", "--drop", "id",
    )  # fmt: skip


def test_lines_are_counted_in_cells_of_several_lines():
    write('note,x\n"a\nb",1\nc,bad\n')
    refuse("'bad' on line 4", "protect", "in.csv", "-k", 2, "--columns", "x", "-o", "out.csv")


def test_wrong_encoding_and_binary():
    write("name,x\nÉ,1\n", encoding="latin-1")
    chosen = ("protect", "in.csv", "-k", 2, "--columns", "x", "-o", "out.csv")
    refuse("in.csv is not a text file in UTF-8 .byte 8 is 0xC9.*--encoding latin-1", *chosen)
    refuse("--encoding klingon is unknown", *chosen, "--encoding", "klingon")
    refuse("in.csv", *chosen, "--encoding", "ascii")
    Path("in.csv").write_bytes(bytes(range(256)) * 20)
    refuse("in.csv is not a text file", *chosen)


def test_no_input_file():
    refuse("absent.csv does not exist", "protect", "absent.csv", "-k", 3, "-o", "out.csv")
    os.mkdir("folder")
    refuse("folder is a directory", "protect", "folder", "-k", 3, "-o", "out.csv")


# The target


def test_output_exists():
    write_companies()
    write("precious", "out.csv")
    chosen = ("protect", "in.csv", "-k", 3, "--columns", "staff", "-o", "out.csv")
    refuse("out.csv exists: .*--force", *chosen)
    assert Path("out.csv").read_text() == "precious"


def test_output_is_the_input():
    write_companies()
    before = Path("in.csv").read_bytes()
    os.symlink("in.csv", "link.csv")
    chosen = ("protect", "in.csv", "-k", 3, "--columns", "staff")
    for target in ("in.csv", "./in.csv", "link.csv"):
        refuse("is also an input or another output", *chosen, "-o", target, "--force")
    assert Path("in.csv").read_bytes() == before


def test_output_cannot_be_written(monkeypatch):
    write_companies()
    chosen = ("protect", "in.csv", "-k", 3, "--columns", "staff")
    os.mkdir("folder")
    refuse("folder is a directory", *chosen, "-o", "folder", "--force")
    refuse("absent is not a directory", *chosen, "-o", "absent/out.csv")
    refuse("in.csv is not a directory", *chosen, "-o", "in.csv/out.csv")

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    # The superuser, whom tests may run as, can write to any directory.
    monkeypatch.setattr(microagg_gpu.files.atomic.Temporary, "make", denied)
    refuse("out.csv cannot be written: Permission denied", *chosen, "-o", "out.csv")


def test_full_disk_leaves_nothing():
    write_companies(n=2000)
    code = "import resource, sys; from microagg_gpu.cli.app import main; "
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); main()"
    arguments = ["protect", "in.csv", "-k", "3", "--columns", "staff", "-o", "out.csv"]
    done = command(code + limit, *arguments)
    assert done.returncode == 2
    assert done.stderr == "microagg: out.csv cannot be written: File too large\n"
    assert os.listdir() == ["in.csv"]


def test_failed_check_leaves_nothing(monkeypatch):
    write_companies()

    def wrong(table, *arguments, **given):
        result = microaggregate(table, *arguments, **given)
        values = result.protected["staff"].to_pylist()
        values[0] += 1  # the record now stands alone
        place = table.column_names.index("staff")
        return replace(result, protected=result.protected.set_column(place, "staff", [values]))

    monkeypatch.setattr(microagg_gpu.tasks.protect, "microaggregate", wrong)
    with pytest.raises(RuntimeError, match="3 records are in groups below k=3"):
        run("protect", "in.csv", "-k", 3, "--columns", "staff", "-o", "out.csv")
    assert os.listdir() == ["in.csv"]


# The options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "profit"], "column 'profit' is not in in.csv, which has: id, name,"),
        (["--columns", "staff,staff"], "column 'staff' is chosen twice"),
        (["--variable-weights", "1,2"], "2 weights for 1 variables"),
        (["--variable-weights", "x"], "weight='x' is not a number"),
        (["--variable-weights", "-1"], "a weight is negative"),
        (["--method", "magic"], "method 'magic' is unknown: choose one of fixed,"),
        (["--option", "gamma"], "option 'gamma' is not NAME=VALUE"),
        (["--option", "seed=1"], "method 'mdav' has no option 'seed'"),
        (["--option", "gamma=1"], "method 'mdav' has no option 'gamma'"),
        (["--method", "vmdav", "--option", "gamma=x"], "gamma='x' is not a number"),
        (["--method", "genetic", "--option", "population=1.5"], "population='1.5' is not a whole"),
        (["--method", "projection", "--option", "descending=x"], "is not true or false"),
        (
            ["--method", "projection", "--option", "variable=id"],
            "variable 'id' is not one of staff",
        ),
        (["--device", "tpu"], "--device tpu is unknown"),
        (["--plot", "out.csv"], "out.csv is also an input or another output"),
        (["--plot", "groups.xyz"], "groups.xyz cannot be written as a picture"),
        (["--plot", "g.png", "--method", "individual"], "no groups of whole records to draw"),
    ],
)
def test_bad_option(arguments, message):
    write_companies()
    columns = [] if "--columns" in arguments else ["--columns", "staff"]
    refuse(message, "protect", "in.csv", "-k", 3, "-o", "out.csv", *columns, *arguments)


@pytest.mark.parametrize("k", [0, -1])
def test_k_too_small(k):
    write_companies()
    refuse(
        f"-k {k} is too small", "protect", "in.csv", "-k", k, "--columns", "staff", "-o", "out.csv"
    )


def test_plot_without_matplotlib_names_the_extra(monkeypatch):
    write_companies()
    monkeypatch.setattr("microagg_gpu.plots.find_spec", lambda name: None)
    chosen = ("protect", "in.csv", "-k", 3, "--columns", "staff", "-o", "out.csv")
    extra = r"needs Matplotlib: pip install 'microagg-gpu\[report\]'"
    refuse(extra, *chosen, "--plot", "g.png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "3,x"], "k='x' is not a whole number"),
        (["-k", "50"], "-k 50 is more than the 40 records"),
        (["--methods", "mdav,magic"], "method 'magic' is unknown"),
    ],
)
def test_compare_refuses(arguments, message):
    write_companies()
    result = run("compare", "in.csv", "--columns", "staff", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_names_of_columns_are_quoted_as_they_are():
    """Nothing rewrites a message: a column may be called like an option of the library."""
    write("by=bar,missing='x'\n1,2\n3,\n")
    refuse(
        r"column 'by=baz' is not in in.csv, which has: by=bar, missing='x'\. Did you mean 'by=bar'",
        "protect", "in.csv", "-k", 2, "--columns", "by=baz", "-o", "out.csv",
    )  # fmt: skip
    refuse(
        r"in column missing=.x.*\(--missing pattern\), or leave out .* \(--missing drop",
        "protect", "in.csv", "-k", 2, "--columns", "by=bar,missing='x'", "-o", "out.csv",
    )  # fmt: skip
