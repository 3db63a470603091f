"""Commands in docs/guides/ten-minutes.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

GUIDE = ROOT / "docs" / "guides" / "ten-minutes.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
