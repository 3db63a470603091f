"""benchmarks/results/providers.md is the output of its command."""

from pathlib import Path

from benchmarks import providers
from tests.cases.providers_page import ASKED, PAGE
from tests.toolchain.environments import have
from tests.toolchain.require import fetched


def test_the_lines_of_a_model_are_measured_again(tmp_path: Path) -> None:
    for name in ("runtime", "android", "qnn", "webgpu"):
        have(name)
    fetched("model-silero-vad")
    (subject,) = (each for each in providers.SUBJECTS if each.name == "silero-vad")
    page = providers.examined([subject], tmp_path)
    lines = [providers.line(each) for each in page.rows]
    assert len(lines) == len(ASKED)
    assert [line for line in lines if f"\n{line}\n" not in PAGE] == []
