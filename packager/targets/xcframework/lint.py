"""Checks an .xcframework for problems with Xcode, the App Store and apps."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.core.errors import ToolError
from packager.targets.xcframework import bundle, code, contents, folder, manifest
from packager.targets.xcframework.finding import Finding, error, in_order
from packager.targets.xcframework.layout import Slice, slices
from packager.targets.xcframework.macho import Code, read


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """An .xcframework with its findings."""

    root: Path
    slices: tuple[Slice, ...]
    code: dict[str, tuple[Code, ...]]
    """by slice; empty for an unreadable library"""
    findings: tuple[Finding, ...]
    """errors first"""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.severity == "error")


def lint(root: Path) -> Inspected:
    """Every finding about the .xcframework folder `root`.

    Raises ToolError if its Info.plist is unreadable, or a link leads out of it.
    """
    folder.refuse_outside(root)
    found = slices(root)
    pieces: dict[str, tuple[Code, ...]] = {}
    findings: list[Finding] = list(contents.check(root, found))
    for each in found:
        pieces[each.identifier] = ()
        if not each.bundle.exists():
            continue  # already reported with the contents
        try:
            pieces[each.identifier] = read(each.binary)
        except ToolError as failure:
            findings.append(
                error("binary-unreadable", each.identifier, failure.message, "build it again, or correct BinaryPath")
            )
        findings += _check_slice(each, pieces[each.identifier])
    return Inspected(root=root, slices=found, code=pieces, findings=in_order(findings))


def _check_slice(each: Slice, pieces: tuple[Code, ...]) -> Iterator[Finding]:
    document, problems = bundle.read_info(each)
    yield from problems
    yield from bundle.check(each, document, is_static=any(piece.kind in ("static", "object") for piece in pieces))
    if pieces:
        yield from code.check(each, pieces, bundle.minimum_os(document))
        yield from manifest.check(each, pieces)
