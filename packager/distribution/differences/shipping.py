"""Compares what ships: packages, systems, processors, providers, runtimes, licences, sizes, versions and warnings."""

import re
from collections.abc import Iterator, Mapping

from packager.core.console import size
from packager.distribution.differences.manifests import Manifest, Plan
from packager.distribution.differences.values import Change, Level, Package

NUMBER = re.compile(r"\d+")


def packages(old: Package, new: Package) -> Iterator[Change]:
    """Compares what two packages of one target say of themselves, but for their APIs."""
    where = new.target
    yield from _names(old, new)
    yield from _oldest(*_known_to_both(old, new), where)
    for name in sorted({*old.depends_on, *new.depends_on}):
        yield from _dependency(name, old.depends_on.get(name, ""), new.depends_on.get(name, ""), where)
    yield from _processors(old.processors, new.processors, where)
    if old.license != new.license and old.license:
        yield license_change(old.license, new.license, where)
    for name in sorted({*old.legal, *new.legal}):
        if old.legal.get(name) != new.legal.get(name):
            change = (
                f"{name} is {'new' if name not in old.legal else 'gone' if name not in new.legal else 'another text'}"
            )
            yield Change(level=Level.MINOR, where=where, change=change, reason="apps show or keep it with their own")
    if old.size_bytes != new.size_bytes:
        yield Change(
            level=Level.PATCH, where=where, change=_sizes("package", old.size_bytes, new.size_bytes), reason=KEEP
        )


KEEP = "apps are built as before"


def _names(old: Package, new: Package) -> Iterator[Change]:
    for kind, before, after in (("package", old.name, new.name), ("module", old.namespace, new.namespace)):
        if kind == "package" and (":" in before) != (":" in after):
            before, after = before.rpartition(":")[2], after.rpartition(":")[2]
        gone = [each for each in before.split(", ") if each not in after.split(", ")]
        come = [each for each in after.split(", ") if each not in before.split(", ")]
        if gone:
            change = f"{kind} {', '.join(gone)} is " + (f"now {', '.join(come)}" if come else "gone")
            yield Change(
                level=Level.MAJOR, where=new.target, change=change, reason="apps name it in builds and imports"
            )
        elif come:
            change = f"new {kind} {', '.join(come)}"
            yield Change(level=Level.MINOR, where=new.target, change=change, reason="the others are as they were")


def _known_to_both(old: Package, new: Package) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Oldest systems, without those that only one of the packages runs on."""
    other = {*old.processors} ^ {*new.processors}

    def known(package: Package) -> Mapping[str, str]:
        return {
            name: version
            for name, version in package.oldest.items()
            if not any(name.lower().startswith(each) for each in other)
        }

    return known(old), known(new)


def _oldest(old: Mapping[str, str], new: Mapping[str, str], where: str) -> Iterator[Change]:
    for name in sorted({*old, *new}):
        before, after = old.get(name, ""), new.get(name, "")
        if before == after:
            continue
        if not before or (after and _key(after) > _key(before)):
            change = f"needs {name} {after}" + (f", was {before}" if before else "")
            reason = "apps that support older ones cannot take it"
            yield Change(level=Level.MAJOR, where=where, change=change, reason=reason)
        else:
            change = f"needs {name} {after or 'no more'}, was {before}"
            yield Change(level=Level.MINOR, where=where, change=change, reason="older ones are supported as well")


def _dependency(name: str, old: str, new: str, where: str) -> Iterator[Change]:
    if old == new:
        return
    if not old or not new:
        change = f"depends on {name} {new}" if new else f"no longer depends on {name}"
        reason = "apps get it with the package" if new else "apps that relied on it must name it themselves"
        yield Change(level=Level.MINOR, where=where, change=change, reason=reason)
        return
    yield _version(f"depends on {name}", old, new, where)


def _version(words: str, old: str, new: str, where: str) -> Change:
    change = f"{words} {new}, was {old}"
    if _key(old)[:1] != _key(new)[:1]:
        reason = "a new major version: other libraries of an app may not take it"
        return Change(level=Level.MAJOR, where=where, change=change, reason=reason)
    if _key(new) < _key(old):
        return Change(level=Level.MINOR, where=where, change=change, reason="apps with newer ones keep them")
    return Change(level=Level.MINOR, where=where, change=change, reason="apps get the newer one")


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in NUMBER.findall(version))


def _processors(old: tuple[str, ...], new: tuple[str, ...], where: str) -> Iterator[Change]:
    gone, come = sorted({*old} - {*new}), sorted({*new} - {*old})
    if old and new and gone:
        reason = "apps on these devices cannot load it"
        yield Change(level=Level.MAJOR, where=where, change=f"no library for {', '.join(gone)}", reason=reason)
    if old and new and come:
        yield Change(level=Level.MINOR, where=where, change=f"library for {', '.join(come)}", reason="more devices")


def license_change(old: str, new: str, where: str) -> Change:
    change = f"licence {new or 'none'}, was {old or 'none'}"
    if not old:
        return Change(level=Level.MINOR, where=where, change=change, reason="terms were not named before")
    return Change(
        level=Level.MAJOR, where=where, change=change, reason="whoever ships an app must agree to other terms"
    )


def manifests(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Compares what two manifests say of all targets together."""
    if old.license != new.license:
        yield license_change(old.license, new.license, "package")
    for name in sorted({*old.runtimes} & {*new.runtimes}):
        yield from _runtime(old.runtimes[name], new.runtimes[name], name)
    for name in sorted({*old.ranges} & {*new.ranges}):
        if old.ranges[name] != new.ranges[name]:
            yield _range(old.ranges[name], new.ranges[name], name)
    for name in sorted({*old.processors} & {*new.processors}):
        yield from _processors(old.processors[name], new.processors[name], f"{name}: own runtime")
    yield from _plans(old, new)
    yield from _tools(old, new)


