"""Installed Python packages: version, and a hash of the files as they lie on the disk now."""

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder
from pathlib import Path

from packager import __version__
from packager.core.errors import ToolError
from packager.distribution.locking.hashing import dir_hash
from packager.distribution.locking.lock import DIR_HASH, Facts
from packager.files.installed import PACKAGE, templates_folder

OWN = "mobpack"
INSTALL = "install it: pip install mobpack, or pip install -e . in its sources"
INSTALLERS = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
"""Files beside a package's metadata that differ from install to install."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")


def own_code() -> Facts:
    """mobpack itself: its version, and a hash of its code and templates, wherever they are installed."""
    templates = templates_folder()
    code = {f"packager/{name}": path for name, path in _below(PACKAGE) if not path.is_relative_to(templates)}
    texts = {f"templates/{name}": path for name, path in _below(templates)}
    return {"version": __version__, DIR_HASH: dir_hash({**code, **texts})}


def _below(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if path.is_file() and not _is_compiled(name.parts):
            yield name.as_posix(), path


def _is_compiled(parts: tuple[str, ...]) -> bool:
    return "__pycache__" in parts or parts[-1].endswith(".pyc")


def needed(extras: Iterable[str]) -> Mapping[str, Facts]:
    """The packages that mobpack needs, with those of its `extras` that are installed, and all that they need, by name.

    Raises ToolError for one that is damaged, and if mobpack itself is not installed: nothing says what it needs.
    """
    if _installed(OWN) is None:
        raise ToolError("mobpack runs without being installed, so nothing lists its Python packages", hint=INSTALL)
    found: dict[str, Distribution] = {}
    waiting = [(OWN, frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        installed = _installed(name)
        if name in found or installed is None:
            continue
        found[name] = installed
        waiting += [(each, frozenset()) for each in _requirements(installed, wanted)]
    return {name: facts(found[name]) for name in sorted(found) if name != OWN}


def missing(extras: Iterable[str]) -> tuple[str, ...]:
    """Packages that `extras` of mobpack name and that are not installed."""
    own = _installed(OWN)
    named = [*_requirements(own, frozenset(extras))] if own else []
    return tuple(sorted({name for name in named if _installed(name) is None}))


def _installed(name: str) -> Distribution | None:
    return next(_distributions(DistributionFinder.Context(name=name)), None)


def _distributions(context: DistributionFinder.Context) -> Iterator[Distribution]:
    """Finds distributions as Python itself does: importlib_metadata, once imported, leaves out files that are gone."""
    yield from MetadataPathFinder.find_distributions(context)


def _requirements(installed: Distribution, extras: frozenset[str]) -> Iterator[str]:
    """Packages that it may need on any system: those that are not installed are left out later."""
    for text in installed.requires or ():
        extra, name = EXTRA.search(text), NAME.match(text)
        if name and (extra is None or extra[1] in extras):
            yield canonical(name[0])


def inside(folder: Path) -> Mapping[str, Facts]:
    """The packages that are installed in `folder`, by name."""
    context = DistributionFinder.Context(path=[str(folder)])
    found = {canonical(each.name): each for each in _distributions(context)}
    return {name: facts(found[name]) for name in sorted(found)}


def canonical(name: str) -> str:
    """The name as registries compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def facts(installed: Distribution) -> Facts:
    """Origin of a package, and the `dirHash` of its files: that of its unpacked wheel without the list of its files,
    as long as nobody has changed them."""
    return {
        "origin": f"pypi:{canonical(installed.name)}@{installed.version}",
        DIR_HASH: dir_hash(dict(_files(installed))),
    }


def _files(installed: Distribution) -> Iterator[tuple[str, Path]]:
    """The files of the wheel: none that the installer made."""
    root = str(installed.locate_file(""))
    for file in installed.files or ():
        parts = file.parts
        is_made = parts[0] == ".." or (parts[-1] in INSTALLERS and parts[0].endswith(".dist-info"))
        if is_made or _is_compiled(parts):
            continue
        name = str(file)
        place = Path(root, name)
        if not place.is_file():
            raise ToolError(
                f"the Python package {installed.name} is damaged: {name} is missing",
                hint=f"install it again: pip install --force-reinstall {installed.name}=={installed.version}",
            )
        yield name, place
