"""XML in the protobuf form that modules of app bundles have: `aapt.pb.XmlNode` of aapt2's Resources.proto."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

NAMESPACES: Mapping[str, str] = {
    "android": "http://schemas.android.com/apk/res/android",
    "dist": "http://schemas.android.com/apk/distribution",
}
"""Address of each prefix that attributes and elements may have."""

LENGTH_DELIMITED = 2
VARINT = 0

# Fields of the messages, by number.
NODE_ELEMENT = 1
ELEMENT_NAMESPACE, ELEMENT_NAMESPACE_URI, ELEMENT_NAME, ELEMENT_ATTRIBUTE, ELEMENT_CHILD = 1, 2, 3, 4, 5
NAMESPACE_PREFIX, NAMESPACE_URI = 1, 2
ATTRIBUTE_NAMESPACE_URI, ATTRIBUTE_NAME, ATTRIBUTE_VALUE, ATTRIBUTE_COMPILED = 1, 2, 3, 6
ITEM_PRIMITIVE = 7
PRIMITIVE_BOOLEAN = 8


@dataclass(frozen=True, kw_only=True)
class Element:
    """An element of a document; a name with a prefix of `NAMESPACES` belongs to that namespace."""

    name: str
    attributes: Mapping[str, str | bool] = field(default_factory=dict)
    children: Sequence["Element"] = ()


def document(root: Element) -> bytes:
    """The document of `root`, which declares all of `NAMESPACES`."""
    declared = b"".join(
        _field(ELEMENT_NAMESPACE, _text(NAMESPACE_PREFIX, prefix) + _text(NAMESPACE_URI, uri))
        for prefix, uri in NAMESPACES.items()
    )
    return _field(NODE_ELEMENT, declared + _element(root))


def _element(element: Element) -> bytes:
    uri, name = _split(element.name)
    parts = [_text(ELEMENT_NAMESPACE_URI, uri), _text(ELEMENT_NAME, name), *_attributes(element.attributes)]
    parts += [_field(ELEMENT_CHILD, _field(NODE_ELEMENT, _element(child))) for child in element.children]
    return b"".join(parts)


def _attributes(attributes: Mapping[str, str | bool]) -> Iterator[bytes]:
    """A boolean has its value as text and as a primitive: bundletool reads the latter alone."""
    for given, value in attributes.items():
        uri, name = _split(given)
        text = str(value).lower() if isinstance(value, bool) else value
        compiled = b""
        if isinstance(value, bool):
            primitive = _varint(PRIMITIVE_BOOLEAN << 3 | VARINT) + _varint(int(value))
            compiled = _field(ATTRIBUTE_COMPILED, _field(ITEM_PRIMITIVE, primitive))
        attribute = _text(ATTRIBUTE_NAMESPACE_URI, uri) + _text(ATTRIBUTE_NAME, name) + _text(ATTRIBUTE_VALUE, text)
        yield _field(ELEMENT_ATTRIBUTE, attribute + compiled)


def _split(name: str) -> tuple[str, str]:
    """The address of the name's namespace, empty for none, and the name without its prefix."""
    prefix, colon, local = name.partition(":")
    return (NAMESPACES[prefix], local) if colon else ("", name)


def _text(number: int, text: str) -> bytes:
    """An empty text is the default, which is not written."""
    return _field(number, text.encode()) if text else b""


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | LENGTH_DELIMITED) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
