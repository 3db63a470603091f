"""Damaged models: flipped bits, lost or doubled bytes, fields with absurd values."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

NUMBERS = (0, 1, -1, 2, 7, 127, 255, 65_536, 2**31 - 1, -(2**31), 2**31, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e38, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    "",
    "x",
    "y",
    "../x",
    "/etc/passwd",
    "a" * 5000,
    "\0",
    "\u202e",
    "If",
    "Loop",
    "Reshape",
    "ai.onnx",
    "acme",
    "ü",
)
WHOLE_NUMBERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}

Mutation = Callable[[bytes, Random], bytes]


def flip_bits(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 8, 32))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut(content: bytes, random: Random) -> bytes:
    """Remove the end or a piece of the middle, or double a piece."""
    first, second = sorted(random.sample(range(len(content) + 1), 2))
    return random.choice((content[:first], content[:first] + content[second:], content[:second] + content[first:]))


def change_fields(content: bytes, random: Random) -> bytes:
    """Give a few fields of the message, at any depth, absurd values of their own type."""
    proto = onnx.ModelProto.FromString(content)
    for _ in range(random.choice((1, 1, 2, 4))):
        message = random.choice(list(messages(proto)))
        field = random.choice(message.DESCRIPTOR.fields)
        try:
            (change_list if field.is_repeated else change_value)(message, field, random)
        except (ValueError, TypeError, DecodeError):
            continue  # what protobuf itself does not take
    return bytes(proto.SerializeToString())


def messages(message: Any) -> Iterator[Any]:
    """`message` and all in it."""
    yield message
    for field, value in message.ListFields():
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                yield from messages(inner)


def change_list(message: Any, field: FieldDescriptor, random: Random) -> None:
    items = getattr(message, field.name)
    how = random.choice(("clear", "drop", "double", "turn", "add"))
    if how == "clear":
        message.ClearField(field.name)
    elif items and how == "drop":
        del items[random.randrange(len(items))]
    elif items and how == "double":
        items.extend([items[random.randrange(len(items))]] * random.choice((1, 3, 200)))
    elif items and how == "turn":
        turned = list(reversed(items))
        del items[:]
        items.extend(turned)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        items.add()
    else:
        items.append(value_for(field, random))


def change_value(message: Any, field: FieldDescriptor, random: Random) -> None:
    if random.random() < 0.2:
        message.ClearField(field.name)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, value_for(field, random))


def value_for(field: FieldDescriptor, random: Random) -> Any:
    """Raises KeyError for types that ONNX does not have."""
    if field.cpp_type in WHOLE_NUMBERS:
        least, most = WHOLE_NUMBERS[field.cpp_type]
        return max(least, min(most, random.choice(NUMBERS)))
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return random.choice(FLOATS)
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return random.choice(field.enum_type.values).number
    text = random.choice(TEXTS)
    return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text


MUTATIONS: dict[str, Mutation] = {"bits flipped": flip_bits, "cut or doubled": cut, "fields changed": change_fields}
