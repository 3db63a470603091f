"""Dart, as scenarios of delivery play in it."""

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
