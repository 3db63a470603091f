"""Commands of mobpack with a planted fault."""

from types import ModuleType

import pytest

from packager import models


def nested(depth: int) -> int:
    return nested(depth + 1) + 1


def plant(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | str, module: ModuleType = models, name: str = "load"
) -> None:
    """Plant a fault in the function `name`."""

    def fail(*_args: object, **_names: object) -> None:
        if isinstance(error, str):
            raise RuntimeError(error)
        if error is RecursionError:
            nested(0)
        raise error

    monkeypatch.setattr(module, name, fail)
