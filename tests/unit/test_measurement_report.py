"""The report: a self-contained page that escapes all names, and the same as JSON."""

import json
import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from packager.core.quantized import FloatLayer
from packager.quantization.measurement import (
    Latency,
    LayerChoice,
    LayerError,
    QuantizationReport,
    ReportedEvaluation,
    ReportedSearch,
    ReportedSide,
    SamplesUsed,
    Score,
    as_json,
    write_report,
)
from packager.quantization.measurement.page import page, view

ODD = 'conv<script>alert("1")</script>&amp;\'é'
VOID = {"meta", "line"}


def layer(name: str, output: float, weight: float | None = 40.0) -> LayerError:
    return LayerError(
        name=name,
        operator="Conv",
        value=name,
        output_sqnr_db=output,
        weight_sqnr_db=weight,
        becomes="DequantizeLinear",
        samples=4,
    )


LAYERS = (layer("first", 45.0), layer(ODD, 15.0), layer("third", -math.inf, None), layer("last", math.inf))
FULL = QuantizationReport(
    model="m",
    variant="int8",
    original=ReportedSide(file="m.onnx", size_bytes=4_000_000, sha256="a" * 64),
    quantized=ReportedSide(file="m-int8.onnx", size_bytes=1_100_000, sha256="b" * 64),
    quantizer="static-qdq",
    settings={"weights": "int8", "activations": "int8"},
    calibration=SamplesUsed(source="photos", count=1, method="entropy", warnings=("one sample says little",)),
    score=Score(metric="sqnr", value=30.0, original=math.inf, samples=8, worst_sample=5, worst_value=21.5),
    max_drop=0.01,
    latencies=(
        Latency(
            machine="x86_64, 1 thread",
            float_ms=12.0,
            float_spread_ms=(11.0, 13.0),
            quantized_ms=6.0,
            quantized_spread_ms=(5.5, 6.5),
            run_count=30,
        ),
        Latency(machine="elsewhere", skipped="not installed"),
    ),
    layers=LAYERS,
    left=(
        FloatLayer(name="a", operator="MatMul", reason="multiplies two computed values"),
        FloatLayer(name=ODD, operator="MatMul", reason="multiplies two computed values"),
        FloatLayer(name="c", operator="Conv", reason="excluded by the configuration"),
    ),
    search=ReportedSearch(
        evaluations=(
            ReportedEvaluation(what="all in integers", drop=12.5, is_within=False),
            ReportedEvaluation(what="all but first", drop=30.0, is_within=True),
        ),
        count=3,
        bound=9,
        choices=(LayerChoice(layer="first", scheme="float", reason="it costs 18 dB"),),
    ),
    warnings=("it is smaller and slower",),
)
EMPTY = QuantizationReport(
    model="m", variant="v", original=FULL.original, quantized=FULL.quantized, quantizer="dynamic"
)


