"""Dart: whatever servers, publishers and disks do, and wherever the app is killed, it opens a verified model."""

from collections.abc import Iterator

import pytest

from tests.cases.delivery_language import Language
from tests.delivery_drivers.dart import of_releases
from tests.toolchain.dart import dart


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Language]:
    dart()
    with of_releases(tmp_path_factory.mktemp("flutter")) as found:
        yield found
