"""Java packages: of the Kotlin classes, named after the package of models, and of ONNX Runtime's classes.

Imports nothing of mobpack: compiled Kotlin depends on this module, and is compiled anew after each change of it.
"""

import re

ONNXRUNTIME = "ai.onnxruntime"
"""Java package of ONNX Runtime's classes, unless they were renamed."""

# Keywords and literals of Java (JLS 3.9, 3.10) and hard keywords of Kotlin: both languages use the package name.
KEYWORDS = frozenset(
    """
    abstract as assert boolean break byte case catch char class const continue default do double else enum extends
    false final finally float for fun goto if implements import in instanceof int interface is long native new null
    object package private protected public return short static strictfp super switch synchronized this throw throws
    transient true try typealias typeof val var void volatile when while
    """.split()
)


def package_part(name: str) -> str:
    """`page-orientation` -> `pageorientation`; `model` is appended to a keyword."""
    part = re.sub(r"[^a-z0-9]", "", name.lower())
    part = part if part[:1].isalpha() else f"model{part}"
    return f"{part}model" if part in KEYWORDS else part
