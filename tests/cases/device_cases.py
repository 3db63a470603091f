"""Results of devices whose times are known, and a model that is compared on devices."""

from pathlib import Path

import numpy as np

from packager.measuring.bench.document import RowEntry
from packager.measuring.devices.conditions import Conditions
from packager.measuring.devices.device_answers import Assigned
from packager.measuring.devices.document import (
    DeviceDocument,
    DeviceEntry,
    DeviceRow,
    MethodEntry,
    NotMeasured,
    PackageEntry,
)
from tests.cases.bench_cases import row
from tests.cases.onnx_text import onnx_model, saved

SHA256 = "a" * 64
NET = """(float[1,3,16,16] x) => (float[1,4] y) {
    c = Conv<pads=[1,1,1,1]>(x, w) r = Relu(c) g = GlobalAveragePool(r) f = Flatten(g) l = MatMul(f, m)
    y = Softmax(l) }"""


def device(serial: str = "A1", **changes: object) -> DeviceEntry:
    known: dict[str, object] = {
        "serial": serial,
        "state": "measured",
        "reason": "",
        "maker": "Google",
        "model": "Pixel 8",
        "soc": "Tensor G3",
        "api": 34,
        "abi": "arm64-v8a",
        "fingerprint": f"google/shiba/{serial}",
        "before": Conditions(thermal_status=0, battery_level=80),
    }
    return DeviceEntry(**{**known, **changes})  # type: ignore[arg-type]


def measured(entry: RowEntry | None = None, **changes: object) -> DeviceRow:
    known: dict[str, object] = {
        "device": "A1",
        "provider": "cpu",
        "row": entry or row(),
        "cold_load_ms": 50.0,
        "first_run_ms": 3.0,
        "pss_bytes": 60_000_000,
        "mapped_bytes": 7_000_000,
        "assigned": (Assigned(provider="NNAPI", nodes=3), Assigned(provider="CPU", nodes=1)),
    }
    return DeviceRow(**{**known, **changes})  # type: ignore[arg-type]


def document(*rows: DeviceRow, **changes: object) -> DeviceDocument:
    known: dict[str, object] = {
        "schema_version": 1,
        "mobpack": "1.0.0",
        "is_partial": False,
        "package": PackageEntry(file="models-1.0.0.aar", sha256=SHA256, runtime="onnxruntime.aar"),
        "method": MethodEntry(
            threads=0, rounds=5, seconds=1.0, runs=500, warm_up_seconds=0.5, cool_down_s=60.0, confidence=0.95
        ),
        "devices": (device(),),
        "rows": rows or (measured(),),
        "skipped": (NotMeasured(device="A1", model="net", provider="qnn", reason="not in this build"),),
        "baseline": "",
        "comparisons": (),
        "failed_gates": (),
    }
    return DeviceDocument(**{**known, **changes})  # type: ignore[arg-type]


def write_net(path: Path, name: str = "net") -> None:
    """A small convolutional network, as an ONNX file whose graph has that name."""
    random = np.random.default_rng(0)
    weights = {"w": random.normal(size=(8, 3, 3, 3)), "m": random.normal(size=(8, 4))}
    model = onnx_model(NET, weights={key: each.astype("f4") for key, each in weights.items()})
    model.graph.name = name
    saved(path, model)
