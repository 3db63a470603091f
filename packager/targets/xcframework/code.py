"""Checks of a slice's machine code against its metadata."""

from collections.abc import Iterator, Sequence

from packager.targets.xcframework.finding import Finding, error, note, warning
from packager.targets.xcframework.layout import Slice, version_key
from packager.targets.xcframework.macho import Code

FIRST_ARM64_SIMULATOR = (14, 0, 0)
"""compilers raise older targets to this version: no earlier simulator ran on Apple's processors"""


def check(each: Slice, pieces: Sequence[Code], minimum_os: str) -> Iterator[Finding]:
    """Findings about the code; `minimum_os` is that of the framework's Info.plist, or empty."""
    yield from _architectures(each, pieces)
    yield from _platforms(each, pieces)
    for piece in pieces:
        yield from _minimum(each, piece, minimum_os)
    yield from _linkage(each, pieces)
    if any(piece.has_bitcode for piece in pieces):
        is_dynamic = any(piece.kind == "dynamic" for piece in pieces)
        yield (error if is_dynamic else warning)(
            "bitcode",
            each.identifier,
            "there is bitcode in it, which Xcode 14 and later neither make nor send to the App Store",
            "build it with ENABLE_BITCODE=NO, or take it out with bitcode_strip -r",
        )


def _architectures(each: Slice, pieces: Sequence[Code]) -> Iterator[Finding]:
    there = sorted(piece.architecture for piece in pieces)
    if there != list(each.architectures):
        yield error(
            "architectures",
            each.identifier,
            f"Info.plist lists {', '.join(each.architectures)}; the library has {', '.join(there)}",
            "create the .xcframework again with xcodebuild -create-xcframework",
        )


def _platforms(each: Slice, pieces: Sequence[Code]) -> Iterator[Finding]:
    for piece in pieces:
        others = sorted(
            {_platform(b.platform, b.variant) for b in piece.builds} - {_platform(each.platform, each.variant)}
        )
        if others:
            yield error(
                "platform",
                each.identifier,
                f"its code for {piece.architecture} was built for {', '.join(others)}",
                f"build it for {_platform(each.platform, each.variant)}",
            )
        if not piece.builds:
            yield warning(
                "platform-unknown",
                each.identifier,
                f"its code for {piece.architecture} does not state its platform",
                "build it with a current compiler and -target",
            )


def _platform(platform: str, variant: str) -> str:
    return " ".join(filter(None, [platform or "an unknown platform", variant]))


def _minimum(each: Slice, piece: Code, declared: str) -> Iterator[Finding]:
    versions = sorted({build.minimum_os for build in piece.builds}, key=version_key)
    if not versions:
        return
    if declared and version_key(versions[-1]) > max(version_key(declared), _floor(each, piece)):
        yield error(
            "minimum-os-low",
            each.identifier,
            f"Info.plist promises {declared}; its code for {piece.architecture} needs {versions[-1]}",
            f"set MinimumOSVersion to {versions[-1]}, or build for {declared}",
        )
    elif declared and version_key(versions[-1]) < version_key(declared):
        yield note(
            "minimum-os-high",
            each.identifier,
            f"Info.plist asks for {declared}; its code for {piece.architecture} runs on {versions[-1]}",
            "lower it only to support older systems",
        )
    if len(versions) > 1:
        yield warning(
            "minimum-os-mixed",
            each.identifier,
            f"its objects for {piece.architecture} were built for {', '.join(versions)}: it needs the newest of them",
            "build all of it with one deployment target",
        )


def _floor(each: Slice, piece: Code) -> tuple[int, ...]:
    is_simulator = each.variant == "simulator" and piece.architecture == "arm64"
    return FIRST_ARM64_SIMULATOR if is_simulator else (0, 0, 0)


def _linkage(each: Slice, pieces: Sequence[Code]) -> Iterator[Finding]:
    kinds = sorted({piece.kind for piece in pieces})
    if len(kinds) > 1 or kinds == ["other"]:
        yield error(
            "linkage",
            each.identifier,
            f"its library is {' and '.join(kinds)}: neither a static library nor a dynamic one",
            "build a static or dynamic library",
        )
    if kinds == ["dynamic"] and not each.is_framework:
        yield error(
            "loose-dylib",
            each.identifier,
            f"{each.library} is a dynamic library without a framework, which iPhone apps cannot embed",
            "put it into a .framework, or build a static library",
        )
    elif kinds == ["dynamic"]:
        wanted = f"@rpath/{each.library}/" + ("Versions/A/" if each.is_desktop else "") + each.binary.name
        for name in sorted({piece.install_name for piece in pieces} - {wanted}):
            yield error(
                "install-name",
                each.identifier,
                f"its install name is {name or 'empty'}, but apps have it at {wanted}",
                f"run: install_name_tool -id {wanted}",
            )
