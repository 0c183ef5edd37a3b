"""Broken and odd files: each function writes one and returns the arguments of the command."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from .tables import table, write_table

Maker = Callable[[random.Random, Path], list[Any]]
FORMS = ("parquet", "arrow", "stream.arrow", "csv", "csv.gz", "csv.zst", "csv.bz2", "csv.lz4")
NAMES = ("new\nline", 'quo"te', "it's", "💶", "שלום", "\u202eright to left", "", " ", "a,b",
         "[bold]x[/bold]", "x" * 3000, "tab\there", "naïve", "=1+1", "--columns", "a\x00b",
         "\ufeff", "e\u0301")  # fmt: skip
LINES = "a,b,c\n" + "".join(f"{i % 7},{i * 3 % 11},{i}\n" for i in range(40))


def _content(form: str) -> bytes:
    path = Path(f"original.{form}")
    compression = {"bz2": "bz2", "lz4": "lz4"}.get(form.split(".")[-1])
    if compression:
        with pa.output_stream(str(path), compression=compression) as stream:
            pa.csv.write_csv(table(60), stream)
    else:
        write_table(table(60), path)
    content = path.read_bytes()
    path.unlink()
    return content


def _companies(source: Any) -> list[Any]:
    return ["protect", source, "-k", "3", "--columns", "turnover,staff", "-o", "out.csv"]


def _letters(source: Any) -> list[Any]:
    return ["protect", source, "-k", "3", "--columns", "a,b", "-o", "out.csv"]


def truncated(dice: random.Random, folder: Path) -> list[Any]:
    """A file that ends too early."""
    form = dice.choice(FORMS)
    content = _content(form)
    Path(f"in.{form}").write_bytes(content[: dice.randrange(len(content))])
    return _companies(f"in.{form}")


def altered(dice: random.Random, folder: Path) -> list[Any]:
    """A file with some bytes changed."""
    form = dice.choice(FORMS)
    content = bytearray(_content(form))
    for _ in range(dice.choice([1, 1, 2, 20])):
        content[dice.randrange(len(content))] = dice.randrange(256)
    Path(f"in.{form}").write_bytes(content)
    return _companies(f"in.{form}")


def wrong_ending(dice: random.Random, folder: Path) -> list[Any]:
    """A file that is of another kind than its name says."""
    name = f"in.{dice.choice([*FORMS, 'txt', 'xlsx', 'csv.GZ', 'pq', 'feather'])}"
    Path(name).write_bytes(_content(dice.choice(FORMS)))
    return _companies(name)


def text(dice: random.Random, folder: Path) -> list[Any]:
    """Texts that are hardly CSV."""
    rows = LINES
    variants = [
        "", "\n", "\n\n\n", "a", "a,b,c", "a,b,c\n", "a,b,c\r\n", "1,2,3\n4,5,6\n", ",,\n,,\n", '"',
        "a,b\n" + "1,2\n" * 3 + '"', rows.replace("\n", "\r"), rows.replace("\n", "\r\n"),
        rows.replace("\n", "\r\n", 9), rows.replace("\n", "\n\n"), rows + "1,2\n",
        rows + "1,2,3,4\n", rows.replace("5", '"5'), rows.replace("5", '5"5"'),
        rows.replace("5", "\x00"), "\x00" * 500, rows + "\x1a", rows.replace(",", ", "),
        rows.replace(",", "\t"), rows.replace(",", ";"), rows.replace(",", "|"),
        rows.replace("5", "x" * 5_000_000, 1), rows.replace("3", "1e999"), rows.replace("3", "nan"),
        rows.replace("3", "inf"), rows.replace("3", "0x1F"), rows.replace("3", "\uff11\uff12"),
        rows.replace("3", "1_000"), rows.replace("3", "--5"), rows.replace("3", '"1,5"'),
        rows.replace("3", "9" * 1000), rows.replace("3", "\u200b3"), rows.replace("3", "\u22123"),
        rows.replace("3", ""), rows.replace("3", "NA"), rows.replace("3", "1e-400"),
        "a,b,a\n1,2,3\n" * 5, 'a,"b\n",c\n1,2,3\n', "\ufeff\ufeff" + rows, rows * 2,
    ]  # fmt: skip
    content = dice.choice(variants)
    encoding = dice.choice(["utf-8"] * 5 + ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp037"])
    Path("in.csv").write_bytes(content.encode(encoding, "replace"))
    return _letters("in.csv")


def random_bytes(dice: random.Random, folder: Path) -> list[Any]:
    """Nothing but noise, perhaps behind the right first bytes."""
    form = dice.choice(FORMS)
    first = {
        "parquet": b"PAR1",
        "arrow": b"ARROW1\x00\x00",
        "gz": b"\x1f\x8b\x08",
        "lz4": b'\x04"M',
    }
    start = first.get(form.split(".")[-1], b"a,b,c\n") if dice.random() < 0.7 else b""
    Path(f"in.{form}").write_bytes(start + dice.randbytes(dice.choice([0, 10, 1000, 50_000])))
    return _letters(f"in.{form}")


def wide(dice: random.Random, folder: Path) -> list[Any]:
    """Thousands of columns."""
    count = dice.choice([1000, 10_000])
    header = ",".join(["a", "b", *(f"v{j}" for j in range(count))])
    Path("in.csv").write_text(header + "\n" + ("1,2" + ",3" * count + "\n") * 12)
    return _letters("in.csv")


def column_names(dice: random.Random, folder: Path) -> list[Any]:
    """Names of columns that are not letters only."""
    one, two = dice.sample(NAMES, 2)
    columns = {one: np.arange(30) % 7, two: np.arange(30) % 5, "plain": np.arange(30.0)}
    form = dice.choice(["csv", "parquet", "arrow"])
    write_table(pa.table(columns), Path(f"in.{form}"))
    chosen = dice.choice(["plain", one.replace("\x00", "") or "plain"])
    quoted = '"' + chosen.replace('"', '""') + '"'
    more = dice.choice([[], ["--report", "report.html"], ["--by", "plain"]])
    output = f"out.{dice.choice(['csv', 'parquet'])}"
    return ["protect", f"in.{form}", "-k", "3", "--columns", quoted, "-o", output, *more]


def file_names(dice: random.Random, folder: Path) -> list[Any]:
    """Names of files that are not letters only."""
    names = ["--help.csv", "-k.csv", "a b.csv", "💶.csv", "שלום.csv", "new\nline.csv", 'quo"te.csv',
             "[bold].csv", ".csv", "x" * 240 + ".csv", ".hidden.csv", "a;b.csv", "$(ls).csv",
             "in.CSV", "in", "in.csv.", "~.csv", "*.csv", "\u202e.csv", "%s%n.csv"]  # fmt: skip
    if os.name == "posix":
        names += [os.fsdecode(b"\xff\xfe.csv"), os.fsdecode(b"caf\xe9.csv")]
    name = dice.choice(names)
    Path(name).write_text(LINES)
    output = dice.choice(["out.csv", f"out-{name[:200]}"])
    return [*_letters(f"./{name}")[:-2], "-o", f"./{output}"]


def special(dice: random.Random, folder: Path) -> list[Any]:
    """Directories, links, devices and paths that lead nowhere."""
    Path("in.csv").write_text(LINES)
    Path("directory.csv").mkdir()
    links = {"circle.csv": "circle.csv", "dangling.csv": "nowhere", "link.csv": "in.csv",
             "full.csv": "/dev/full"}  # fmt: skip
    for name, target in links.items():
        os.symlink(target, name)
    deep = Path(*["d" * 40] * 30)
    deep.mkdir(parents=True)
    (deep / "in.csv").write_text(LINES)
    sources = ["in.csv", "circle.csv", "dangling.csv", "directory.csv", ".", "/", "", "/dev/null",
               "/dev/full/x.csv", "link.csv", str(deep / "in.csv"), "x" * 300 + ".csv",
               "y/" * 3000 + "in.csv", "in.csv/", "in.csv/x", "/proc/self/mem", "no\nbody.csv",
               "no[bold]body.csv"]  # fmt: skip
    outputs = ["out.csv", "in.csv", "link.csv", "circle.csv", "dangling.csv", "directory.csv",
               "/dev/full", "full.csv", "nowhere/out.csv", "in.csv/out.csv", str(deep / "out.csv"),
               "x" * 300 + ".csv", "/proc/out.csv", "", "."]  # fmt: skip
    source, output = dice.choice(sources), dice.choice(outputs)
    if dice.random() < 0.7:  # one of both is all right
        source, output = dice.choice([("in.csv", output), (source, "out.csv")])
    return [*_letters(source)[:-2], "-o", output, *["--force"] * (dice.random() < 0.3)]


def types(dice: random.Random, folder: Path) -> list[Any]:
    """Parquet and Arrow files with types that are no plain numbers."""
    n = 30
    columns = {
        "list": pa.array([[1, 2]] * n), "struct": pa.array([{"x": 1}] * n), "null": pa.nulls(n),
        "decimal": pa.array(np.arange(n)).cast(pa.decimal128(30, 5)), "bool": pa.array([True] * n),
        "date": pa.array(np.arange(n, dtype=np.int32)).cast(pa.date32()),
        "time": pa.array(np.arange(n)).cast(pa.timestamp("ns", "UTC")),
        "half": pa.array(np.arange(n, dtype=np.float16)), "bytes": pa.array([b"\xff\x00"] * n),
        "category": pa.array(["a", "b"] * (n // 2)).dictionary_encode(),
        "extreme": pa.array([2**64 - 1, 0, 2**63] * (n // 3), pa.uint64()),
        "small": pa.array(np.arange(n, dtype=np.int8)),
        "view": pa.array(["v"] * n, pa.string_view()),
        "nan": pa.array([float("nan")] * n), "number": pa.array(np.arange(float(n))),
    }  # fmt: skip
    form = dice.choice(["parquet", "arrow"])
    chosen = dice.sample(list(columns), dice.randint(1, 6))
    if form == "parquet":
        chosen = [name for name in chosen if name != "view"] or ["number"]
    write_table(pa.table({name: columns[name] for name in chosen}), Path(f"in.{form}"))
    more = dice.choice([[], ["--missing", "pattern"], ["--keep-integers"], ["--by", chosen[-1]],
                        ["--nominal", chosen[-1]], ["--weight", chosen[-1]]])  # fmt: skip
    output = f"out.{dice.choice(['csv', 'parquet', 'arrow'])}"
    return ["protect", f"in.{form}", "-k", "3", "--columns", chosen[0], "-o", output, *more]


def requests(dice: random.Random, folder: Path) -> list[Any]:
    """Options that make no sense, and the other commands."""
    Path("in.csv").write_text(LINES)
    Path("other.csv").write_text(LINES.replace("3", "4"))
    return dice.choice(
        [
            [*_letters("in.csv"), "--columns", ",,,"], [*_letters("in.csv"), "--by", "nobody"],
            [*_letters("in.csv"), "--option", "x"], [*_letters("in.csv"), "--option", "k=2"],
            [*_letters("in.csv"), "--variable-weights", "a=b"], [*_letters("in.csv"), "-k", "-5"],
            [*_letters("in.csv"), "--delimiter", "💶"], [*_letters("in.csv"), "--decimal", "xx"],
            [*_letters("in.csv"), "--encoding", "nobody"], [*_letters("in.csv"), "--drop", "a,b,c"],
            [*_letters("in.csv"), "--group-column", "a"], [*_letters("in.csv"), "--weight", "c"],
            [*_letters("in.csv"), "--device", "tpu"], [*_letters("in.csv"), "--seed", "-1"],
            [*_letters("in.csv"), "--report", "out.csv"], [*_letters("in.csv"), "--ordinal", "a<b"],
            ["check", "in.csv", "-k", "3", "--columns", "a"],
            ["check", "in.csv", "-k", "1000", "--columns", "a,b,c"],
            ["check", "in.csv", "-k", "0", "--columns", "a"],
            ["compare", "in.csv", "-k", "3", "--methods", "mdav,vmdav", "--columns", "a,b"],
            ["compare", "in.csv", "-k", "x", "--columns", "a,b"],
            ["report", "in.csv", "other.csv", "-o", "report.html"],
            ["report", "in.csv", "in.csv", "-o", "report.html"],
        ]
    )  # fmt: skip


MAKERS: tuple[Maker, ...] = (
    truncated, altered, text, special, types, truncated, altered, column_names, file_names,
    wrong_ending, text, random_bytes, requests, altered, truncated, text, special, file_names,
    column_names, types, requests, truncated, altered, wide,
)  # fmt: skip
