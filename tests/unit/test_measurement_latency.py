"""Latency: two graphs that take turns, and the decision which is worth shipping."""

import platform
from pathlib import Path

import pytest

from packager.core.errors import GateError
from packager.quantization.measurement import FileSizes, Latency, as_measured, gate
from packager.quantization.measurement.timing import has_enough, timed
from tests.cases.measurement_cases import classifier, quantized, subject
from tests.cases.onnx_text import onnx_model


class Session:
    """Counts its runs in a shared log."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    def run(self, names: None, feeds: object) -> None:
        self.log.append(self.name)


def test_runs_take_turns_and_are_enough() -> None:
    log: list[str] = []
    times = timed([Session("a", log), Session("b", log)], {}, {"runs": 3, "seconds": 9, "least_runs": 2})
    assert log == ["a", "b"] * 4
    assert [len(each) for each in times] == [3, 3]
    job = {"runs": 30, "seconds": 1, "least_runs": 5}
    assert has_enough([1.0] * 30, job)
    assert not has_enough([1.0] * 29, job)
    assert has_enough([250.0] * 5, job)
    assert not has_enough([1000.0] * 4, job)


def test_unsigned_activations_are_measured_on_x86_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = quantized(classifier(), tmp_path)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert b"_zero_point_unsigned" in as_measured(found.graph, tmp_path)
    relu = "(float[n, 16] x) => (float[n, 16] y) { y = Relu (x) }"
    original = subject(onnx_model(relu, opsets={"": 17, "com.microsoft": 1}), tmp_path).graph  # a rewrite drops one
    assert as_measured(original, tmp_path) == original
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert as_measured(found.graph, tmp_path) == found.graph


SMALLER, SAME, LARGER = (
    FileSizes(float_bytes=4_000_000, quantized_bytes=count) for count in (10**6, 4 * 10**6, 5 * 10**6)
)


def timing(ratio: float) -> Latency:
    return Latency(machine="x86_64, 1 thread", float_ms=10.0, quantized_ms=10.0 * ratio, run_count=30)


def test_what_is_neither_smaller_nor_faster_is_refused_or_warned_of() -> None:
    for latency in [timing(0.5), timing(1.04), None, Latency(machine="x", skipped="no qemu")]:
        assert gate(SMALLER, latency) == ()
    (slower,) = gate(SMALLER, timing(1.5))
    assert slower == (
        "the quantized variant is smaller (4.0 MB becomes 1.0 MB, 0.25 times the size) and slower "
        "(1.50 times the latency on x86_64, 1 thread)"
    )
    (larger,) = gate(LARGER, timing(0.8))
    assert "is faster (0.80 times the latency on x86_64, 1 thread) and not smaller (4.0 MB becomes 5.0 MB" in larger
    for sizes in [SAME, LARGER]:
        for latency in [timing(0.96), timing(2.0), None, Latency(machine="x", skipped="no qemu")]:
            with pytest.raises(GateError, match=r"neither smaller .* nor faster") as caught:
                gate(sizes, latency)
            assert caught.value.EXIT_CODE == 6
            (warning,) = gate(sizes, latency, is_forced=True)
            assert warning.endswith("; it is shipped because it was forced")
    with pytest.raises(GateError, match="latency was not measured: no qemu"):
        gate(SAME, Latency(machine="x", skipped="no qemu"))
