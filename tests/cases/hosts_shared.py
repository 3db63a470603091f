"""No call that only Linux has stands outside of named places, and the code runs where those calls are absent."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from packager.cli.doctor import doctor

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def imported() -> None:
    """Imports for this system all that `doctor` imports: pydantic's modules ask `sysconfig` for it as they begin."""
    assert CliRunner().invoke(doctor, []).exit_code == 0
