"""iPhones at a Mac, with stand-ins for Apple's tools that print what devicectl and xcodebuild are known to print."""

import sys
from pathlib import Path

import pytest

from packager.cli import main
from packager.core.errors import ToolError
from packager.measuring.devices.iphones import chosen
from tests.cases.iphones import swift_package


def test_without_xcode_the_error_says_what_can_be_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="Mac with Xcode") as refused:
        chosen("")
    assert "omit --run" in refused.value.hint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--most", "3"), "--most needs --tune"),
        (("--tune", "--report", "a.html"), "--report needs --run"),
        (("--tune", "--run", "--fail-on", "p90=1ms"), "--fail-on is for a package as it is"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["mobpack", "device", "xcode", str(swift_package(tmp_path)), *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, said in capsys.readouterr().err) == (2, True)
