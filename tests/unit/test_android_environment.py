"""ONNX Runtime's own Android library on this machine: the nodes that its providers take, and the models it refuses."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments.android import Android, ProbeJob
from packager.engines.environments.android_probe import places


def test_functions_are_counted_as_the_header_lists_them() -> None:
    header = """
struct OrtApi {
  /** Text with ORT_API2_STATUS(Not, this) in it. */
  OrtStatus*(ORT_API_CALL* CreateStatus)(OrtErrorCode code)NO_EXCEPTION;
  ORT_API2_STATUS(CreateEnv, _Outptr_ OrtEnv** out);  // ORT_CLASS_RELEASE(NorThis);
  ORT_CLASS_RELEASE(Env);
  ORT_API_T(const OrtTrainingApi*, GetTrainingApi, uint32_t version);
#ifdef __cplusplus
  OrtApi(const OrtApi&) = delete;
#endif
};
"""
    assert places(header) == {"CreateStatus": 0, "CreateEnv": 1, "ReleaseEnv": 2, "GetTrainingApi": 3}


def test_where_it_cannot_run_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "darwin")

    assert Android().unsupported() == "Android's x86_64 libraries load on x86_64 Linux only"
    with pytest.raises(ToolError, match="x86_64 Linux only"):
        Android().install()
    with pytest.raises(ToolError, match="x86_64 Linux only"):
        Android().probe(tmp_path / "model.onnx", ProbeJob())
