"""benchmarks/results/providers.md is the output of its command."""

from benchmarks import providers

PAGE = providers.PAGE.read_text(encoding="utf-8")

ASKED = ("qnn", "nnapi", "xnnpack", "webgpu", "coreml")
