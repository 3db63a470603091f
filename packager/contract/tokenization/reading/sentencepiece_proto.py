"""Messages of SentencePiece's `.model` files: what sentencepiece_model.proto has for the encoding of texts."""

from functools import cache
from typing import Any

TYPES = {"bytes": 12, "bool": 8, "float": 2, "int32": 5}
"""of google.protobuf's FieldDescriptorProto"""
MESSAGE, OPTIONAL, REPEATED = 11, 1, 3
SCHEMA = {
    "Piece": ("1 piece bytes", "2 score float", "3 type int32 1"),
    "Trainer": (
        "3 model_type int32 1",
        "24 treat_whitespace_as_suffix bool",
        "35 byte_fallback bool",
        "48 pad_piece bytes <pad>",
    ),
    "Normalizer": (
        "2 precompiled_charsmap bytes",
        "3 add_dummy_prefix bool true",
        "4 remove_extra_whitespaces bool true",
        "5 escape_whitespaces bool true",
    ),
    "Model": (
        "1 pieces *Piece",
        "2 trainer_spec Trainer",
        "3 normalizer_spec Normalizer",
        "5 denormalizer_spec Normalizer",
    ),
}
"""fields by message: number, name, type and default; `*` for many. Enumerations are int32, and texts are bytes, which
nothing has checked."""


@cache
def model() -> type[Any]:
    """The class of a file's message."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="sentencepiece.proto", package="sentencepiece", syntax="proto2")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        for number, field, kind, *default in map(str.split, fields):
            made = message.field.add(number=int(number), name=field, label=REPEATED if kind[0] == "*" else OPTIONAL)
            if kind in TYPES:
                made.type = TYPES[kind]
            else:
                made.type, made.type_name = MESSAGE, f".sentencepiece.{kind.removeprefix('*')}"
            if default:
                made.default_value = default[0]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found: type[Any] = message_factory.GetMessageClass(pool.FindMessageTypeByName("sentencepiece.Model"))
    return found
