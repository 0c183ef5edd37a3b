"""Each default stands in one place, and each choice: a change is seen everywhere."""

import inspect
import json
import subprocess
import sys
from dataclasses import fields
from typing import get_args

import pytest

from helpers.command import run
from helpers.public import targets
from microagg_gpu import METHODS, InputError, compare, microaggregate, refine, settings
from microagg_gpu.settings import CLUSTER, DEFAULT, FORMAT, ROLES, Settings, changed

pytestmark = pytest.mark.usefixtures("empty_directory")

OTHER = {
    "k": 7, "method": "vmdav", "standardize": False, "device": "cpu", "seed": 11,
    "missing": "pattern", "small_strata": "suppress", "aggregate": "trimmed", "trim": 0.1,
    "keep_integers": True, "decimals": 2, "average_weight": True,
    "refine": 1.5, "refine_steps": 3, "shuffle": True, "precision": "single", "engine": "generic",
}  # fmt: skip
SIGNATURES = """
import inspect, json
from dataclasses import replace
from microagg_gpu import settings
settings.DEFAULT = replace(settings.DEFAULT, **{default})
settings.CLUSTER = settings.ClusterSettings(block=77, repair=3)
settings.FORMAT = settings.Format(decimal=",", published_decimals="exact")
from microagg_gpu import compare, distributed, microaggregate, refine
from microagg_gpu.cli.protect import protect
from microagg_gpu.cli.compare import compare_methods
from microagg_gpu.cli.report import report
from microagg_gpu.sklearn import Microaggregator
found = {{}}
for function in (microaggregate, compare, refine, distributed.microaggregate, protect,
                 compare_methods, report, Microaggregator.__init__):
    name = f"{{function.__module__}}.{{function.__qualname__}}"
    found[name] = {{
        p.name: p.default for p in inspect.signature(function).parameters.values()
        if isinstance(p.default, (str, int, float, bool))
    }}
print(json.dumps(found))
"""


def test_a_default_that_is_changed_changes_everywhere():
    """Every parameter that is a setting has the default of the settings, in all signatures."""
    pytest.importorskip("distributed")
    pytest.importorskip("sklearn")
    code = SIGNATURES.format(default=OTHER)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    cluster, file = {"block": 77, "repair": 3}, {"decimal": ",", "published_decimals": "exact"}
    seen = set()
    for function, parameters in found.items():
        for name, default in parameters.items():
            if name == "no_standardize":
                name, default = "standardize", not default
            for expected in (OTHER, cluster, file):
                if name in expected and (name, default) != ("k", "3,5"):
                    assert default == expected[name], (function, name)
                    seen.add(name)
    assert seen == {*OTHER, *cluster, *file}
    assert len(found) == 8


def test_signatures_have_the_defaults():
    for function in (microaggregate, compare, refine):
        for name, parameter in inspect.signature(function).parameters.items():
            for group in (DEFAULT, ROLES, CLUSTER, FORMAT):
                if name in {f.name for f in fields(group)} and name not in ("k", "options"):
                    assert parameter.default is getattr(group, name), (function, name)


@pytest.mark.parametrize(
    "name", ["Missing", "SmallStrata", "Aggregate", "Unrepaired", "Scale", "TMethod"]
)
def test_choices_are_those_of_the_types(name):
    """In the help of the command and in the errors of both."""
    choices = get_args(getattr(settings, name))
    help_text = run("protect", "--help").output
    assert "|".join(choices) in "".join(help_text.split()).replace("│", "")
    option = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).strip("_")
    wrong = choices[-1][:-1]
    with pytest.raises(InputError) as error:
        microaggregate([[1.0]], 1, **{option: wrong})
    assert all(repr(choice) in str(error.value) for choice in choices)
    assert str(error.value).endswith(f"Did you mean {choices[-1]!r}?")


@pytest.mark.parametrize(
    ("call", "nearest"),
    [
        (lambda: microaggregate([[1.0]], 1, "mdva"), "mdav"),
        (lambda: microaggregate([[1.0]], 1, misssing="drop"), "missing"),
        (lambda: microaggregate([[1.0]], 1, "vmdav", gama=0.2), "gamma"),
        (lambda: microaggregate([[1.0]], 1, "mst", split="centroids"), "centroid"),
        (lambda: compare([[1.0]], 1, metods="mdav"), "methods"),
        (lambda: refine([[1.0]], [0], 1, second=0), "seconds"),
    ],
)
def test_did_you_mean(call, nearest):
    with pytest.raises(InputError, match=f"Did you mean '{nearest}'"):
        call()


def test_unknown_keywords_are_input_errors(tmp_path):
    """Of every public function."""
    tried = 0
    for target in targets(tmp_path):
        if not target.function.__module__.startswith("microagg_gpu"):
            continue  # a function of the tests, as for an estimator, or a part of an argument
        with pytest.raises(InputError, match="unheard_of"):
            target.function(**target.given, unheard_of=1)
        tried += 1
    assert tried > 20


def test_settings_refuse_what_cannot_be_used():
    for name, value in (
        ("k", 0), ("k", 2.5), ("seed", -1), ("device", "gpu"), ("missing", "ignore"),
        ("engine", "fast"), ("refine", -1), ("refine_steps", 0.5), ("keep_integers", "yes"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=name):
            Settings(**{name: value})


def test_changed():
    assert changed(Settings()) == {}
    assert changed(Settings(k=5, missing="drop")) == {"k": 5, "missing": "drop"}


def test_old_names_are_accepted_with_a_notice():
    data = [[1.0, 5.0], [2.0, 6.0], [9.0, 7.0], [8.0, 1.0]]
    with pytest.warns(FutureWarning, match="weights= is called variable_weights= now"):
        old = microaggregate(data, 2, weights=[1, 100])
    new = microaggregate(data, 2, variable_weights=[1, 100])
    assert old.labels.tolist() == new.labels.tolist()
    with open("in.csv", "w", encoding="utf-8") as file:
        file.write("a,b\n1,5\n2,6\n9,7\n8,1\n")
    result = run("protect", "in.csv", "-k", 2, "--column-weights", "b=100", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    assert "--column-weights is called --variable-weights now" in result.output


def test_every_method_has_a_name():
    assert DEFAULT.method in METHODS