class Tags(HTMLParser):
    """Checks that tags are closed in order, and keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "data", "srcset", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.open == []
    return tags


def words(text: str) -> str:
    return " ".join(" ".join(parsed(text).texts).split())


@pytest.mark.parametrize("report", [FULL, EMPTY], ids=["full", "empty"])
def test_the_page_is_whole_and_needs_nothing_from_elsewhere(report: QuantizationReport) -> None:
    text = page(report)
    tags = parsed(text)
    assert tags.links == []
    assert {"script", "link", "iframe", "img"}.isdisjoint(tags.seen)
    assert not re.search(r"https?:|url\(|@import", text)
    assert text.endswith("</html>\n")


def test_names_are_text_and_the_page_says_what_it_gains() -> None:
    text = page(FULL)
    assert "<script" not in text
    assert words(text).count(ODD) == 3  # in the plot, in the table, in what was left
    said = words(page(FULL))
    for expected in (
        "30.0 dB noise is 0.001 of the power of the outputs over 8 samples; lowest: 21.5 dB on sample 5; "
        "within the budget of 0.01",
        "50% 12 ms becomes 6 ms",
        "12 ms (11 to 13) 6 ms (5.5 to 6.5) 0.50 30 runs each",
        "skipped: not installed",
        "MatMul 2 multiplies two computed values",
        "3 of at most 9 evaluations were made.",
        "first float it costs 18 dB",
        "1 all in integers 12.5 over budget",
    ):
        assert expected in said, expected
    top1 = replace(FULL, score=Score(metric="top1", value=0.95, original=1.0))
    assert "0.95 1 in float, 0.05 lower; over the budget of 0.01" in words(page(top1))


def test_the_page_says_what_was_made_of_what() -> None:
    said = words(page(FULL))
    for expected in (
        "28% 4.0 MB becomes 1.1 MB",
        "m.onnx, 4,000,000 bytes",
        "a" * 64,
        "m-int8.onnx, 1,100,000 bytes",
        "b" * 64,
        "static-qdq",
        "1 sample of photos, ranges by entropy",
        "4 layers on 4 samples, 2 of them under 20 dB; the noisiest is third (Conv) with nothing left.",
        "it is smaller and slower one sample says little",
    ):
        assert expected in re.sub(r"\s+", " ", said), expected


def test_layers_come_in_their_order_with_words_for_what_is_no_number() -> None:
    rows = re.findall(r'<td class="number (\w+)">(.*?)</td><td class="number">(.*?)</td>', page(FULL))
    assert rows == [
        ("good", "45.0 dB", "40.0 dB"),
        ("fair", "15.0 dB", "40.0 dB"),
        ("poor", "nothing left", ""),
        ("exact", "exact", "40.0 dB"),
    ]


def test_the_plot_is_well_formed_with_a_bar_for_each_layer() -> None:
    found = view(FULL).layers[0].plot
    assert [bar.height for bar in found.bars] == ["180.00", "60.00", "1.00", "200.00"]
    assert [float(bar.y) + float(bar.height) for bar in found.bars] == [200.0] * 4
    ends = [(float(bar.x), float(bar.x) + float(bar.width)) for bar in found.bars]
    assert all(end < start for (_, end), (start, _) in pairwise(ends))
    assert ends[0][0] >= 0
    assert ends[-1][1] <= found.width
    assert [(line.label, line.y) for line in found.lines][::5] == [("0", "200.00"), ("50", "0.00")]
    assert found.bars[1].title == f"2. {ODD} (Conv): 15.0 dB"
    assert view(EMPTY).layers == ()
    drawing = page(FULL).partition("<svg")[2].partition("</svg>")[0]
    root = ElementTree.fromstring(f"<svg{drawing}</svg>")
    assert next(each.findtext("title") for each in root.iter("rect")) == "1. first (Conv): 45.0 dB"


def test_the_same_report_gives_the_same_bytes(tmp_path: Path) -> None:
    write_report(tmp_path / "one.html", FULL)
    shuffled = replace(FULL, settings={"activations": "int8", "weights": "int8"})
    write_report(tmp_path / "deep" / "two.html", shuffled)
    content = (tmp_path / "one.html").read_bytes()
    assert content == (tmp_path / "deep" / "two.html").read_bytes()
    assert b"\r" not in content
    assert ODD.encode()[-2:] in content


def test_json_has_keys_in_kebab_case_and_words_for_infinity() -> None:
    document = json.loads(json.dumps(as_json(FULL), allow_nan=False))
    assert document["size-ratio"] == 0.275
    assert document["score"] == {
        "metric": "sqnr",
        "value": 30.0,
        "original": "infinity",
        "samples": 8,
        "worst-sample": 5,
        "worst-value": 21.5,
        "drop": 0.001,
    }
    assert [each["samples"] for each in document["layers"]] == [4] * 4
    assert [each["output-sqnr-db"] for each in document["layers"]] == [45.0, 15.0, "-infinity", "infinity"]
    assert document["latencies"][0]["ratio"] == 0.5
    assert document["latencies"][1] == {"machine": "elsewhere", "skipped": "not installed"}
    assert list(document["settings"]) == ["activations", "weights"]
    assert document["search"]["evaluations"][0] == {"what": "all in integers", "drop": 12.5, "is-within": False}
    keys = re.findall(r'"([^"]+)":', json.dumps({**document, "settings": {}}))
    assert [key for key in keys if "_" in key] == []
