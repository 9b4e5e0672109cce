"""A company with its haechi.toml, and the same one indexed."""

from __future__ import annotations

import pytest

from tests.e2e.haechi import Haechi


@pytest.fixture
def haechi(tmp_path):
    """Nothing is indexed yet."""
    found = Haechi.with_company(tmp_path)
    yield found
    found.end()


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """Indexed once for all tests of a module; they only read it."""
    found = Haechi.with_company(tmp_path_factory.mktemp("indexed"))
    run = found.run("ingest")
    assert run.returncode == 0, run.stderr
    yield found
    found.end()
