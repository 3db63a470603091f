"""Runs models on the CPU with the same results on every x86 processor: `python cpu_child.py JOB.json`.

It uses the protocol of `serve` in session/session_child.py, and the same job. The graph that runs has the operators of
the model, some of them rewritten by `packager.session.exact`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from packager.session import exact, session_child


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    session_child.serve(job, opened)
    return 0


def opened(job: dict[str, Any]) -> tuple[Any, dict[str, int | None]]:
    options = {**job, "data_folder": None}
    session = exact.opened(Path(job["model"]), job["data_folder"] or "", lambda: session_child.session_options(options))
    return session, {"placed": None, "nodes": None}


if __name__ == "__main__":
    sys.exit(main())
