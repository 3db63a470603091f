"""Small .xcframeworks and the machine code in them, made from scratch."""

import plistlib
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from packager.targets.xcframework.privacy import audit, privacy_manifest

CPUS = {"arm64": (0x0100000C, 0), "arm64e": (0x0100000C, 0x80000002), "x86_64": (0x01000007, 3), "armv7": (12, 9)}
OBJECT, EXECUTE, DYLIB = 1, 2, 6
IOS, SIMULATOR, CATALYST, MACOS = 2, 7, 6, 1
NAME = "Speech"
INSTALL_NAME = f"@rpath/{NAME}.framework/{NAME}"
PLIST = {
    "CFBundleIdentifier": "com.example.speech",
    "CFBundleExecutable": NAME,
    "CFBundlePackageType": "FMWK",
    "CFBundleShortVersionString": "1.29.0",
    "CFBundleVersion": "1",
    "MinimumOSVersion": "15.1",
}
CALLS = ("_stat", "_malloc")


def version(text: str) -> int:
    major, minor, *patch = (int(part) for part in text.split("."))
    return major << 16 | minor << 8 | (patch[0] if patch else 0)


def section(segment: str, name: str, content: bytes) -> tuple[bytes, bytes, bytes]:
    return segment.encode(), name.encode(), content


def code(
    *,
    architecture: str = "arm64",
    kind: int = DYLIB,
    platform: int | None = IOS,
    minimum: str = "15.1",
    undefined: Sequence[str] = CALLS,
    exports: Sequence[str] = ("_OrtGetApiBase",),
    install_name: str = INSTALL_NAME,
    sections: Sequence[tuple[bytes, bytes, bytes]] = (),
    old_command: int | None = None,
    symbols: Sequence[tuple[str, int, int]] = (),
    extra: bytes = b"",
) -> bytes:
    """A Mach-O file for one processor with the load commands that linters read.

    `symbols` are others than the usual ones: name, type and value.
    """
    is_64 = architecture != "armv7"
    commands = [(0x32, struct.pack("<4I", platform, version(minimum), version("26.2"), 0))] if platform else []
    if old_command:
        commands.append((old_command, struct.pack("<2I", version(minimum), 0)))
    if kind == DYLIB:
        name = install_name.encode() + b"\0"
        name += bytes(-len(name) % 8)
        commands.append((0x0D, struct.pack("<4I", 24, 0, 0, 0) + name))
    entries, strings = [], b"\0"
    usual = [*((each, 0x01, 0) for each in undefined), *((each, 0x0F, 0) for each in exports)]
    for symbol, type_, value in [*usual, *symbols]:
        entries.append((len(strings), type_, int(type_ == 0x0F), 0, value))
        strings += symbol.encode() + b"\0"
    table = b"".join(struct.pack("<IBBHQ" if is_64 else "<IBBHI", *each) for each in entries)
    wanted = sum(8 + len(body) for _, body in commands) + 24 + _segment_size(sections, is_64=is_64)
    at = (32 if is_64 else 28) + wanted
    if sections:
        commands.append(_segment(sections, at, is_64=is_64))
        at += sum(len(content) for *_, content in sections)
    commands.append((0x02, struct.pack("<4I", at, len(entries), at + len(table), len(strings))))
    body = b"".join(struct.pack("<II", command, 8 + len(data)) + data for command, data in commands)
    assert len(body) == wanted
    header = struct.pack(
        "<7I", 0xFEEDFACF if is_64 else 0xFEEDFACE, *CPUS[architecture], kind, len(commands), len(body), 0
    )
    contents = b"".join(content for *_, content in sections)
    return header + (bytes(4) if is_64 else b"") + body + contents + table + strings + extra


def _segment_size(sections: Sequence[tuple[bytes, bytes, bytes]], *, is_64: bool) -> int:
    return ((72 + 80 * len(sections)) if is_64 else (56 + 68 * len(sections))) if sections else 0


def _segment(sections: Sequence[tuple[bytes, bytes, bytes]], at: int, *, is_64: bool) -> tuple[int, bytes]:
    listed = b""
    for segment, name, content in sections:
        place = struct.pack("<QQI" if is_64 else "<III", 0, len(content), at)
        listed += struct.pack("<16s16s", name, segment) + place + bytes(28 if is_64 else 24)
        at += len(content)
    sizes = struct.pack("<QQQQ" if is_64 else "<IIII", 0, 0, 0, 0)
    return (0x19 if is_64 else 0x01), bytes(16) + sizes + struct.pack("<4I", 7, 7, len(sections), 0) + listed


