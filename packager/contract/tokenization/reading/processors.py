"""Reads the post-processor of a `tokenizer.json`: templates around the tokens of texts, and their offsets."""

from collections.abc import Iterator
from dataclasses import dataclass

from packager.contract.tokenization.definition import Slot, Special, Template, Trimming
from packager.contract.tokenization.reading.part import Part
from packager.core.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Processor:
    single: Template = (Slot(text=0, role=0),)
    pair: Template = (Slot(text=0, role=0), Slot(text=1, role=1))
    trimming: Trimming | None = None


def read(part: Part | None) -> Processor:
    if part is None:
        return Processor()
    match part.type:
        case "BertProcessing":
            single, pair = bert(_pair_id(part, "cls"), _pair_id(part, "sep"))
            return Processor(single=single, pair=pair)
        case "RobertaProcessing":
            single, pair = _roberta(_pair_id(part, "cls"), _pair_id(part, "sep"))
            return Processor(single=single, pair=pair, trimming=_trimming(part))
        case "TemplateProcessing":
            return Processor(single=tuple(_pieces(part, "single")), pair=tuple(_pieces(part, "pair")))
        case "ByteLevel":
            return Processor(trimming=_trimming(part))
        case "Sequence":
            return _together(part)
    raise part.unsupported()


def _together(part: Part) -> Processor:
    """Several processors: one template, after what trims offsets."""
    made = [read(each) for each in part.parts("processors")]
    plain = Processor()
    templates = [each for each in made if (each.single, each.pair) != (plain.single, plain.pair)]
    trimmings = [each.trimming for each in made if each.trimming]
    if len(templates) > 1 or len(trimmings) > 1 or any(each.trimming for each in made[1:]):
        raise part.unsupported("a sequence of such processors")
    found = templates[0] if templates else plain
    return Processor(single=found.single, pair=found.pair, trimming=trimmings[0] if trimmings else None)


def _trimming(part: Part) -> Trimming | None:
    if not part.get("trim_offsets", bool, True):
        return None
    return Trimming(keeps_first=part.get("add_prefix_space", bool, True))


def _roberta(first: int, last: int) -> tuple[Template, Template]:
    """`<s> A </s>` and `<s> A </s> </s> B </s>`, with these ids."""
    end = Special(id=last, role=0)
    single = (Special(id=first, role=0), Slot(text=0, role=0), end)
    return single, (*single, end, Slot(text=1, role=0), end)


def bert(first: int, last: int) -> tuple[Template, Template]:
    """`[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, with these ids."""
    single = (Special(id=first, role=0), Slot(text=0, role=0), Special(id=last, role=0))
    return single, (*single, Slot(text=1, role=1), Special(id=last, role=1))


def _pair_id(part: Part, key: str) -> int:
    found = part.get(key, list)
    if len(found) != 2 or not isinstance(found[1], int):
        raise ConfigError(f"{part.place}: '{key}' is not a token with its id", hint="save the tokenizer again")
    return found[1]


def _pieces(part: Part, key: str) -> Iterator[Special | Slot]:
    known = part.get("special_tokens", dict, {})
    for each in part.parts(key):
        special, sequence = each.part("SpecialToken"), each.part("Sequence")
        if sequence:
            yield Slot(text={"A": 0, "B": 1}[sequence.get("id", str)], role=sequence.get("type_id", int, 0))
        elif special:
            name = special.get("id", str)
            for number in Part(f"{part.place}: {name}", known.get(name, {})).get("ids", list):
                yield Special(id=int(number), role=special.get("type_id", int, 0))
