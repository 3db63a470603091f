"""`mobpack check --bisect A B`: finds the first node where two sides diverge, for every model of a project."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packager.config import Config
from packager.core import user_files
from packager.core.console import Console
from packager.core.errors import ConfigError, ToolError, nearest
from packager.core.values import Plan, baseline
from packager.engines.runners import ANY, ORIGINAL, RECORDED, RUNNERS, Runnable, Runner
from packager.files.store import Store
from packager.quantization.variants import build_variant
from packager.verification import parity
from packager.verification.bisection import Bisection, Side, bisect
from packager.verification.failures import limits_of, side
from packager.verification.kept import kept, refuse_other
from packager.verification.numbers import settings_for, subjects
from packager.verification.parity import Subject
from packager.workflows.planning import plan_all
from packager.workflows.requested import BuildRequest
from packager.workflows.shared_store import store_of

NO_OTHERS: Mapping[str, Runner] = {}
SOURCE = "source"
"""name of the model's own numbers among the variants"""


@dataclass(frozen=True, kw_only=True)
class SideChoice:
    """One side of a bisection, as named on the command line."""

    text: str
    runner: Runner
    variant: str = ""
    """variant name; empty for the variant that the target ships for the runner, `original` for the model as it was
    given"""
    path: Path | None = None
    """an ONNX file to use instead of a variant of the model"""


@dataclass(frozen=True, kw_only=True)
class Bisected:
    """Result of bisecting one model."""

    model: str
    samples: str
    tolerance: float
    atol: float
    bisection: Bisection


def run(
    config: Config,
    request: BuildRequest,
    first: str,
    second: str,
    console: Console,
    others: Mapping[str, Runner] = NO_OTHERS,
) -> tuple[Bisected, ...]:
    """Bisects every model between the sides `first` and `second`; writes the diverging node to the evidence folder of
    `request`. `others` are runners beside those of this machine, by name.

    Raises ConfigError for sides that do not exist, ToolError for a runner that is missing here.
    """
    refuse_other(request.rules.evidence)
    sides = [choice(text, config, others) for text in (first, second)]
    with (
        store_of(config, console) as store,
        store.scratch() as scratch,
        _evidence(scratch / "evidence", request.rules.evidence) as evidence,
    ):
        plans = plan_all(config, request.targets[:1], store, console).plans
        references = parity.OriginalOutputs(scratch)
        return tuple(_model(each, sides, config, store, console, references, evidence) for each in plans)


@contextmanager
def _evidence(made: Path, folder: Path) -> Iterator[Path]:
    """Collects evidence in the folder `made` and moves its contents to `folder` at the end."""
    made.mkdir()
    yield made
    if any(made.iterdir()):
        with kept(folder) as final:
            shutil.copytree(made, final, dirs_exist_ok=True)


def choice(text: str, config: Config, others: Mapping[str, Runner] = NO_OTHERS) -> SideChoice:
    """Parses `original`, `arm64`, `arm64:cortex-a53`, `int8`, `int8@arm64`, `other.onnx`, `other.onnx@arm64`. Raises
    ConfigError for anything else."""
    variant, at, name = text.rpartition("@")
    if text.endswith(".onnx"):
        variant, at, name = text, "@", "cpu"
    path = Path(variant) if variant.endswith(".onnx") else None
    if path and not path.is_file():
        raise ConfigError(f"--bisect {text}: no such file: {path}", hint="give an ONNX file, or one of the variants")
    if not at and name in (ORIGINAL, SOURCE, *config.variant):
        variant, name = name, "cpu"
    known = [ORIGINAL, SOURCE, *config.variant]
    if variant and not path and variant not in known:
        raise ConfigError(f"--bisect {text}: no variant '{variant}'", hint=nearest(variant, known))
    if name in others:
        return SideChoice(text=text, runner=others[name], variant="" if path else variant, path=path)
    name, _, processor = name.partition(":")
    if name not in RUNNERS or name == RECORDED:
        names = [*known, *others, *(each for each in RUNNERS if each != RECORDED)]
        hint = f"{nearest(name, names)}; or an .onnx file; variants are made by [variant.NAME]"
        raise ConfigError(f"--bisect {text}: neither a runner nor a variant", hint=hint)
    runners = RUNNERS[name](config.parity.interpreters.get(name, ""))
    labels = {each.label().removeprefix(name).strip(): each for each in runners}
    if processor and processor not in labels:
        raise ConfigError(f"--bisect {text}: {name} has no '{processor}'", hint=nearest(processor, labels))
    runner = labels[processor] if processor else runners[0]
    if reason := runner.missing():
        raise ToolError(
            f"runner '{runner.label()}' cannot run: {reason}", hint="install what is missing, or name another runner"
        )
    return SideChoice(text=text, runner=runner, variant="" if path else variant, path=path)


def _model(
    plan: Plan,
    sides: list[SideChoice],
    config: Config,
    store: Store,
    console: Console,
    references: parity.OriginalOutputs,
    evidence: Path,
) -> Bisected:
    chosen = [_subject(each, plan, config, store, console) for each in sides]
    settings = [settings_for(config, subject, each.runner) for subject, each in zip(chosen, sides, strict=True)]
    reference = references.of(baseline(plan.model), settings[0])
    folder = evidence.parent / f"bisection-{plan.model.name}"
    folder.mkdir()
    a, b = (_side(each, subject, folder) for each, subject in zip(sides, chosen, strict=True))
    loosest = max(settings, key=lambda each: each.tolerance).general
    limits = limits_of(loosest, reference, plan.model)
    own = evidence / plan.model.name
    with console.progress(f"bisect {plan.model.name} between {a.label} and {b.label}") as progress:
        found = bisect(a, b, reference.samples.paths, folder, own, limits=limits, progress=progress)
    rtol = loosest.max_rel_error or 0.0
    return Bisected(
        model=plan.model.name,
        samples=reference.samples.description,
        tolerance=rtol,
        atol=loosest.atol_of(rtol),
        bisection=found,
    )


def _subject(side: SideChoice, plan: Plan, config: Config, store: Store, console: Console) -> Subject:
    """The graph that a side opens: the original, a variant's graph, or the file that the target ships for the runner.
    For an ONNX file of the user's, the model's output names and tolerances apply."""
    if side.variant in (ORIGINAL, SOURCE) or side.path:
        return Subject(variant=baseline(plan.model))
    if side.variant:
        made = build_variant(plan.model, side.variant, config.quantizer_of(side.variant), store, console)
        return Subject(variant=made.variant)
    opens = "cpu" if side.runner.OPENS == ANY else side.runner.OPENS
    return subjects([plan], opens)[0]


def _side(chosen: SideChoice, subject: Subject, folder: Path) -> Side:
    if chosen.path:
        runnable = Runnable(path=user_files.resolved(chosen.path), data_folder=user_files.resolved(chosen.path).parent)
        return side(chosen.text, runnable, chosen.runner)
    own = folder / chosen.text.replace(":", "-")
    own.mkdir(exist_ok=True)
    if chosen.variant == ORIGINAL:
        return side("the original", parity.graph_of(subject.variant, own), chosen.runner)
    return side(chosen.text, subject.runnable(own), chosen.runner)
