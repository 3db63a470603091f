"""Whole builds that several machines share: a machine that has built nothing yet gets the release of a project of which
nothing has changed since another machine built it.

The key holds all that decides the bytes of a release (`ingredients.stated`): the project's files by their paths in it,
options, mobpack's code, Python packages, the kind of machine, and which isolated runtimes are installed; times of
change and the project's place on the disk are not in it. Builds that depend on more are not shared, nor are
those with a comparison that could not run, those that encrypt, and those of a model without a project.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from packager.core import parsing
from packager.core.console import size
from packager.core.findings import Parity
from packager.core.values import LeftOut, Plan
from packager.distribution.release import MANIFEST
from packager.distribution.release.publish import staged
from packager.files.atomic import link_or_copy
from packager.files.hashes import sha256_of
from packager.files.store import Store, key_of
from packager.targets import MODELS_IN
from packager.workflows.build import BuiltRelease
from packager.workflows.ingredients import BuildProject, Installed, stated
from packager.workflows.inputs import unlisted
from packager.workflows.requested import BuildRequest
from packager.workflows.unchanged import Summary, lock_beside

STEP = "build"
VERSION = 1
"""Version of the form of what is stored."""
NEXT = "{out}/report.html has every check; the README in each package says how an app uses it"
COLUMNS = 4
"""of the table of artifacts"""
DIST, SUMMARY = "release", "summary.json"


@dataclass(frozen=True, kw_only=True)
class SharedBuild:
    """A build of a project, as it is known to other machines."""

    key: str
    out: Path


def shared_build(
    project: BuildProject | None,
    request: BuildRequest,
    store: Store,
    *,
    document: str = "",
    installed: Installed | None = None,
) -> SharedBuild | None:
    """The build that `request` asks for; None if it is not shared.

    `document` describes a project that is one of several in its file, and counts in place of that file. `installed` is
    for many projects: it reads each package once.

    Raises ModelError for a model that cannot be read, ToolError for a damaged Python package.
    """
    if store.remote is None or project is None or request.model_key or request.rules.evidence.exists():
        return None
    if unlisted(project.config, request.targets):
        return None
    found = stated(project, request.targets, installed or Installed(), has_file=not document)
    if found.not_locked:
        return None
    rules = asdict(request.rules)
    options = {
        "targets": request.targets,
        "emit": [request.emit_project, request.emit_ort_package, request.emit_spdx],
        "gates": rules["gates"],
        "strict": rules["strict"],
        "lock": "" if document else lock_beside(project.file, None),
        "file": project.file.name,
        **({"document": document} if document else {}),
    }
    return SharedBuild(key=key_of([VERSION, options, found.tables]), out=request.out)


def fetched(build: SharedBuild, store: Store) -> Summary | None:
    """The result of `build`, if another machine has sent it: its release is in place. None if there is none."""
    assert store.remote
    with store.scratch() as scratch:
        folder = scratch / "fetched"
        if store.remote.fetch(STEP, build.key, folder) is None:
            return None
        try:
            summary = _summary(folder / SUMMARY)
            _refuse_other(folder / DIST)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            store.remote.spoil(STEP, build.key, "it is not a release with its result")
            return None
        with staged(build.out) as staging:
            shutil.copytree(folder / DIST, staging, dirs_exist_ok=True)
    return summary


def _summary(path: Path) -> Summary:
    """Raises ValueError, KeyError or TypeError for what is none."""
    document = parsing.json_of(path.read_text(encoding="utf-8"))
    rows = tuple(tuple(map(str, row)) for row in document["rows"])
    if {len(row) for row in rows} - {COLUMNS}:
        raise ValueError("rows")
    lines, warnings = (tuple(map(str, document[key])) for key in ("lines", "warnings"))
    return Summary(rows=rows, lines=lines, warnings=warnings)


def _refuse_other(dist: Path) -> None:
    """Raises ValueError, KeyError, TypeError or OSError unless `dist` is a release: one whose manifest lists artifacts
    that are there."""
    manifest = parsing.json_of((dist / MANIFEST).read_text(encoding="utf-8"))
    artifacts = {str(each["path"]): each["sha256"] for each in manifest["artifacts"]}
    if "mobpack" not in manifest or not artifacts:
        raise ValueError("manifest")
    for name, sha256 in artifacts.items():
        path = dist / name
        if not path.resolve().is_relative_to(dist.resolve()) or (path.is_file() and sha256_of(path) != sha256):
            raise ValueError(name)
        path.stat()


def offer(build: SharedBuild, made: BuiltRelease, summary: Summary, store: Store) -> None:
    """Sends the release that was made, with its result in words, and waits until it is sent."""
    if store.remote is None or any(not each.has_run for each in made.report.parities):
        return
    with store.scratch() as scratch:
        for path in made.out.rglob("*"):
            place = scratch / DIST / path.relative_to(made.out)
            if path.is_symlink():
                return
            if path.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(path, place)
        (scratch / SUMMARY).write_text(json.dumps(asdict(summary)), encoding="utf-8", newline="\n")
        store.remote.offer(STEP, build.key, scratch)
        store.remote.flush()


def summarized(made: BuiltRelease) -> Summary:
    """The result of a build in words."""
    compared = [parity for parity in made.report.parities if parity.has_run]
    errors = [
        each.max_rel_error for parity in compared if not parity.is_judged_locally for each in parity.compared_outputs
    ]
    is_by_node = any(each.is_judged_locally and not each.nodes_not_judged for each in compared)
    by_node = "compared node by node" if is_by_node else "not compared"
    worst = f"{max(errors):.2g} of the scale" if errors else by_node
    rows = (
        (str(made.out / each.path), size(each.artifact.size_bytes), each.artifact.sha256[:16], worst)
        for each in made.shipped
        if each.artifact.kind in MODELS_IN
    )
    lines = (*equal(compared), *left_out(made.plans), NEXT.format(out=made.out))
    return Summary(rows=tuple(rows), lines=lines, warnings=made.warnings)


def equal(compared: Sequence[Parity]) -> Iterator[str]:
    """The comparisons, those with the same result in one line. Targets may ship the same graph in several formats."""
    found: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    for each in compared:
        found.setdefault((each.label, each.result), {})[each.model, f"{each.variant}, {each.style}"] = None
    for (label, result), files in found.items():
        models = ", ".join(dict.fromkeys(model for model, _ in files))
        (_, first), *others = files
        which = f"{len(files)} files" if others else first
        yield f"{models} ({which}) on {label}: {result.replace('equals', 'equal', 1) if others else result}"


def left_out(plans: Sequence[Plan]) -> Iterator[str]:
    """The providers that get no file, why, and the key that ships one; models with the same reason in one line."""
    found: dict[tuple[str, LeftOut], dict[str, None]] = {}
    for plan in plans:
        for each in plan.left_out if not plan.wrapper else ():
            found.setdefault((plan.target, each), {})[plan.model.name] = None
    for (target, each), models in found.items():
        key = "" if each.is_refused else f'; providers = ["{each.provider}"] in [target.{target}] ships it'
        yield f"left out: {each.provider} of {', '.join(models)} on {target}: {each.reason}{key}"
