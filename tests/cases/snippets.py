"""Code in the pages of the documentation: where it is, and what an editor adds to a part of a file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    *(f"docs/{name}.md" for name in ("android", "ios", "react-native", "web", "flutter")),
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "guides").glob("*.md")),
)
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
QUICK_START = {
    "com.example.rapidorientation": "com.example.vision",
    "RapidOrientationKit": "VisionModels",
    "react-native-rapid-orientation": "react-native-vision",
    "RapidOrientation": "Classifier",
    "dynamicDimension0": "batch",
    "fetchName0": "logits",
}
"""names in the packages that README's quick start builds -> those of the golden packages, which are alike"""
METHOD = re.compile(
    r"\.(classify|detect|segment|embed|embedAll|read|entities|score|rank|predict|generate|frames)(Blocking)?\b"
    r"|\bPicture\b|/image'|/sound'"
)


@dataclass(frozen=True)
class Snippet:
    page: str
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """A file's name without its suffix."""
        return re.sub(r"\W", "_", f"{self.page.removeprefix('docs/').removesuffix('.md')}_{self.line}")

    @property
    def package(self) -> str:
        """The golden case with what the snippet uses."""
        if "ModelUpdater" in self.text:
            return "delivered"
        return "contracts" if METHOD.search(self.text) else "image_classifier"

    def names(self, given: Mapping[str, str]) -> list[str]:
        """The declarations in `given` of names that the snippet uses and does not declare."""
        declared = set(re.findall(r"\b(?:val|var|let|const|final|fun|func|function) (\w+)", self.text))
        return [each for name, each in given.items() if name not in declared and self.uses(name)]

    def uses(self, name: str) -> bool:
        code = re.sub(r"//.*|'[^']*'|\"[^\"$\\]*\"", "", self.text)
        return re.search(rf"(?<![\w.'\"]){name}\b(?!:)", code) is not None


def snippets(*languages: str) -> list[Snippet]:
    """All code in these languages, in the order of the pages."""
    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
    for name, golden in QUICK_START.items():
        texts["README.md"] = texts["README.md"].replace(name, golden)
    return [each for page, text in texts.items() for each in blocks(page, text, languages)]


def blocks(page: str, text: str, languages: Sequence[str]) -> list[Snippet]:
    """The code in the text of a page."""
    return [
        Snippet(page, text.count("\n", 0, block.start()) + 1, block[2], dedent(block[3]))
        for block in FENCE.finditer(text)
        if block[2] in languages
    ]


def split(text: str, imports: str) -> tuple[str, str]:
    """The lines of `text` that import, by the start of such a line, and the others."""
    lines = text.splitlines()
    first = [line for line in lines if line.startswith(imports)]
    return "\n".join(first), "\n".join(line for line in lines if not line.startswith(imports))


def body(text: str, by: str = "    ") -> str:
    return indent(text.strip("\n"), by)


def listed(names: Sequence[str]) -> str:
    return ", ".join(names)
