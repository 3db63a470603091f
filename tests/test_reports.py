"""Reports of tests that workers send."""

import pytest

from tests.reports import Short

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.fixture
def broken():
    raise OSError("set up")

@pytest.fixture
def left():
    yield
    raise OSError("torn down")

def test_passes(): pass
def test_fails(): assert 0
def test_is_not_set_up(broken): pass
def test_is_not_torn_down(left): pass
def test_is_skipped(): pytest.skip()

@pytest.mark.skip
def test_is_skipped_before(): pass

@pytest.mark.xfail
def test_fails_as_expected(): assert 0

@pytest.mark.xfail(strict=True)
def test_passes_unexpectedly(): pass
"""


def test_one_report_of_a_passed_test_is_sent_and_all_of_what_has_not_passed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    found = []
    for plugins in ([], [Short()]):
        reports = pytester.inline_run("-pno:cacheprovider", plugins=plugins).getreports("pytest_runtest_logreport")
        found.append([(each.nodeid.rpartition("::")[2], each.when, each.outcome) for each in reports])
    every, sent = found
    assert sent == [(name, when, outcome) for name, when, outcome in every if when == "call" or outcome != "passed"]
    assert [(when, outcome) for name, when, outcome in sent if name == "test_passes"] == [("call", "passed")]
    assert {"setup", "call", "teardown"} == {when for _, when, outcome in sent if outcome == "failed"}
