"""Cuts ONNX Runtime's C headers down to what a compiler reads: most of them is documentation.

Every declaration stays: `OrtApi` is a table of pointers in a fixed order.
"""

import re

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
"""A string literal, which may look like a comment inside, or a comment."""
ORIGIN = "// Without its comments, which are in ONNX Runtime's own copy.\n"


def without_comments(header: str) -> str:
    """`header` without comments and empty lines, except for the licence in its first lines."""
    notice = re.match(r"(?://[^\n]*\n)*", header)
    bare = TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else " ", header)
    lines = (line.rstrip() for line in bare.splitlines())
    return (notice[0] if notice else "") + ORIGIN + "".join(f"{line}\n" for line in lines if line)
