"""Finds workers that can do a task. One that none can do is known before anything begins: Dask would wait for ever."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packager.core.console import size
from packager.measuring.fleet.about import WorkerAbout
from packager.measuring.fleet.projects import MEMORY

RUNNER = "runner "
"""Begins the name of a resource that is a runner."""


@dataclass(frozen=True, kw_only=True)
class Worker:
    address: str
    name: str
    alias: Any
    """its name as Dask has it, which a worker that is started again keeps"""
    about: WorkerAbout
    memory_bytes: float = 0
    """0 if it has no limit"""
    declared: Mapping[str, float] = field(default_factory=dict)
    """resources that it was started with: `dask worker --resources "gpu=1"`"""

    def lacks(self, needs: Mapping[str, float]) -> str:
        """The first of `needs` that the worker does not have, in words; empty if it has all."""
        for resource, amount in needs.items():
            if resource == MEMORY:
                if self.memory_bytes and self.memory_bytes < amount:
                    return f"{size(amount)} of memory, and it has {size(self.memory_bytes)}"
            elif resource.startswith(RUNNER):
                if reason := self.about.runners.get(resource.removeprefix(RUNNER), ""):
                    return f"the {resource}: {reason}"
            elif self.declared.get(resource, float(resource in self.about.abilities)) < amount:
                return f"{resource}={amount:g}"
        return ""


def able(workers: Sequence[Worker], needs: Mapping[str, float]) -> tuple[Worker, ...]:
    return tuple(each for each in workers if not each.lacks(needs))


def why_none(workers: Sequence[Worker], needs: Mapping[str, float]) -> str:
    """Why no worker can do a task, in words."""
    reasons = list(dict.fromkeys(each.lacks(needs) for each in workers))
    return f"no worker has {reasons[0]}" if len(reasons) == 1 else f"no worker has all of {', '.join(needs)}"


def hosts(workers: Sequence[Worker]) -> set[str]:
    """The machines that workers are on, by their addresses."""
    return {each.address.rpartition(":")[0] for each in workers}


def largest(workers: Sequence[Worker]) -> Worker:
    """The worker with the most memory; one without a limit counts as the largest."""
    return max(workers, key=lambda each: each.memory_bytes or float("inf"))
