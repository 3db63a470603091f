"""Messages about steps: what a terminal shows, and what a file gets, without the time that it takes to load rich."""

import time

import pytest

from packager.core.console import Console


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_step_says_that_it_is_done_in_one_line(
    is_terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "40")
    with Console().step("load [b]net[/b]") as show:
        show("weights")
    with Console().progress("calibrate [1]") as advance:
        advance(1, 2)
    last = [line for line in capsys.readouterr().err.splitlines() if "✓" in line]
    assert len(last) == 2
    assert ("load [b]net[/b]" in last[0], "calibrate [1]" in last[1]) == (True, True)
    assert ("\x1b[32m✓" in last[0]) == ("\x1b[32m✓" in last[1]) == is_terminal


def test_steps_of_one_kind_share_a_line_that_is_printed_before_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    for name in ("net", "head", "tail"):
        with console.step(f"load {name}", kind="load models"):
            pass
    with console.step("plan net", kind="plan files"):
        pass
    console.say("done")
    assert capsys.readouterr().err == "  ✓ load models (3) 0.0 s\n  ✓ plan net 0.0 s\ndone\n"
    with console.step("load net", kind="load models"):
        pass
    console.error("no", "")
    assert capsys.readouterr().err == "  ✓ load net 0.0 s\nmobpack: error: no\n"


def test_a_long_step_says_its_five_longest_parts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.5, 4.5, 5.6, 36.6, 41.6, 43.6, 45.1])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    with Console().step("package for android") as show:
        for part in ("render", "assemble", "compile C", "compile Kotlin", "sign", "write"):
            show(part)
    assert (
        capsys.readouterr().err
        == "  ✓ package for android 45.1 s: render 4 s, compile C 31 s, compile Kotlin 5 s, sign 2 s, write 2 s\n"
    )


def test_a_step_that_fails_is_not_done_and_a_quiet_console_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for begun in (Console().step("load"), Console().progress("load")):
        with pytest.raises(ValueError, match="no"), begun:
            raise ValueError("no")
    assert capsys.readouterr().err == ""
    with Console(quiet=True).step("load"), Console(quiet=True).progress("load") as advance:
        advance(1, 2)
    assert capsys.readouterr() == ("", "")


def test_steps_that_are_expected_to_be_long_are_named_when_they_begin(capsys: pytest.CaptureFixture[str]) -> None:
    """Where no terminal shows them: a log says in which step a command is."""
    console = Console()
    console.expect_long("it is large")
    with console.step("plan net") as announce:
        announce("compile it")
        assert capsys.readouterr().err == "it is large\n  plan net ...\n  plan net: compile it ...\n"
    with console.progress("calibrate"):
        assert capsys.readouterr().err == "  ✓ plan net 0.0 s\n  calibrate ...\n"
