"""Packages in apps on older versions of React Native and Expo; all other tests use the newest of both."""

import pytest

from tests.nights import at_night

OLDER = ("expo_54", "expo_57")
"""npm projects with the oldest React Native that packages take, and with that of the previous Expo"""


@pytest.fixture(
    scope="module",
    params=[OLDER[0], *at_night(OLDER[1])],
)
def project(request: pytest.FixtureRequest) -> str:
    return str(request.param)
