"""Looks for all that a build or a check needs before anything is computed, and names all that is missing at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from packager.config import Config
from packager.core.console import Console
from packager.core.errors import ConfigError, GateError, MobpackError, ToolError
from packager.core.values import Package
from packager.distribution import sbom
from packager.engines.environments import ENVIRONMENTS, SHIPPED
from packager.engines.environments.environment import INSTALL, refuse_unsupported
from packager.samples import refuse_no_samples
from packager.targets.target import variants_of
from packager.verification.numbers import absent, chosen
from packager.verification.partition.measured import SOURCES
from packager.workflows import confinement
from packager.workflows.delivering import refuse_undelivered
from packager.workflows.encrypting import refuse_unencrypted
from packager.workflows.importing.project import refuse_absent
from packager.workflows.ingredients import compilers_of
from packager.workflows.pipelines import refuse_unpipelined
from packager.workflows.requested import BuildRequest, package_of, targets_of
from packager.workflows.scales import refuse_replaced
from packager.workflows.terms import judge_licenses, warn_of_example_group
from packager.workflows.trusted_keys import refuse_unverified
from packager.workflows.varying import refuse_unvarying

Check = Callable[[], object]
"""Raises a MobpackError for what lacks."""
SAMPLES = "name an .npz file, a folder of samples, or module:function; paths are relative to mobpack.toml"


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A project and what is asked of it, which lack nothing that can be known before anything is computed."""

    config: Config
    request: BuildRequest

    @cached_property
    def package(self) -> Package:
        """The package, read once. Raises ConfigError for keys that cannot be trusted."""
        return package_of(self.config)


def checked(config: Config, request: BuildRequest, console: Console, *, is_packaged: bool = True) -> Checked:
    """Raises an error for everything that stops a build: what its tables ask for, files, tools and runners. If nothing
    `is_packaged`, packages need nothing."""
    targets = request.targets
    ready = Checked(config=config, request=request)
    packaging: list[Check] = [
        lambda: refuse_unverified(config, targets),
        lambda: refuse_undelivered(config, targets),
        lambda: refuse_unencrypted(config, request),
        lambda: refuse_replaced(config, request),
        lambda: sbom.spdx_library() if request.emit_spdx else None,
    ]
    always: list[Check] = [
        lambda: refuse_unvarying(config, targets),
        lambda: refuse_unpipelined(config, targets),
        lambda: judge_licenses(ready.package, config, request, console),  # and keys that cannot be trusted
    ]
    checks = [*packaging, *always] if is_packaged else always
    refuse(_raised(checks), _absent_files(config, targets), _absent_tools(config, request, is_packaged=is_packaged))
    if is_packaged:
        warn_of_example_group(config, request, console)
    return ready


def refuse(*problems: Iterator[MobpackError]) -> None:
    """Raises the only one of `problems`, or one error that lists all, of the kind of the first."""
    found = [each for some in problems for each in some]
    if not found:
        return
    if len(found) == 1:
        raise found[0]
    lines = [f"  {number}. {each.message}; {each.hint}" for number, each in enumerate(found, 1)]
    raise type(found[0])(
        f"{len(found)} things are missing or wrong, and nothing was computed:\n" + "\n".join(lines), hint=_hint(found)
    )


def _hint(found: Sequence[MobpackError]) -> str:
    """One command for all environments that are missing."""
    names = [name for each in found for name in INSTALL.findall(f"{each.message} {each.hint}")]
    if not names:
        return "mend all of them, then run the same command again"
    options = " ".join(f"--install {name}" for name in dict.fromkeys(names))
    return f"mobpack doctor {options}" + ("" if len(names) == len(found) else "; and mend the others")


def _raised(checks: Sequence[Check]) -> Iterator[MobpackError]:
    for check in checks:
        try:
            check()
        except MobpackError as error:
            yield error


def _absent_files(config: Config, targets: Sequence[str]) -> Iterator[MobpackError]:
    """Models, samples and the files that contracts name."""
    for table in config.model.values():
        models = filter(None, (table.path, table.encoder, table.with_past))
        yield from _raised([partial(refuse_absent, path) for path in models])
    yield from confinement.absent(config)
    if config.parity.samples:
        yield from _raised([partial(refuse_no_samples, config.parity.samples)])
    used = [variants_of(target) for target in targets_of(config, targets).values()]
    for name in dict.fromkeys(each for names in used for each in names):
        calibration = getattr(config.variant.get(name), "calibration", None)
        if calibration and not calibration.is_function and not Path(calibration.samples).exists():
            yield ConfigError(
                f"variant.{name}.calibration: no such file or folder: {calibration.samples}", hint=SAMPLES
            )


def _absent_tools(config: Config, request: BuildRequest, *, is_packaged: bool) -> Iterator[MobpackError]:
    """The runtimes that ship, where they are to be opened; what assembles packages; and runners that must run."""
    own = {name for name in ("android", "ios") if getattr(config.runtime, name)}
    tables = targets_of(config, request.targets)
    if config.check.kernels == "require":
        shipped = {table.environment: None for name, table in tables.items() if name not in own}
        yield from _raised([partial(_refuse_unopenable, name) for name in shipped])
    if is_packaged:
        yield from _raised([target.refuse_without_tools for target in tables.values()])
    for name in sorted(compilers_of(config, request.targets)):
        if reason := ENVIRONMENTS[name]().missing():
            what = f"soc-models need the compiler in the environment {name}: {reason}"
            yield ToolError(what, hint="fix that, or remove soc-models")
    yield from absent(config)
    if request.rules.strict:
        for runner in chosen(config, [name for name in config.parity.runners if name not in config.parity.require]):
            if reason := runner.missing():
                what = f"--strict: runner '{runner.label()}' of [parity] runners cannot run: {reason}"
                yield GateError(what, hint="fix that, or remove it from [parity] runners (--runners)")
    if request.rules.must_examine:
        for name, table in tables.items():
            yield from _unexaminable(name, table.providers)


def _unexaminable(target: str, providers: Sequence[str]) -> Iterator[GateError]:
    """Providers of which nothing is known without an environment, and that is missing."""
    for provider in providers:
        source = SOURCES.get(provider)
        if source and (reason := ENVIRONMENTS[source.environment]().missing()):
            what = f"nothing would examine {provider} on {target}, as --strict and --fail-on ask: {reason}"
            yield GateError(what, hint=f"fix that, or leave {provider} out of the target's providers")


def _refuse_unopenable(name: str) -> None:
    """Raises ToolError if this machine cannot run the ONNX Runtime of packages."""
    try:
        refuse_unsupported(SHIPPED[name]())
    except ToolError as error:
        raise ToolError(error.message, hint='set kernels = "skip" in [check] to ship without this proof') from error
