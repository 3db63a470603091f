"""Reads the normalizer of a `tokenizer.json`."""

from collections.abc import Iterator

from packager.tokenization import normalizing, unicode
from packager.tokenization.reading.part import Part


def read(part: Part | None) -> Iterator[normalizing.Map]:
    if part is None:
        return
    match part.type:
        case "Sequence":
            for each in part.parts("normalizers"):
                yield from read(each)
        case "BertNormalizer":
            lowers = part.get("lowercase", bool, True)
            yield from normalizing.bert(
                cleans=part.get("clean_text", bool, True),
                splits_chinese=part.get("handle_chinese_chars", bool, True),
                strips_accents=part.get("strip_accents", bool, lowers),
                lowers=lowers,
            )
        case "Lowercase":
            yield unicode.lowercase()
        case "StripAccents":
            yield normalizing.removing(unicode.members("combining"))
        case "NFD" | "NFKD":
            yield unicode.decompositions(compatible=part.type == "NFKD")
        case _:
            raise part.unsupported()
