"""Verdicts of ONNX's own test-suite on what ships: `python -m benchmarks.conformance` writes results/conformance.md.

Every case that `onnx.backend.test.case.node` generates runs in the ONNX Runtime that packages depend on: the model as
it is, and each file that mobpack makes of it. The suite's own expected outputs and tolerances judge all of them. Where
ONNX Runtime itself does not pass, mobpack must still not crash.
"""

import argparse
import json
import os
import pickle
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import conformance_batches as batches
from benchmarks import conformance_page
from benchmarks.conformance_cases import Case, collected, sampled
from benchmarks.conformance_make import FORMS
from benchmarks.conformance_reasons import reason_of
from benchmarks.conformance_verdicts import Found, Judged, Verdict
from packager.engines.environments import ensure
from packager.engines.environments.runtime import Runtime

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "conformance.md"
ORIGINAL = "original"
CRASHED = "crashed: "
FAILS_ITSELF = "ONNX Runtime does not pass, either"
JOBS = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="so many cases instead of all; writes no page")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--case", action="append", help="this case alone; writes no page")
    parser.add_argument("--jobs", type=int, default=JOBS)
    arguments = parser.parse_args()
    cases = collected()
    total = len(cases)
    if arguments.case:
        cases = [case for case in cases if case.name in arguments.case]
    if arguments.sample:
        cases = sampled(cases, arguments.sample, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        judged = judge(cases, Path(folder), jobs=arguments.jobs)
    text = conformance_page.text(judged)
    if len(cases) == total:
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 1 if any(each.with_verdict(Verdict.FALSE, Verdict.WRONG, Verdict.CRASHED) for each in judged) else 0


def judge(cases: Sequence[Case], folder: Path, *, jobs: int = JOBS) -> list[Judged]:
    """Judge each of `cases`; `folder` is scratch space."""
    folders = [case.written(folder) for case in cases]
    maker = [sys.executable, "-P", "-m", "benchmarks.conformance_make"]
    made = batches.answers(maker, folders, environment={**os.environ, "PYTHONPATH": str(ROOT)}, jobs=jobs)
    originals = {own.name: {ORIGINAL: {"path": str(own / "model.onnx"), "settings": {}}} for own in folders}
    theirs = _run(folders, originals, jobs)
    ours = _run(folders, {name: answer.get("files", {}) for name, answer in made.items()}, jobs)
    return [_judged(case, folder / case.name, made[case.name], ours[case.name], theirs[case.name]) for case in cases]


def _run(folders: Sequence[Path], files: Mapping[str, object], jobs: int) -> dict[str, batches.Answer]:
    """Run `files` in the runtime that ships: the outcomes of each case, by form."""
    for own in folders:
        (own / "files.json").write_text(json.dumps(files[own.name]), encoding="utf-8")
    runtime = Runtime()
    ensure(runtime)
    runner = [*runtime.command(), Path(__file__).with_name("conformance_run.py")]
    return batches.answers(runner, folders, environment={**os.environ, **runtime.variables()}, jobs=jobs)


def _judged(case: Case, folder: Path, made: batches.Answer, ours: batches.Answer, theirs: batches.Answer) -> Judged:
    original = _difference(case, folder, ORIGINAL, theirs)
    if "crashed" in made:
        return Judged(name=case.name, original=original, forms=_all(Found(Verdict.CRASHED, made["crashed"])))
    if "refused" in made:
        reason = FAILS_ITSELF if original else reason_of(made["refused"], case.model)
        verdict = Verdict.REFUSED if reason else Verdict.FALSE
        return Judged(name=case.name, original=original, forms=_all(Found(verdict, made["refused"], reason)))
    forms = {
        form: Found(Verdict.REFUSED, words, FAILS_ITSELF) if original else Found(Verdict.FALSE, words)
        for form, words in made["refusals"].items()
    }
    forms |= {form: _outcome(_difference(case, folder, form, ours), original) for form in made["files"]}
    return Judged(name=case.name, original=original, forms=forms)


def _all(found: Found) -> dict[str, Found]:
    return dict.fromkeys(FORMS, found)


def _difference(case: Case, folder: Path, form: str, ran: batches.Answer) -> str:
    if "crashed" in ran:
        return f"{CRASHED}{ran['crashed']}"
    if words := ran["errors"].get(form, ""):
        return f"ONNX Runtime refuses: {words}"
    difference = case.difference(pickle.loads((folder / f"{form}.pkl").read_bytes()))
    return f"differs: {difference}" if difference else ""


def _outcome(difference: str, original: str) -> Found:
    if not difference:
        return Found(Verdict.RIGHT)
    if original:  # the same fault: mobpack has no part in it
        return Found(Verdict.REFUSED, difference, FAILS_ITSELF)
    return Found(Verdict.CRASHED if difference.startswith(CRASHED) else Verdict.WRONG, difference)


if __name__ == "__main__":
    sys.exit(main())
