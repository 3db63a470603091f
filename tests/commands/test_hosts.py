"""`mobpack doctor` says what the system lacks."""

import json
import sys
from dataclasses import asdict

import pytest
from click.testing import CliRunner

from packager.cli.doctor import doctor
from packager.workflows.limits import ONLY_ON, limits
from tests.cases.hosts_shared import imported

__all__ = ["imported"]


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("system", ["linux", *sorted(ONLY_ON)])
def test_doctor_says_what_the_system_lacks(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    said, document = (CliRunner().invoke(doctor, arguments) for arguments in ([], ["--json"]))
    found = json.loads(document.stdout)["limits"]
    assert found == [asdict(limit) for limit in limits(system)]
    assert ("What this system lacks" in said.output) == (system != "linux")
