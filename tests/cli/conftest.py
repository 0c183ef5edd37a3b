"""Tests of the command work in a directory of their own."""

import pytest

from helpers.command import write_companies


@pytest.fixture(autouse=True)
def _in_empty_directory(empty_directory):
    pass


@pytest.fixture
def source():
    """The file in.csv; returns its rows."""
    return write_companies()
