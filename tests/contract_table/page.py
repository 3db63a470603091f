"""The table as lines of Markdown, between two marks of benchmarks/results/contract_table.md."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.contract_table import cases
from tests.contract_table.sides import CLEANED, STREAMED, TONE, VOICE, Answer, Answers

PAGE = Path(__file__).parents[2] / "benchmarks" / "results" / "contract_table.md"
MARKED = re.compile(r"(<!-- table: .* -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
HEAD = """\
| what an app passes | what it gets | Kotlin | Swift | React Native | the web | Dart | Python | Node | Java | C++ |
|---|---|---|---|---|---|---|---|---|---|---|
"""
MOST = 1e-4
"""Largest error of a side, as a share of the answer's largest number."""
A_BYTE = 1 / 250
"""The same of pictures: 1 of at least 250."""
SPEECH = 0.5
IN_TOKENS, IN_NUMBERS = "-in-tokens", "-in-numbers"
"""ends of the names of texts"""


@dataclass(frozen=True, kw_only=True)
class Row:
    asked: str
    answer: str
    """Python's answer"""
    differences: tuple[float, ...]
    """the other sides' errors, as shares of the answer's largest number"""

    @property
    def line(self) -> str:
        return f"| {' | '.join((self.asked, self.answer, *(f'{each:.1e}' for each in self.differences)))} |\n"

    @property
    def words(self) -> str:
        """The part that is the same on every machine."""
        return f"| {self.asked} | {self.answer} |"


def rows(python: Answers, others: Sequence[Answers]) -> list[Row]:
    """Raises AssertionError if a side's words differ from Python's, or its error exceeds `MOST`."""
    texts = {each.name: f"\u201c{each.text}\u201d" for each in cases.texts()}
    sounds = {VOICE: HEARD, STREAMED: IN_PIECES, TONE: SPOKEN, CLEANED: IN_NOISE}
    asked = {**{each.name: describe(each) for each in cases.pictures()}, **texts, **sounds}
    assert all(set(each) == set(asked) for each in (python, *others))
    return [
        Row(
            asked=asked[name],
            answer=in_words(name, python[name]),
            differences=tuple(difference(name, python[name], each[name]) for each in others),
        )
        for name in asked
    ]


def difference(name: str, expected: Answer, found: Answer) -> float:
    assert (found.words, len(found.numbers)) == (expected.words, len(expected.numbers)), name
    largest = max(abs(number) for number in expected.numbers)
    off = max(abs(one - other) for one, other in zip(expected.numbers, found.numbers, strict=True)) / largest
    most = A_BYTE if expected.words.endswith(" pixels") else MOST
    assert off <= most, f"{name}: {off:.1e} of the largest number, more than {most:.0e}"
    return off


HEARD = (
    f"a voice that says \u201cfront center\u201d, {cases.WINDOWS} stretches of {1000 * cases.WINDOW // cases.RATE} ms "
    f"at {cases.RATE // 1000} kHz, the state carried"
)


IN_PIECES = "half a second of the voice, pushed to streams in random pieces at seven rates, and a full queue"
SPOKEN = f"the same voice, whole, at {cases.RATE // 1000} kHz"
IN_NOISE = f"the same voice in white noise ({cases.NOISE_DB} dB), blocks of {cases.BLOCK} samples, the states carried"


def describe(picture: cases.Picture) -> str:
    width, height = picture.size
    parts = [f"{picture.about}, {width} x {height}, {picture.format}"]
    parts += [f"{picture.gap} bytes between rows"] if picture.gap else []
    parts += [f"EXIF {picture.orientation}"] if picture.orientation != cases.UP else []
    parts += ["a region"] if picture.region else []
    parts += [picture.conversion] if picture.format in cases.YUV else []
    return ", ".join(parts)


def in_words(name: str, answer: Answer) -> str:
    if name == VOICE:
        return f"speech in {sum(score >= SPEECH for score in answer.numbers)} of {len(answer.numbers)}"
    if name == STREAMED:
        loudest = max(answer.numbers)
        return f"{len(answer.numbers)} results with their ranges, the surest of speech {loudest:.3f}; 8 misuses refused"
    if name == TONE:
        steps = len(answer.numbers) // 2
        return f"{steps} steps of {answer.words}; the highest pitch {max(answer.numbers[steps:]):.0f}"
    if name == CLEANED:
        rate, _ = answer.words.split()
        loudest = max(map(abs, answer.numbers))
        return f"{len(answer.numbers) / int(rate):.2f} s of sound at {rate} Hz, the loudest sample {loudest:.3f}"
    if name.endswith(IN_TOKENS):
        return f"{len(answer.numbers)} tokens: {' '.join(f'{number:.0f}' for number in answer.numbers)}"
    if name.endswith(IN_NUMBERS):
        return f"{len(answer.numbers)} numbers: {' '.join(f'{number:.2f}' for number in answer.numbers[:4])} and more"
    if "|" in answer.words:
        return f"{answer.words.split('|')[0]}, {max(answer.numbers):.3f}; and {len(answer.numbers) - 1} other scores"
    if answer.words.startswith("nose, "):
        x, y, score = answer.numbers[:3]
        return f"{len(answer.numbers) // 3} points, the nose at {x:.1f}, {y:.1f}, {score:.3f}"
    if answer.words.endswith(" pixels"):
        mean = sum(answer.numbers) / len(answer.numbers)
        return f"{answer.words}, of which {len(answer.numbers)} bytes are compared: {mean:.0f} on average"
    if answer.words.endswith(" objects"):
        left, top, right, bottom, _, _, _, width, _, height = answer.numbers[:10]
        place = f"{left:.1f}, {top:.1f}, {right:.1f}, {bottom:.1f}"
        return f"{answer.words}, the best at {place}, with {width * height:.0f} pixels"
    if answer.words.isdigit():
        first = ", ".join(f"{number:.1f}" for number in answer.numbers[:4])
        return f"{answer.words} boxes with text, the best at {first}"
    return f"\u201c{answer.words}\u201d, {answer.numbers[0]:.3f}"


def table(found: Sequence[Row]) -> str:
    return HEAD + "".join(each.line for each in found)


def words(text: str) -> list[str]:
    """The lines of a table without the measured differences."""
    return [re.sub(r"( [\d.]+e[-+]\d+ \|)+$", "", line).strip() for line in text.strip().splitlines()[2:]]


def written() -> str:
    """The table in the page."""
    [(_, found, _)] = MARKED.findall(PAGE.read_text(encoding="utf-8"))
    return str(found)


def write(text: str) -> None:
    page, count = MARKED.subn(lambda found: f"{found[1]}{text}{found[3]}", PAGE.read_text(encoding="utf-8"))
    assert count == 1, f"{PAGE.name} has no place for the table"
    PAGE.write_text(page, encoding="utf-8")
