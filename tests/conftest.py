"""Fixtures that several test files share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from libraries import ARRAY_LIBRARIES

# The same examples in every run, so that CI is steady; HYPOTHESIS_PROFILE=wide draws new ones.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("wide", deadline=None, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Directory of the reference files: MICROAGG_DATA, else shared/data beside the repository."""
    named = os.environ.get("MICROAGG_DATA")
    home = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not home.is_dir():
        pytest.skip("reference data not found: set MICROAGG_DATA")
    return home


def pytest_report_header() -> str:
    """Say which array libraries the methods are tested on."""
    return f"array libraries: {', '.join(ARRAY_LIBRARIES)}"
