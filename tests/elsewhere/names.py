"""A plug-in for pytest: names that only Linux tells apart."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _no_names_that_differ_in_case_only(request: pytest.FixtureRequest) -> Iterator[None]:
    made = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    for folder, folders, files in os.walk(made) if made else ():
        names = [*folders, *files]
        assert len({name.casefold() for name in names}) == len(names), f"one file on other systems: {folder}, {names}"
