"""Plug-in for pytest: workers send one report of a test that passed, in place of three.

To send, read and count a report takes xdist about as long as an empty test takes. That a test was set up and torn down
without a failure is not told, unless the run shows or writes how long it took.
"""

import pytest
from _pytest.runner import runtestprotocol


class Short:
    """Runs tests as pytest does, and tells of each when it has ended."""

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def pytest_configure(config: pytest.Config) -> None:
    option = config.option
    if hasattr(config, "workerinput") and not (option.durations or option.write_durations):
        config.pluginmanager.register(Short())
