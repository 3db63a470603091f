"""benchmarks/results/providers.md is the output of its command."""

from pathlib import Path

from benchmarks import providers
from tests.toolchain.environments import have
from tests.toolchain.require import fetched

PAGE = providers.PAGE.read_text(encoding="utf-8")


ASKED = ("qnn", "nnapi", "xnnpack", "webgpu", "coreml")


def test_the_page_has_every_model_with_every_provider() -> None:
    for subject in providers.SUBJECTS:
        for provider in ASKED:
            assert PAGE.count(f"\n| {subject.name} | {provider} | unfused ") == 1


def test_nothing_on_the_page_went_unexamined() -> None:
    """The page is written on a machine that has all environments."""
    assert "not examined" not in PAGE


def test_the_lines_of_a_model_are_measured_again(tmp_path: Path) -> None:
    for name in ("runtime", "android", "qnn", "webgpu"):
        have(name)
    fetched("model-silero-vad")
    (subject,) = (each for each in providers.SUBJECTS if each.name == "silero-vad")
    page = providers.examined([subject], tmp_path)
    lines = [providers.line(each) for each in page.rows]
    assert len(lines) == len(ASKED)
    assert [line for line in lines if f"\n{line}\n" not in PAGE] == []
