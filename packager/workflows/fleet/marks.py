"""Marks tasks as done in the store, so that another run leaves them out.

A mark says that the results of a task were there. If they were removed since, a build makes them again.
"""

from pathlib import Path

from packager.files.store import Step, Store

DONE = Step(
    name="fleet",
    caller=__name__,
    computed_by=("packager.workflows.fleet.marks", "packager.workflows.fleet.steps", "packager.workflows.build"),
)


def mark(store: Store, inputs: object, words: str) -> None:
    """Marks the task with these `inputs`, everything that its results depend on."""

    def make(folder: Path) -> None:
        (folder / "task.txt").write_text(f"{words}\n", encoding="utf-8", newline="\n")

    store.results(DONE, inputs, make)


def is_done(store: Store, inputs: object) -> bool:
    return store.has(DONE, inputs)
