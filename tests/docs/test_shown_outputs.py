"""What the README and the pages show is what their commands print; ``make demo`` runs the tour."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("outputs", ROOT / "docs" / "outputs.py")
outputs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(outputs)
README = (ROOT / "README.md").read_text(encoding="utf-8")
INDEX = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", outputs.pages(), ids=lambda page: page.stem)
def test_shown_outputs_are_those_of_the_commands(page):
    for block, now in outputs.outputs(page):
        shown = outputs.masked(block["output"])
        assert outputs.masked(now) == shown, f"run python docs/outputs.py: {block['command']}"


@pytest.mark.parametrize("page", outputs.pages(), ids=lambda page: page.stem)
def test_every_command_of_these_pages_is_run(page):
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"^(?:    )?\$? *(microagg \w.*)$", text, re.MULTILINE)
    blocks = "".join(block[0] for block in outputs.BLOCKS.finditer(text))
    assert [command for command in commands if command not in blocks] == []


def test_the_first_page_shows_commands_of_the_tour():
    (shown,) = re.findall(r"^```sh\n(.*?)^```", INDEX, re.MULTILINE | re.DOTALL)
    assert shown == "".join(outputs.BLOCKS.findall(README)[step][0] for step in (1, 2))


def test_masked_leaves_out_seconds_only():
    table = "  5   path    21.140    18.16      475         9      0.82\n"
    assert outputs.masked(table) == "  5   path    21.140    18.16      475         9 ...\n"
    assert (
        outputs.masked(" time  1.06 s on cpu, loss 21.1395 %")
        == " time  ... s on cpu, loss 21.1395 %"
    )
    assert outputs.masked("a\ncompiling took 4.2 s more, once\nb\n") == "a\nb\n"
    same = " groups       475 groups of 5 to 9 records\n loss   21.13 %\n 5 and 7.25 records\n"
    assert outputs.masked(same) == same


def test_the_demo_runs_the_tour():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2]
    recipe = recipe.partition("\n\n")[0].replace("\\\n", "")
    demo = [shlex.split(text) for text in re.findall(r"/(microagg .*)", recipe)]
    blocks = [block["command"].replace("\\\n", "") for block in outputs.BLOCKS.finditer(README)]
    tour = [shlex.split(command) for command in blocks if command.startswith("microagg")]
    assert demo == tour[:3]
    assert [command[1] for command in demo] == ["compare", "protect", "check"]


def test_the_tour_ends_with_a_pass_over_all_columns_and_losses_agree():
    shown = {
        block["command"].split()[1]: block["output"] for block in outputs.BLOCKS.finditer(README)
    }
    assert "--columns" not in re.search(r"^microagg check.*$", README, re.MULTILINE)[0]
    assert shown["check"].startswith("PASS")
    first = re.search(r"^ loss +(\S+) %$", README, re.MULTILINE)[1]
    assert f"refined      from a loss of {first} %" in README
    assert re.search(rf"^ +5 +path +{float(first):.3f} ", shown["compare"], re.MULTILINE)
    assert f"{float(first):.1f} % of the variation is lost" in shown["report"]
