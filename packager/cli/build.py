"""`mobpack build`: builds packages from a model or a project."""

from dataclasses import replace
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
    parse_shapes,
    print_json,
    require_option,
    runners_option,
    set_option,
    shape_option,
    target_option,
    with_runners,
)
from packager.core import parsing

if TYPE_CHECKING:
    from packager.config import Config
    from packager.core.console import Console
    from packager.encryption import ModelKey
    from packager.workflows.unchanged import Summary


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
def build(
    model: Path | None,
    targets: tuple[str, ...],
    out: Path,
    config_path: Path,
    settings: tuple[str, ...],
    shapes: tuple[str, ...],
    gates: tuple[str, ...],
    runners: str,
    require: str,
    evidence: Path,
    emit_project: bool,
    emits: tuple[str, ...],
    repository: Path | None,
    model_key: str | None,
    strict: bool,
    verify: bool,
    locked: bool,
    cache_url: str | None,
    no_code: bool,
    allow_outside: bool,
    as_json: bool,
) -> None:
    """Build packages from MODEL.onnx, or from mobpack.toml when no MODEL is given."""
    from packager.core.console import Console
    from packager.workflows import unchanged

    console = Console(quiet=as_json)
    key = read_key(model_key, folder_of(model, config_path)) if model_key else None
    said = click.get_current_context().params
    command = {key: value for key, value in said.items() if key not in ("verify", "as_json", "cache_url")}
    known_key = {"key": key.fingerprint} if key else {}
    begun = unchanged.start({**command, "lock": unchanged.lock_beside(config_path, model), **known_key})
    if not verify and not locked and (known := unchanged.known_result(begun, out, evidence)):
        words = unchanged.in_words(out)
        console.say(f"nothing has changed since the last build: {words} (--verify builds all the same)")
        show(known, out, console, as_json=as_json)
        add_to_repository(out, repository, console)
        return

    from packager.workflows import build as workflow
    from packager.workflows import shared_builds
    from packager.workflows.confinement import refuse_outside
    from packager.workflows.gates import Rules
    from packager.workflows.ingredients import Project, refuse_changed
    from packager.workflows.origins import origins_of
    from packager.workflows.requested import Request, requested_targets
    from packager.workflows.shared_store import store_of

    settings = with_runners(settings, runners, require)
    config = configured(model, config_path, targets=targets, settings=settings, shapes=shapes, has_code=not no_code)
    config = with_cache(config, cache_url)
    refuse_outside(config, folder_of(model, config_path), is_outside_allowed=allow_outside)
    request = Request(
        targets=requested_targets(config, targets),
        out=out,
        emit_project=emit_project,
        emit_ort_package="ort-package" in emits,
        emit_spdx="spdx" in emits,
        rules=Rules(gates=parse_gates(gates, config.check), strict=strict, evidence=evidence),
        has_project=model is None,
        model_key=key,
    )
    project = None
    if model is None:
        project = Project(config=config, file=config_path, settings=settings, shapes=shapes)
    if locked:
        refuse_changed(project, request.targets)
    with store_of(config, console) as store:
        shared = shared_builds.shared_build(project, request, store)
        sent = shared_builds.fetched(shared, store) if shared and not verify and not locked else None
        if sent:
            console.say(
                f"another machine has built exactly this: {out} is what it sent (--verify builds it all the same)"
            )
            result = sent
        else:
            origins = partial(origins_of, project, request.targets, console)
            made = workflow.build(config, request, console, origins, store)
            result = shared_builds.summarized(made)
            if shared:
                shared_builds.offer(shared, made, result, store)
    ended = unchanged.Ended(
        config=config,
        project=config_path if model is None else None,
        targets=request.targets,
        out=out,
        summary=result,
    )
    unchanged.keep(begun, ended)
    show(result if sent else replace(result, warnings=()), out, console, as_json=as_json)
    add_to_repository(out, repository, console)


def read_key(place: str, project: Path) -> "ModelKey":
    """The key that `--model-key` names. Raises ConfigError if it cannot be used."""
    from packager.encryption import key_of

    return key_of(place, project)


def add_to_repository(out: Path, repository: Path | None, console: "Console") -> None:
    """Adds the libraries of the release in `out` to a Maven repository, if one is named."""
    if repository is None:
        return
    from packager.targets import maven

    written = maven.add_to(repository, out / "maven")
    console.say(f"{repository}: {len(written)} files of the Android library")


def configured(
    model: Path | None,
    config_path: Path,
    *,
    targets: tuple[str, ...],
    settings: tuple[str, ...],
    shapes: tuple[str, ...],
    has_code: bool = True,
) -> "Config":
    """The Config of a command that takes a MODEL or a project file. Without `has_code`, a config that names code of the
    project is refused."""
    from packager import config as configuration
    from packager.workflows import trust
    from packager.workflows.importing.project import refuse_absent

    if model is None:
        config = configuration.load(config_path, targets=targets, settings=settings)
    else:
        config = configuration.for_model(model, targets=targets, settings=settings)
        refuse_absent(model)
    if not has_code:
        trust.refuse_code(config)
    return with_shapes(with_cache(config, None), shapes)


def with_cache(config: "Config", option: str | None) -> "Config":
    """The Config with the remote store of `--cache` or the environment. Raises ConfigError for a mode that does not
    exist."""
    from packager.workflows.shared_store import named

    return config.model_copy(update={"cache": named(config.cache, option)})


def folder_of(model: Path | None, config_path: Path) -> Path:
    """The project's folder: that of mobpack.toml, or the current folder when a MODEL is given."""
    return config_path.parent if model is None else Path.cwd()


def with_shapes(config: "Config", shapes: tuple[str, ...]) -> "Config":
    """The Config with `--shape` applied to every model."""
    if not shapes:
        return config
    fixed = parse_shapes(shapes)
    models = {
        name: table.model_copy(update={"shapes": {**table.shapes, **fixed}}) for name, table in config.model.items()
    }
    return config.model_copy(update={"model": models})


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


PACKAGES = ("aar", "swift-package", "npm-package", "web-package", "pub-package")
"""kinds of artifacts that apps depend on, as opposed to sources and metadata"""
