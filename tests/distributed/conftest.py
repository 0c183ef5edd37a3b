"""Tests of a cluster work in a directory of their own."""

import pytest


@pytest.fixture(autouse=True)
def _in_empty_directory(empty_directory):
    pass
