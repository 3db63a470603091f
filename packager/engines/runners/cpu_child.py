"""Runs models on the CPU with the same results on every x86 processor: `python cpu_child.py JOB.json`.

It uses the protocol of `serve` in session/session_child.py, and the same job. The graph that runs has the operators of
the model, some of them rewritten by `packager.engines.session.exact`; `about` says if that form did not open.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from packager.engines.session import exact, session_child


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    session_child.serve(job, opened)
    return 0


def opened(job: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A session of the rewritten graph. If ONNX Runtime refuses that, and opens the model as it is, the rewriting is at
    fault: then a session of the model as it is."""
    options = {**job, "data_folder": None}
    try:
        session = exact.opened(
            Path(job["model"]), job["data_folder"] or "", lambda: session_child.session_options(options)
        )
    except Exception as error:
        refused = session_child.refusal(error)
        session, placement = session_child.opened(job)
        words = f"ONNX Runtime {version('onnxruntime')}, with kernels that depend on the processor"
        return session, {**placement, "about": f"{words}: mobpack's form of the model does not open ({refused})"}
    return session, {"placed": None, "nodes": None}


if __name__ == "__main__":
    sys.exit(main())
