"""Results that come back from device farms: in files, archives and logs, whole, in parts, twice, damaged or hostile."""

import json
import random
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.core.errors import ToolError
from packager.measuring.devices.farms.carrier import BYTES_A_LINE, MARK, documents_in, lines_of
from packager.measuring.devices.farms.collecting import DEEPEST, FILE, collect
from tests.nights import examples

DOCUMENT = {"rows": [{"model": f"net {number}", "times": [number / 7] * 40} for number in range(20)]}
OTHER = {"rows": [{"model": "é 数"}]}


def text_of(document: object) -> bytes:
    return json.dumps(document).encode()


def log_of(*documents: object) -> str:
    """A device's log: other lines between, a prefix before each line."""
    lines = [line for each in documents for line in lines_of(text_of(each))]
    return "".join(
        f"11-26 07:00:00.123  4711  4711 I mobpack : {line}\n11-26 07:00:00.124 W other: x\n" for line in lines
    )


def zipped(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@given(documents=st.lists(st.binary(min_size=1, max_size=4000), unique=True, max_size=4), seed=st.integers())
@settings(deadline=None, derandomize=True, max_examples=examples(60))
def test_documents_survive_any_order_and_repetition_of_their_lines(documents: list[bytes], seed: int) -> None:
    lines = [line for document in documents for line in lines_of(document)] * 2
    random.Random(seed).shuffle(lines)
    found, incomplete = documents_in(f"before {line}" for line in lines)
    assert sorted(found) == sorted(documents)
    assert not incomplete


def test_no_line_is_longer_than_androids_log_takes() -> None:
    assert max(map(len, lines_of(b"x" * 100_000))) < 4000
    assert len(list(lines_of(b"x" * (BYTES_A_LINE + 1)))) == 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[1:], "1 of 3 lines are missing"),
        (lambda lines: [lines[0].replace("1/3", "9/3"), *lines[1:]], "1 of 3 lines are missing"),
        (lambda lines: [lines[0][:-2] + "00", *lines[1:]], "the CRC-32 is another"),
        (lambda lines: [lines[0][:-2], *lines[1:]], "the CRC-32 is another"),
    ],
)
def test_a_document_with_missing_or_damaged_lines_is_no_result(change: object, reason: str) -> None:
    assert callable(change)
    found, [incomplete] = documents_in(change(list(lines_of(b"x" * 3 * BYTES_A_LINE))))
    assert not found
    assert reason in incomplete.reason


def test_lines_of_something_else_are_passed_over() -> None:
    assert documents_in([f"{MARK} nothing", f"{MARK} 00000000 1/1 xyz", ""]) == ([], [])


@pytest.mark.parametrize("form", ["file", "log", "zip", "nested"])
def test_results_are_found_in_every_form(form: str, tmp_path: Path) -> None:
    folder = tmp_path / "back"
    folder.mkdir()
    if form == "file":
        (folder / "sdcard").mkdir()
        (folder / "sdcard" / FILE).write_bytes(text_of(DOCUMENT))
    elif form == "log":
        (folder / "logcat").write_text(log_of(DOCUMENT))
    else:
        inner = zipped(tmp_path / "inner.zip", {"data/logcat.txt": log_of(DOCUMENT).encode(), "video.mp4": bytes(100)})
        if form == "nested":
            inner = zipped(tmp_path / "outer.zip", {"Host_Machine_Files/a.ZIP": inner.read_bytes()})
        inner.replace(folder / "Customer_Artifacts.zip")
    [result] = collect(folder).results
    assert result.document == DOCUMENT
    assert result.place.split("/")[-1] in (FILE, "logcat", "logcat.txt")


def test_the_same_document_counts_once_and_others_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(log_of(DOCUMENT, OTHER))
    (tmp_path / FILE).write_bytes(text_of(DOCUMENT))
    assert [each.document for each in collect(tmp_path).results] == [DOCUMENT, OTHER]


def test_what_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(log_of(DOCUMENT))
    (tmp_path / "cut.txt").write_text(log_of(OTHER, {"a": "b" * 2000}).rsplit("\n", 3)[0])
    (tmp_path / "bad.zip").write_bytes(b"PK\3\4 no")
    (tmp_path / "list").mkdir()
    (tmp_path / "list" / FILE).write_text("[1]")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / FILE).write_text('{"rows": ')
    collected = collect(tmp_path)
    assert [each.document for each in collected.results] == [OTHER, DOCUMENT]
    said = "\n".join(collected.problems)
    assert "bad.zip is damaged" in said
    assert f"list/{FILE} is not a document of results" in said
    assert f"half/{FILE} is not JSON" in said
    assert "cut.txt: results" in said


def test_nothing_found_says_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "logcat").write_text("I other: nothing\n")
    with pytest.raises(ToolError, match="has no results of mobpack: 1 files were read") as refused:
        collect(tmp_path)
    assert FILE in refused.value.hint
    with pytest.raises(ToolError, match="does not exist"):
        collect(tmp_path / "none")


def test_hostile_archives_and_files_end(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "0.zip", {"x": b"x"})
    for depth in range(DEEPEST + 2):
        archive = zipped(tmp_path / f"{depth + 1}.zip", {f"{depth}.zip": archive.read_bytes()})
    bomb = zipped(tmp_path / "bomb.zip", {f"{number}": bytes(2**20) for number in range(64)})
    content = bytearray(bomb.read_bytes())
    position = content.find(b"PK\1\2")
    content[position + 24 : position + 28] = (2**32 - 2).to_bytes(4, "little")  # says that it unpacks to 4 GiB
    bomb.write_bytes(bytes(content))
    (tmp_path / "climbing.zip").write_bytes(zipped(tmp_path / "c.zip", {"../../out.txt": b"out"}).read_bytes())
    (tmp_path / "line.txt").write_bytes(b"a" * 5_000_000)
    deep = tmp_path / "deep"
    deep.mkdir()
    (deep / FILE).write_text("[" * 200_000)
    (tmp_path / "log.txt").write_text(log_of(DOCUMENT))
    collected = collect(tmp_path)
    assert [each.document for each in collected.results] == [DOCUMENT]
    said = "\n".join(collected.problems)
    assert f"is an archive in {DEEPEST} others" in said
    assert "bomb.zip is damaged" in said
    assert not (tmp_path.parent / "out.txt").exists()
