"""numpydoc's checks of the docstrings of everything public."""

import inspect
from importlib import import_module

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import microagg_gpu
from microagg_gpu import METHODS, datasets, measures

# Checks that do not fit.
LEFT_OUT = {
    *("ES01", "EX01", "SA01"),  # not everything needs a long text, an example, or relatives
    *("PR03", "PR04"),  # parameters "as in `microaggregate`" stand together; their types are there
    *("RT03", "RT04"),  # a type such as "n x p matrix" may say it all
    "SS05",  # takes the noun that begins a summary for a verb
}
# All methods take these and return labels: the registry of methods says so once.
SHARED = {"points", "k", "engine", "progress", "seed"}


def homes():
    """Full names of the public functions and classes, and of the functions that are methods."""
    yield from (
        f"microagg_gpu.{name}" for name in ("compare", "microaggregate", "refine", "suggest_blocks")
    )
    yield from (f"microagg_gpu.{name}" for name in ("Comparison", "Result", "InputError"))
    yield from (f"microagg_gpu.measures.{name}" for name in measures.__all__)
    yield from (f"microagg_gpu.datasets.{name}" for name in datasets.__all__)
    yield "microagg_gpu.sklearn.Microaggregator"
    yield "microagg_gpu.distributed.microaggregate"
    yield "microagg_gpu.distributed.DistributedResult"


def methods():
    return [f"{method.function.__module__}.{name}" for name, method in METHODS.items()]


def with_members(name):
    """A name, and if it is a class those of its public members."""
    module, _, last = name.rpartition(".")
    thing = getattr(import_module(module), last)
    yield name
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                yield f"{name}.{member}"


def problems(name, left_out=()):
    found = validate(name)["errors"]
    return [(code, text) for code, text in found if code not in LEFT_OUT | {*left_out}]


@pytest.mark.parametrize("home", list(homes()))
def test_public_docstrings(home):
    if ".sklearn." in home:
        pytest.importorskip("sklearn")
    if ".distributed." in home:
        pytest.importorskip("distributed")
    for name in with_members(home):
        # The fields of a class are under Attributes, not once more under Parameters.
        is_class = name == home and inspect.isclass(getattr(*_split(home)))
        assert problems(name, ["PR01"] if is_class else []) == [], name


def _split(name):
    module, _, last = name.rpartition(".")
    return import_module(module), last


@pytest.mark.parametrize("name", methods())
def test_docstrings_of_methods(name):
    assert problems(name, ["RT01", "PR01"]) == []
    function = Validator(get_doc_object(getattr(*_split(name))))
    assert set(function.signature_parameters) - SHARED <= set(function.doc_all_parameters)


def test_the_list_is_that_of_the_package():
    public = {name for name in homes() if name.count(".") == 1}
    others = {"METHODS", "DataWarning", "datasets", "measures"}
    assert {f"microagg_gpu.{name}" for name in microagg_gpu.__all__ if name not in others} == public