def _runtime(old: str, new: str, target: str) -> Iterator[Change]:
    if old == new:
        return
    name, version = _parted(old)
    other, newer = _parted(new)
    if name == other and version and newer:
        yield _version(f"runs on {name}", version, newer, target)
    else:
        change = f"runs on {new}, was {old}"
        yield Change(level=Level.MINOR, where=target, change=change, reason="another ONNX Runtime is in the app")


def _parted(runtime: str) -> tuple[str, str]:
    name, version = re.fullmatch(r"(.*?)[: ]?([\d.]*)", runtime).groups()  # type: ignore[union-attr]
    return str(name), str(version)


def _range(old: str, new: str, target: str) -> Change:
    change = f"oldest ONNX Runtime of an app: {new or 'that of the package'}, was {old or 'that of the package'}"
    if old and (not new or _key(new) > _key(old)):
        reason = "apps that keep an older one, for another library, cannot take it"
        return Change(level=Level.MAJOR, where=target, change=change, reason=reason)
    return Change(level=Level.MINOR, where=target, change=change, reason="more apps can take it")


def _plans(old: Manifest, new: Manifest) -> Iterator[Change]:
    before = {(each.model, each.target, each.inside): each for each in old.plans}
    for plan in new.plans:
        known = before.get((plan.model, plan.target, plan.inside))
        if known:
            where = f"{plan.model} on {plan.target}" + (f" in {plan.inside}" if plan.inside else "")
            yield from _providers(known, plan, where)
            yield from _files(known, plan, where)


def _providers(old: Plan, new: Plan, where: str) -> Iterator[Change]:
    gone = [each for each in old.providers if each not in new.providers]
    come = [each for each in new.providers if each not in old.providers]
    shown = f"{', '.join(new.providers)}, was {', '.join(old.providers)}"
    if gone:
        reason = f"devices that ran it on {', '.join(gone)} run it on the next one: other speed, other rounding"
        yield Change(level=Level.MINOR, where=where, change=f"providers {shown}", reason=reason)
    elif come:
        reason = f"devices with {', '.join(come)} may run it there: other speed, other rounding"
        yield Change(level=Level.MINOR, where=where, change=f"providers {shown}", reason=reason)
    elif old.providers != new.providers:
        reason = "devices that have several run it on another one"
        yield Change(level=Level.MINOR, where=where, change=f"order of providers {shown}", reason=reason)


def _files(old: Plan, new: Plan, where: str) -> Iterator[Change]:
    if old.forms != new.forms:
        change = f"files: {'; '.join(new.forms)}; was {'; '.join(old.forms)}"
        reason = "another form of the same model; the errors say how far it is off"
        yield Change(level=Level.PATCH, where=where, change=change, reason=reason)
    if old.size_bytes != new.size_bytes:
        yield Change(
            level=Level.PATCH,
            where=where,
            change=_sizes("files", old.size_bytes, new.size_bytes),
            reason="apps are larger or smaller by that",
        )


def _sizes(words: str, old: int, new: int) -> str:
    share = f" ({(new - old) / old:+.1%})" if old else ""
    return f"{words} {size(new)}, was {size(old)}{share}"


def _tools(old: Manifest, new: Manifest) -> Iterator[Change]:
    tools = {"mobpack": (old.mobpack, new.mobpack)}
    tools |= {name: (old.converter.get(name, ""), new.converter.get(name, "")) for name in new.converter}
    for name, (before, after) in tools.items():
        if before != after:
            change = f"made with {name} {after}, was {before or 'unknown'}"
            yield Change(
                level=Level.PATCH, where="package", change=change, reason="what it changed is listed by itself"
            )
    for warning in new.warnings:
        if warning not in old.warnings:
            yield Change(
                level=Level.PATCH,
                where="package",
                change=f"new warning: {warning}",
                reason="to read, not to do",
                is_internal=True,
            )
    gone = [each for each in old.warnings if each not in new.warnings]
    if gone:
        change = f"{len(gone)} warning(s) of the old build gone: {gone[0]}"
        yield Change(
            level=Level.PATCH, where="package", change=change, reason="nothing for apps to do", is_internal=True
        )
