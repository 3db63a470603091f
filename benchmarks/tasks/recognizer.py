"""Write down English speech: moonshine tiny in int8 (MIT), an encoder and a decoder, and Llama's tokens.

moonshine-js decodes with llama-tokenizer-js. The model's 32,768 tokens are the 32,000 of that and 768 special ones.
"""

import base64
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

from benchmarks.tasks.packages import content, unpacked
from benchmarks.tasks.task import Array, Predict, predictor
from packager.engines.session.exact.opening import opened

RATE, MOST_TOKENS = 16000, 60
START, END = 1, 2
TOKENS = 32768
LAYERS, SIDES, KINDS = 6, ("decoder", "encoder"), ("key", "value")
MODEL = "package/dist/model/tiny/quantized"
BLANK = "\u2581"


def encoder() -> Path:
    """`input_values` float[batch, samples] -> `last_hidden_state`."""
    return unpacked("model-moonshine", f"{MODEL}/encoder_model.onnx")


def decoder() -> Path:
    """One more token's `logits` each run, with caches; in the folder of the encoder."""
    return unpacked("model-moonshine", f"{MODEL}/decoder_model_merged.onnx")


def tokenizer() -> Tokenizer:
    """The tokens of the model as Hugging Face's library has them."""
    script = content("data-llama-tokens", "package/llama-tokenizer.js").decode("utf-8")
    names = _constant(script, "llama_vocab_base64").decode("utf-8").split("\n")
    merges = _constant(script, "llama_merges_binary")
    ids = struct.unpack(f"<{len(merges) // 2}H", merges)
    pairs = [(names[left], names[right]) for left, right in zip(ids[::2], ids[1::2], strict=True)]
    vocabulary = {name: number for number, name in enumerate(names)}
    made = Tokenizer(models.BPE(vocabulary, pairs, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend(BLANK), normalizers.Replace(" ", BLANK)])
    made.decoder = decoders.Sequence(
        [decoders.Replace(BLANK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", "<s>", "</s>", *(f"<<ST_{number}>>" for number in range(TOKENS - len(names)))]
    made.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in special])
    return made


def _constant(script: str, name: str) -> bytes:
    found = re.search(rf'const {name} = "([^"]+)"', script)
    assert found, f"llama-tokenizer.js has no {name}"
    return base64.b64decode(found[1])


def exact_predictor(model: Path) -> Predict:
    """Runs `model` as `mobpack predict` does: without optimizers, and alike on every x86 processor."""
    import onnxruntime

    def options() -> onnxruntime.SessionOptions:
        made = onnxruntime.SessionOptions()
        made.intra_op_num_threads = 1
        made.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        return made

    session = opened(model, "", options)
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, inputs), strict=True))


def reference(runs: Callable[[Path], Predict] = predictor) -> Callable[[Array], str]:
    """Text of samples float32[n] at 16 kHz: a plain loop over both files, as they are published."""
    encode, decode, names = runs(encoder()), runs(decoder()), tokenizer()
    caches = [f"past_key_values.{layer}.{side}.{each}" for layer in range(LAYERS) for side in SIDES for each in KINDS]

    def text(samples: Array) -> str:
        (hidden,) = encode({"input_values": samples[None]}).values()
        past: dict[str, Array] = {name: numpy.zeros((1, 8, 0, 36), numpy.float32) for name in caches}
        tokens = [START]
        while tokens[-1] != END and len(tokens) <= MOST_TOKENS:
            is_later = len(tokens) > 1
            given = {"input_ids": numpy.array([tokens[-1:]]), "use_cache_branch": numpy.array([is_later])}
            outputs = decode({**given, "encoder_hidden_states": hidden, **past})
            new = [name for name in caches if not (is_later and ".encoder." in name)]
            past |= {name: outputs[name.replace("past_key_values", "present")] for name in new}
            tokens.append(int(outputs["logits"][0, -1].argmax()))
        return str(names.decode(tokens))

    return text
