"""Names of assets that Android's build stores as they are."""

STORED = ".tflite"
"""End of an asset's name that the Android Gradle plugin (from 4.1 on) never compresses, in an APK or an app bundle.

Only the end of a name counts (`PackagingUtils.getAllNoCompressExtensions` of the plugin), and the list has no other end
for models: `.ort` and `.onnx` are stored only in an app that says so itself. A stored asset can be mapped into memory;
a compressed one must be copied first.
"""


def stored(name: str) -> str:
    """`net.ort` -> `net.ort.tflite`: a name that still tells the format."""
    return f"{name}{STORED}"


def without_end(name: str) -> str:
    """`net.ort.tflite` -> `net.ort`"""
    return name.removesuffix(STORED)
