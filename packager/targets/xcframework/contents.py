"""Checks of an .xcframework as a whole: listed files, existing files, and platforms."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from packager.targets.xcframework.finding import Finding, error, note, warning
from packager.targets.xcframework.layout import PLIST, Slice, read_plist

SIGNATURE = "_CodeSignature"


def check(root: Path, slices: Sequence[Slice]) -> Iterator[Finding]:
    yield from _kind(root)
    for each in slices:
        yield from _presence(each)
    yield from _doubles(slices)
    yield from _strangers(root, slices)
    yield from _phones(slices)
    if not (root / SIGNATURE).is_dir():
        yield note(
            "unsigned",
            "",
            f"it has no {SIGNATURE}, so Xcode cannot tell who made it",
            "sign it with codesign --timestamp -s IDENTITY; SDKs on Apple's list of common ones must be signed",
        )


def _kind(root: Path) -> Iterator[Finding]:
    document = read_plist(root / PLIST)
    if document.get("CFBundlePackageType") != "XFWK" or "XCFrameworkFormatVersion" not in document:
        yield error(
            "format-missing",
            "",
            "its Info.plist lacks CFBundlePackageType XFWK or XCFrameworkFormatVersion",
            "create it with xcodebuild -create-xcframework",
        )


def _presence(each: Slice) -> Iterator[Finding]:
    if not each.bundle.exists():
        yield error(
            "library-missing",
            each.identifier,
            f"{each.library} is listed but missing",
            "create it with xcodebuild -create-xcframework, which lists the existing files",
        )
    for key, path in (("HeadersPath", each.headers), ("DebugSymbolsPath", each.symbols)):
        if path and not (each.folder / path).is_dir():
            yield error(
                "folder-missing",
                each.identifier,
                f"{key} names {path}, which does not exist",
                f"add it, or remove {key}",
            )


def _doubles(slices: Sequence[Slice]) -> Iterator[Finding]:
    """Two slices for one platform, between which Xcode cannot choose."""
    seen: dict[tuple[str, str], str] = {}
    for each in slices:
        other = seen.setdefault((each.platform, each.variant), each.identifier)
        if other != each.identifier or [one.identifier for one in slices].count(each.identifier) > 1:
            yield error(
                "slice-twice",
                each.identifier,
                f"it is for the same platform as {other}",
                "merge the architectures of a platform into one fat library with lipo -create",
            )


def _strangers(root: Path, slices: Sequence[Slice]) -> Iterator[Finding]:
    listed = {each.folder.name for each in slices} | {SIGNATURE}
    for path in sorted(root.iterdir()):
        if path.is_dir() and path.name not in listed:
            yield warning(
                "folder-unlisted",
                "",
                f"its Info.plist does not list the folder {path.name}, so builds ignore it",
                "remove it, or move it into the slices and list it there (HeadersPath for headers)",
            )


def _phones(slices: Sequence[Slice]) -> Iterator[Finding]:
    phones = [each for each in slices if each.is_phone]
    simulators = [each for each in slices if (each.platform, each.variant) == ("ios", "simulator")]
    if not any("arm64" in each.architectures for each in phones):
        yield error("phones-missing", "", "it has no slice for iPhones (ios, arm64)", "build it for iphoneos as well")
    if not simulators:
        yield warning(
            "simulator-missing", "", "it has no slice for the simulator", "build it for iphonesimulator as well"
        )
    for each in simulators:
        if "arm64" not in each.architectures:
            yield warning(
                "simulator-without-arm64",
                each.identifier,
                "Macs with Apple's processors cannot run it in their simulator",
                "build it for arm64 simulators as well",
            )
    for each in slices:
        if old := sorted({"armv7", "armv7s", "i386"} & set(each.architectures)):
            yield warning(
                "architecture-old",
                each.identifier,
                f"Xcode 14 and later build nothing for {', '.join(old)}",
                "remove it: no iPhone on iOS 11 or later needs it",
            )
