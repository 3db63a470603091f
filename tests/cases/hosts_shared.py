"""Modules of mobpack that other systems import, too."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from packager.cli.doctor import doctor

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def imported() -> None:
    """Imports for this system all that `doctor` imports: pydantic's modules ask `sysconfig` for it as they begin."""
    assert CliRunner().invoke(doctor, []).exit_code == 0
