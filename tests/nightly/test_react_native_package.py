"""The npm package that `mobpack build` makes is one that an app can take: its types, its code, its list of files.

The package is the real one of a real model, and so are the tools: TypeScript, ESLint with the rules of React and of
strict types, React Native's code generator, npm, publint and attw.
"""

from collections.abc import Mapping

import pytest

from tests.cases.react_native_package import RESOLUTIONS, Compiled, built, compiled, difficult, each
from tests.toolchain import npm_checks
from tests.toolchain.typescript import Workplace

__all__ = ["built", "compiled", "difficult", "each"]


@pytest.mark.parametrize("name", ["sources", "examples", *RESOLUTIONS])
def test_typescript_6_complains_of_the_same(compiled: Mapping[str, Compiled], name: str) -> None:
    found = compiled[name]
    assert npm_checks.complaints_of_6(Workplace(found.folder).config) == npm_checks.complaints(found.done)
