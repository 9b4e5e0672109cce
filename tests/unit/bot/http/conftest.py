from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.bot.http.site import Site


@pytest.fixture
def open_site(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Opens sites on one data folder; all are closed afterwards."""
    opened: list[Site] = []

    def open_one(**options: object) -> Site:
        opened.append(Site(tmp_path, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for site in opened:
        site.close()


@pytest.fixture
def site(open_site: Callable[..., Site]) -> Site:
    return open_site()
