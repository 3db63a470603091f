"""Tells a task that evaluates ahead of a search whether to go on."""

EVALUATION = "score/"
"""Begins the names of results that are evaluations of a search."""


def is_idle() -> bool:
    """Whether nothing else waits for the worker that runs this task, and somebody still wants its result."""
    from distributed import get_worker

    worker = get_worker()
    state = worker.state
    own = state.tasks.get(worker.get_current_task())
    return own is not None and own.state == "executing" and not (state.ready or state.constrained or state.waiting)
