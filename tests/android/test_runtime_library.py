"""A user's own runtime is checked before a package ships it or depends on it."""

from pathlib import Path, PurePosixPath

from packager.runtimes import library
from tests.toolchain import jvm


def test_onnxruntimes_own_archive_is_a_runtime(onnxruntime_android: jvm.AndroidRuntime, tmp_path: Path) -> None:
    everything = tmp_path / "everything.config"
    everything.write_text("!no_ops_specified_means_all_ops_are_required\n", encoding="utf-8")
    runtime = library.load(str(onnxruntime_android.aar), tmp_path, config=everything)
    assert isinstance(runtime, library.OwnRuntime)
    assert (runtime.version, runtime.notes) == ("1.29.0", ())
    assert runtime.abis == ("arm64-v8a", "armeabi-v7a", "x86", "x86_64")
    files = library.files(runtime, "acme")
    assert len(files.libraries) == 8
    assert PurePosixPath("ai/acmecs9fjme/OrtSession.class") in files.classes
