"""`mobpack build`: builds packages from a model or a project."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import (
    MODEL,
    cache_option,
    config_option,
    evidence_option,
    fail_on_option,
    json_option,
    model_key_option,
    no_code_option,
    outside_option,
    parse_gates,
    print_json,
    require_option,
    runners_option,
    set_option,
    shape_option,
    target_option,
    with_runners,
)
from packager.cli.project_options import ProjectOptions, into
from packager.core import parsing

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.signing.encryption import ModelKey
    from packager.workflows.unchanged import BuildStart, Summary


@dataclass(frozen=True, kw_only=True)
class BuildOptions(ProjectOptions):
    """Options of `mobpack build`."""

    out: Path
    gates: tuple[str, ...]
    runners: str
    require: str
    evidence: Path
    emit_project: bool
    emits: tuple[str, ...]
    repository: Path | None
    model_key: str | None
    strict: bool
    verify: bool
    locked: bool
    allow_outside: bool
    as_json: bool

    @property
    def does_every_step(self) -> bool:
        """Whether no earlier result takes the place of a step."""
        return self.verify or self.locked


@click.command(short_help="Build packages from a model or a project.")
@click.argument("model", type=MODEL, required=False)
@target_option
@click.option(
    "--out",
    "-o",
    type=MODEL,
    default=Path("dist"),
    show_default=True,
    help="Output folder; its contents are replaced.",
)
@config_option
@set_option
@shape_option
@fail_on_option
@runners_option
@require_option
@evidence_option
@click.option(
    "--emit-project",
    is_flag=True,
    help="Also write the package sources: the Gradle project, the Xcode script, the npm package's files.",
)
@click.option(
    "--emit",
    "emits",
    multiple=True,
    type=click.Choice(["ort-package", "spdx"]),
    help="Also write the models as an ORT Model Package, or the bills of materials as SPDX 3.",
)
@click.option(
    "--repository",
    type=MODEL,
    help="Also add the Android library to this Maven repository, a folder, and keep the versions that are there.",
)
@model_key_option
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--verify", is_flag=True, help="Do every step, even where nothing has changed since the last build.")
@click.option(
    "--locked",
    is_flag=True,
    help="Use only what mobpack.lock lists, and do every step; fail with exit code 6 if anything differs.",
)
@cache_option
@no_code_option
@outside_option
@json_option
@into(BuildOptions)
def build(options: BuildOptions) -> None:
    """Build packages from MODEL.onnx, or from mobpack.toml when no MODEL is given."""
    from packager.core.console import Console
    from packager.workflows import unchanged

    out, as_json = options.out, options.as_json
    console = Console(quiet=as_json)
    key = read_key(options.model_key, options.folder) if options.model_key else None
    begun = unchanged.start(known_by(options, key))
    if not options.does_every_step and (known := unchanged.known_result(begun, out, options.evidence)):
        words = unchanged.in_words(out)
        console.say(f"nothing has changed since the last build: {words} (--verify builds all the same)")
        show(known, out, console, as_json=as_json)
    else:
        show(built(options, key, begun, console), out, console, as_json=as_json)
    add_to_repository(out, options.repository, console)


def known_by(options: BuildOptions, key: "ModelKey | None") -> dict[str, object]:
    """The command, by which the next one finds its result."""
    from packager.workflows import unchanged

    command = {name: value for name, value in vars(options).items() if name not in ("verify", "as_json", "cache_url")}
    known_key = {"key": key.fingerprint} if key else {}
    return {**command, "lock": unchanged.lock_beside(options.config_path, options.model), **known_key}


def built(options: BuildOptions, key: "ModelKey | None", begun: "BuildStart", console: "Console") -> "Summary":
    """The result of a build, which is made here or comes from another machine."""
    from packager.workflows import build as workflow
    from packager.workflows import shared_builds, unchanged
    from packager.workflows.confinement import refuse_outside
    from packager.workflows.gates import Rules
    from packager.workflows.ingredients import BuildProject, refuse_changed
    from packager.workflows.origins import origins_of
    from packager.workflows.requested import BuildRequest, requested_targets
    from packager.workflows.shared_store import store_of

    settings = with_runners(options.settings, options.runners, options.require)
    config = replace(options, settings=settings).config()
    refuse_outside(config, options.folder, is_outside_allowed=options.allow_outside)
    request = BuildRequest(
        targets=requested_targets(config, options.targets),
        out=options.out,
        emit_project=options.emit_project,
        emit_ort_package="ort-package" in options.emits,
        emit_spdx="spdx" in options.emits,
        rules=Rules(gates=parse_gates(options.gates, config.check), strict=options.strict, evidence=options.evidence),
        has_project=options.model is None,
        model_key=key,
    )
    file = options.config_path if options.model is None else None
    project = BuildProject(config=config, file=file, settings=settings, shapes=options.shapes) if file else None
    if options.locked:
        refuse_changed(project, request.targets)
    with store_of(config, console) as store:
        shared = shared_builds.shared_build(project, request, store)
        sent = shared_builds.fetched(shared, store) if shared and not options.does_every_step else None
        if sent:
            words = f"another machine has built exactly this: {options.out} is what it sent"
            console.say(f"{words} (--verify builds it all the same)")
            result = sent
        else:
            origins = partial(origins_of, project, request.targets, console)
            made = workflow.build(config, request, console, origins, store)
            result = shared_builds.summarized(made)
            if shared:
                shared_builds.offer(shared, made, result, store)
    unchanged.keep(
        begun, unchanged.Ended(config=config, project=file, targets=request.targets, out=options.out, summary=result)
    )
    return result if sent else replace(result, warnings=())


def read_key(place: str, project: Path) -> "ModelKey":
    """The key that `--model-key` names. Raises ConfigError if it cannot be used."""
    from packager.signing.encryption import key_of

    return key_of(place, project)


def add_to_repository(out: Path, repository: Path | None, console: "Console") -> None:
    """Adds the libraries of the release in `out` to a Maven repository, if one is named."""
    if repository is None:
        return
    from packager.targets import maven

    written = maven.add_to(repository, out / "maven")
    console.say(f"{repository}: {len(written)} files of the Android library")


def show(result: "Summary", out: Path, console: "Console", *, as_json: bool) -> None:
    """Prints the result of a build, of this one or of the last one."""
    for warning in result.warnings:
        console.caution(warning)
    if as_json:
        manifest = parsing.json_of((out / "manifest.json").read_text(encoding="utf-8"))
        print_json({"out": str(out), "manifest": manifest})
        return
    console.table("", ["artifact", "size", "sha256", "worst error"], result.rows)
    for line in result.lines:
        console.say(line)