def archive(*members: bytes, name: bytes = b"one_with_a_long_name.o") -> bytes:
    """A static library, as Apple's libtool writes one."""
    made = b"!<arch>\n" + _member(b"__.SYMDEF SORTED", bytes(8))
    return made + b"".join(_member(name, content) for content in members)


def _member(name: bytes, content: bytes) -> bytes:
    body = name + bytes(-len(name) % 8)
    size = len(body) + len(content)
    header = b"#1/%-13d%-12d%-6d%-6d%-8s%-10d`\n" % (len(body), 0, 0, 0, b"100644", size)
    return header + body + content + (b"\n" if size % 2 else b"")


def fat(pieces: Mapping[str, bytes]) -> bytes:
    """One file for several processors."""
    at = 8 + 20 * len(pieces)
    header, body = struct.pack(">II", 0xCAFEBABE, len(pieces)), b""
    for architecture, content in pieces.items():
        header += struct.pack(">5I", *CPUS[architecture], at + len(body), len(content), 3)
        body += content
    return header + body


def simulator_code(**changes: object) -> bytes:
    return fat(
        {
            name: code(architecture=name, platform=SIMULATOR, **changes)  # type: ignore[arg-type]
            for name in ("arm64", "x86_64")
        }
    )


def entry(identifier: str, *, architectures: Sequence[str] = ("arm64",), **more: object) -> dict[str, object]:
    """Info.plist entry of a slice."""
    variant = {"SupportedPlatformVariant": "simulator"} if identifier.endswith("simulator") else {}
    return {
        "LibraryIdentifier": identifier,
        "LibraryPath": f"{NAME}.framework",
        "BinaryPath": f"{NAME}.framework/{NAME}",
        "SupportedArchitectures": list(architectures),
        "SupportedPlatform": "ios",
        **variant,
        **more,
    }


PHONES = entry("ios-arm64")
SIMULATORS = entry("ios-arm64_x86_64-simulator", architectures=("arm64", "x86_64"))


def write_plist(root: Path, *entries: Mapping[str, object], **more: object) -> None:
    document = {"CFBundlePackageType": "XFWK", "XCFrameworkFormatVersion": "1.0", **more}
    (root / "Info.plist").write_bytes(plistlib.dumps({**document, "AvailableLibraries": list(entries)}))


def write_framework(folder: Path, binary: bytes, plist: Mapping[str, object] = PLIST) -> None:
    """A complete framework of the flat kind."""
    (folder / "Headers").mkdir(parents=True)
    (folder / "Headers/onnxruntime_c_api.h").write_text("#define ORT_API_VERSION 29\n", encoding="utf-8")
    (folder / "Modules").mkdir()
    (folder / "Modules/module.modulemap").write_text(
        'framework module Speech {\n  header "onnxruntime_c_api.h"\n}\n', encoding="utf-8"
    )
    (folder / "Info.plist").write_bytes(plistlib.dumps(dict(plist)))
    (folder / "PrivacyInfo.xcprivacy").write_bytes(privacy_manifest(audit(CALLS)))
    (folder / NAME).write_bytes(binary)


def write_desktop_framework(folder: Path, binary: bytes, *, has_links: bool = True) -> None:
    """A framework as macOS and Catalyst have them: everything in Versions/A, with links to it at the top."""
    inside = folder / "Versions/A"
    write_framework(inside, binary)
    (inside / "Resources").mkdir()
    for name in ("Info.plist", "PrivacyInfo.xcprivacy"):
        (inside / name).rename(inside / "Resources" / name)
    if has_links:
        (folder / "Versions/Current").symlink_to("A")
        for path in sorted(inside.iterdir()):
            (folder / path.name).symlink_to(f"Versions/Current/{path.name}")


def write_good(folder: Path) -> Path:
    """An .xcframework without faults: dynamic, signed, for iPhones and simulators."""
    root = folder / f"{NAME}.xcframework"
    write_framework(root / f"ios-arm64/{NAME}.framework", code())
    write_framework(root / f"ios-arm64_x86_64-simulator/{NAME}.framework", simulator_code())
    (root / "_CodeSignature").mkdir()
    write_plist(root, PHONES, SIMULATORS)
    return root


def zipped(root: Path, path: Path, *, inside: str = "") -> Path:
    """`root` as a .zip with its links, below the folder `inside`."""
    with zipfile.ZipFile(path, "w") as made:
        for each in sorted(root.rglob("*")):
            name = f"{inside}{root.name}/{each.relative_to(root).as_posix()}"
            if each.is_symlink():
                info = zipfile.ZipInfo(name)
                info.external_attr = 0o120777 << 16
                made.writestr(info, each.readlink().as_posix())
            elif each.is_file():
                made.write(each, name)
    return path
