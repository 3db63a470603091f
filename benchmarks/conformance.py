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
from typing import Any

from benchmarks import conformance_batches as batches
from benchmarks import conformance_page
from benchmarks.conformance_cases import ROUNDED, Case, collected, sampled
from benchmarks.conformance_engines import ENGINES, GRAPH, ORIGINAL, OWN, SHIPPED, Engine
from benchmarks.conformance_reasons import reason_of
from benchmarks.conformance_verdicts import Asked, Found, Judged, Verdict

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "conformance.md"
REFUSES, DIFFERS, CRASHED = "ONNX Runtime refuses: ", "differs: ", "crashed: "
MOBPACK = "mobpack refuses the model"
FAILS_ITSELF = "ONNX Runtime does not pass, either"
JOBS = 2
Differences = Mapping[str, str]
"""Form -> what is wrong with its outputs, empty if nothing is."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="so many cases instead of all; writes no page")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--case", action="append", help="this case alone; writes no page")
    parser.add_argument("--jobs", type=int, default=JOBS, help="0: asks nothing, shows what --folder has")
    parser.add_argument("--engines", default=",".join(ENGINES), help=f"of {', '.join(ENGINES)}; default: all of them")
    parser.add_argument("--folder", type=Path, help="keeps what each engine has answered: a stopped run goes on there")
    arguments = parser.parse_args()
    cases = collected()
    total = len(cases)
    if arguments.case:
        cases = [case for case in cases if case.name in arguments.case]
    if arguments.sample:
        cases = sampled(cases, arguments.sample, arguments.seed)
    engines = [ENGINES[name] for name in arguments.engines.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        judged = judge(cases, folder, jobs=arguments.jobs)
        asked = [ask(each, cases, folder, jobs=arguments.jobs) for each in engines]
    text = conformance_page.text(judged, asked)
    if len(cases) == total and len(engines) == len(ENGINES):
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 1 if any(each.with_verdict(Verdict.FALSE, Verdict.WRONG, Verdict.CRASHED) for each in judged) else 0


def judge(cases: Sequence[Case], folder: Path, *, jobs: int = JOBS) -> list[Judged]:
    """Judge what mobpack makes of each of `cases` in the ONNX Runtime that ships; `folder` is scratch space."""
    made = _made(cases, folder, jobs)
    ran = _ran(SHIPPED, cases, folder, jobs)
    return [_judged(case, made[case.name], ran[case.name]) for case in cases]


def ask(engine: Engine, cases: Sequence[Case], folder: Path, *, jobs: int = JOBS) -> Asked:
    """The verdicts of `engine` on what mobpack makes of `cases`."""
    made = _made(cases, folder, jobs)
    ran = _ran(engine, cases, folder, jobs)
    fixed = [case for case in cases if case.name in ran and not case.is_random]
    found = {case.name: _of_engine(engine, made[case.name], ran[case.name]) for case in fixed}
    return Asked(name=engine.name, words=engine.words, operators=_operators(fixed), found=found)


def _operators(cases: Sequence[Case]) -> dict[str, str]:
    """Case -> the operator that it is about, which begins its name."""
    first = {case.name: str(case.model.graph.node[0].op_type) for case in cases}
    spelled = {operator.lower(): operator for operator in first.values()}

    def operator(case: Case) -> str:
        words = case.name.removeprefix("test_").split("_")
        starts = ("".join(words[:count]) for count in range(len(words), 0, -1))
        return next((spelled[each] for each in starts if each in spelled), first[case.name])

    return {case.name: operator(case) for case in cases}


def _made(cases: Sequence[Case], folder: Path, jobs: int) -> dict[str, batches.Answer]:
    folders = [case.written(folder) for case in cases]
    maker = [sys.executable, "-P", "-m", "benchmarks.conformance_make"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    made = batches.answers(maker, folders, folder / "made.jsonl", environment=environment, jobs=jobs)
    for own in folders:
        files = {ORIGINAL: {"path": str(own / "model.onnx"), "settings": {}}, **made[own.name].get("files", {})}
        (own / "files.json").write_text(json.dumps(files), encoding="utf-8")
    return made


def _ran(engine: Engine, cases: Sequence[Case], folder: Path, jobs: int) -> dict[str, Differences]:
    """Messages of `engine`, and differences of its outputs, by case and form."""
    by_name = {case.name: case for case in cases}

    def judged(answer: batches.Answer) -> batches.Answer:
        return {"case": answer["case"], "forms": _differences(by_name[answer["case"]], folder, engine, answer)}

    found = batches.answers(
        engine.command(folder),
        [folder / name for name in by_name],
        folder / f"{engine.name}.jsonl",
        environment={**os.environ, **engine.variables()},
        jobs=jobs,
        judge=judged,
    )
    return {name: answer["forms"] for name, answer in found.items()}


def _differences(case: Case, folder: Path, engine: Engine, answer: batches.Answer) -> dict[str, str]:
    own = folder / case.name
    files = json.loads((own / "files.json").read_text(encoding="utf-8"))
    forms = [GRAPH] if engine.settings else list(files)
    if "crashed" in answer:
        return dict.fromkeys(forms, f"{CRASHED}{answer['crashed']}")
    found = {}
    for form in forms:
        if form in answer["errors"]:
            found[form] = f"{REFUSES}{answer['errors'][form]}"
        elif form != GRAPH or (own / "engine.json").is_file():
            outputs = _outputs(own, form)
            difference = case.difference(outputs)
            found[form] = f"{DIFFERS}{case.decided(outputs)}: {difference}" if difference else ""
    return found


def _outputs(folder: Path, form: str) -> list[Any]:
    """The outputs that an engine has left; none if it has not run the form. They are gone after this."""
    import numpy

    pickled, arrays = folder / f"{form}.pkl", sorted((folder / form).glob("*.npy"), key=lambda each: int(each.stem))
    if pickled.is_file():
        outputs = pickle.loads(pickled.read_bytes())
        pickled.unlink()
        return list(outputs)
    outputs = [numpy.load(each) for each in arrays]
    for each in arrays:
        each.unlink()
    return [each.astype(object) if each.dtype.kind == "U" else each for each in outputs]


def _judged(case: Case, made: batches.Answer, ran: Differences) -> Judged:
    original = ran[ORIGINAL]
    if "crashed" in made:
        return Judged(name=case.name, original=original, forms=_all(Found(Verdict.CRASHED, made["crashed"])))
    if "refused" in made:
        refused = _refused(made["refused"], FAILS_ITSELF if original else reason_of(made["refused"], case.model))
        return Judged(name=case.name, original=original, forms=_all(refused))
    forms = {
        form: _refused(words, FAILS_ITSELF if original else reason_of(words, case.model))
        for form, words in made["refusals"].items()
    }
    forms |= {form: _outcome(ran[form], original) for form in made["files"]}
    return Judged(name=case.name, original=original, forms=forms)


def _refused(words: str, reason: str) -> Found:
    return Found(Verdict.REFUSED if reason else Verdict.FALSE, words, reason)


def _all(found: Found) -> dict[str, Found]:
    return dict.fromkeys(OWN, found)


def _outcome(difference: str, original: str) -> Found:
    if not difference:
        return Found(Verdict.RIGHT)
    if original:  # the same fault: mobpack has no part in it
        return Found(Verdict.REFUSED, difference, FAILS_ITSELF)
    return Found(Verdict.CRASHED if difference.startswith(CRASHED) else Verdict.WRONG, difference)


def _of_engine(engine: Engine, made: batches.Answer, ran: Differences) -> Found:
    """The worst verdict of an engine on the files of a case, with the words of its first form."""
    said = [ran[form] for form in engine.forms if form in ran]
    if "files" not in made or not said:
        return Found(Verdict.REFUSED, made.get("refused", ""), MOBPACK)
    for start, verdict in ((CRASHED, Verdict.CRASHED), (DIFFERS, Verdict.WRONG), (REFUSES, Verdict.REFUSED)):
        for words in said:
            if words.startswith(start) and not words.startswith(f"{DIFFERS}{ROUNDED}"):
                return Found(verdict, words)
    return Found(Verdict.RIGHT)


if __name__ == "__main__":
    sys.exit(main())
