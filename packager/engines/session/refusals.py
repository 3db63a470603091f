"""Explains ONNX Runtime's refusals: its message without source locations, and what to do about it."""

import re

PLACE = re.compile(r"\S+\.(?:cc|cpp|h):\d+ ")
STATUS = re.compile(r"(?:\[ONNXRuntimeError\] : )?\b\d+ : [A-Z_]+ : ")
CONDITION = re.compile(r"^\S.*? was false\. (?=\S)")
"""Prefix of ORT_ENFORCE's messages: the expression in the source that did not hold."""
BEHIND_SIGNATURE = re.compile(r"(?:::<lambda\([^>]*\)>|::operator\b|\(\)| const\b| \[with [^\]]*\])*\s*")

HINTS = (
    (
        "not a registered function/op",
        "ONNX Runtime has no such operator: replace it with standard ones; training operators: export for inference",
    ),
    (
        "Could not find an implementation",
        "the CPU has no kernel for that operator with these types: export in float32, or cast around it",
    ),
    ("Type Error", "the operator does not take that type: cast to another before it"),
    ("same node name", "give every node a name of its own, or none"),
    ("Failed to construct locale", "install that locale here, or name another in StringNormalizer: apps need it, too"),
    ("under development", "export with a lower opset of that domain"),
)
"""Words in a refusal -> the hint for the user."""


def is_onnxruntime_error(error: Exception) -> bool:
    """Whether ONNX Runtime raised `error`: its exceptions share no base class but Exception, only their module."""
    return type(error).__module__.startswith("onnxruntime")


def explain(error: str) -> str:
    """ONNX Runtime's message without its status, source locations and C++ signatures."""
    text = STATUS.sub("", error)
    while found := PLACE.search(text):
        text = text[: found.start()] + CONDITION.sub("", _without_function(text[found.end() :]))
    return " ".join(text.replace("[ONNXRuntimeError] :", "").split())


def _without_function(text: str) -> str:
    """`text` without the C++ signature, or the bare name of a function, that it begins with."""
    opening = text.find("(")
    if opening < 0 or "::" not in text[:opening]:
        return text.partition(" ")[2]
    depth = 0
    for index in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            rest = text[index + 1 :]
            behind = BEHIND_SIGNATURE.match(rest)
            return rest[behind.end() :] if behind else rest
    return text[opening:]


def hint_for(error: str) -> str:
    return next((hint for words, hint in HINTS if words in error), "mobpack inspect shows what the model uses")


def is_refusal(error: Exception) -> bool:
    """Whether ONNX Runtime raised `error`: its exceptions share only their module; its Python part raises two built-in
    ones."""
    return type(error).__module__.startswith("onnxruntime") or isinstance(error, ValueError | RuntimeError)
