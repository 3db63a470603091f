"""Proposes tables of mobpack.toml for a model of two files, an encoder and a decoder that makes a text."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packager.cli.text_files import Beside
from packager.cli.text_tables import IDS, Table, Value, proved
from packager.core.parsing import Json

if TYPE_CHECKING:
    from packager.core.signature import TensorSpec
    from packager.core.values import Model

DECODER, ENCODER = "decoder_model_merged", "encoder_model"
"""begin names of files of Hugging Face's optimum; what follows is the same in both, as in `_quantized`"""
FIRST, WITH_PAST = "decoder_model", "decoder_with_past_model"
"""the same for its older layout: decoders of the first step and of further ones"""
LOGITS = "logits"
SAMPLES, FEATURES = "input_values", "input_features"
"""inputs of encoders of sounds"""
LEFT_OUT = (
    "bad_words_ids",
    "begin_suppress_tokens",
    "forced_decoder_ids",
    "no_repeat_ngram_size",
    "suppress_tokens",
)
"""keys of generation_config.json that change the text, and that no key of a table replaces"""


def encoder_of(decoder: Path) -> Path | None:
    """The encoder's file beside that of a decoder; None for other models."""
    if decoder.name.startswith(DECODER):
        return _beside(decoder, DECODER, ENCODER)
    return _beside(decoder, FIRST, ENCODER) if with_past_of(decoder) else None


def with_past_of(decoder: Path) -> Path | None:
    """The file with the decoder of further steps beside that of the first one; None for other models."""
    is_first = decoder.name.startswith(FIRST) and not decoder.name.startswith(DECODER)
    return _beside(decoder, FIRST, WITH_PAST) if is_first else None


def _beside(file: Path, start: str, other: str) -> Path | None:
    path = file.with_name(other + file.name.removeprefix(start))
    return path if path.is_file() else None


def decoder_in(folder: Path) -> Path | None:
    """The decoder's file in `folder`, or in a folder `onnx` in it; None for other files and folders."""
    merged, first = ([place / f"{name}.onnx" for place in (folder, folder / "onnx")] for name in (DECODER, FIRST))
    found = [path for path in merged if path.is_file()] + [path for path in first if encoder_of(path)]
    return found[0] if found else None


def folder_of(decoder: Path) -> Path:
    """The folder that is called as the model, with the suffix of a model: files of all exports are called alike."""
    folder = decoder.absolute().parent
    return Path(f"{(folder.parent if folder.name == 'onnx' else folder).name}.onnx")


def proposals(model: "Model") -> list[Table]:
    """Tables for what the encoder takes, and for the text; none for other inputs than sounds and token ids."""
    about = Beside.of(model.path)
    found = next((table for spec in model.signature.inputs if (table := _input(spec, about))), None)
    if found is None or LOGITS not in {spec.name for spec in model.signature.outputs}:
        return []
    return proved(model, [found, _output(about)], about)


def _input(spec: "TensorSpec", about: Beside) -> Table | None:
    if spec.name == IDS[0]:
        doubt = "" if about.tokenizer else "no tokenizer lies beside the model"
        keys: dict[str, Value] = {"kind": "text", "tokenizer": about.tokenizer or "tokenizer.json"}
        comments = {spec.name: "apps pass strings: docs/text.md"}
        return Table(side="inputs", name=spec.name, keys=keys, comments=comments, doubt=doubt)
    if spec.name not in (SAMPLES, FEATURES):
        return None
    rate, doubt = about.preprocessor.get("sampling_rate"), ""
    if not isinstance(rate, int):
        rate, doubt = 16000, "no preprocessor_config.json says the sample rate"
    elif about.preprocessor.get("do_normalize") is True:
        doubt = "preprocessor_config.json has do_normalize, which nothing here does"
    keys = {"kind": "audio", "rate": rate}
    if spec.name == FEATURES:
        keys |= {"features": "whisper", "length": 30 * rate}
        extractor = about.preprocessor.get("feature_extractor_type")
        if extractor != "WhisperFeatureExtractor":
            doubt = f"features of {extractor or 'an unknown extractor'} are not those of Whisper"
    comments = {spec.name: "apps pass sounds of any rate: docs/contract.md", "rate": "samples a second of the model"}
    return Table(side="inputs", name=spec.name, keys=keys, comments=comments, doubt=doubt)


def _output(about: Beside) -> Table:
    settings = {**about.config, **about.generation}
    starts, stops = list(_start(settings)), ids_of(settings.get("eos_token_id"))
    names, doubt = names_of(about)
    keys: dict[str, Value] = {
        "kind": "generated",
        "tokenizer": about.tokenizer or "tokenizer.json",
        "start-tokens": [names.get(each, f"<{each}>") for each in starts],
        "stop-tokens": [names.get(each, f"<{each}>") for each in stops],
    }
    if most := _most(settings):
        keys["max-new-tokens"] = most
    left_out = [key for key in LEFT_OUT if about.generation.get(key)]
    if left_out:
        doubt = f"generation_config.json has {', '.join(left_out)}, which no key here replaces"
    if not starts or not stops:
        missing = "eos_token_id" if starts else "decoder_start_token_id"
        doubt = f"neither generation_config.json nor config.json has {missing}"
    beams = settings.get("num_beams")
    searched = isinstance(beams, int) and beams > 1
    comments = {
        LOGITS: f"a text; the likeliest token each time, not {beams} beams" if searched else "a text, part by part",
        "start-tokens": "what the decoder begins with",
        "stop-tokens": "end the text",
    }
    return Table(side="outputs", name=LOGITS, keys=keys, comments=comments, doubt=doubt)


def _start(settings: Json) -> Iterator[int]:
    """Ids that the decoder begins with, in the order of transformers."""
    first = settings.get("decoder_start_token_id")
    yield from ids_of(first if first is not None else settings.get("bos_token_id"))[:1]
    yield from ids_of(settings.get("forced_bos_token_id"))[:1]


def ids_of(value: object) -> Sequence[int]:
    """The tokens of a key that has one or a list."""
    found = value if isinstance(value, list) else [value]
    return [each for each in found if isinstance(each, int)]


def _most(settings: Json) -> int:
    """Number of new tokens; 0 if none is known. `max_length` counts the first token, too."""
    new, all_of_them = settings.get("max_new_tokens"), settings.get("max_length")
    if isinstance(new, int):
        return max(new, 0)
    return max(all_of_them - 1, 0) if isinstance(all_of_them, int) else 0


def names_of(about: Beside) -> tuple[Mapping[int, str], str]:
    """Tokens by their ids, or why there are none."""
    from packager.contract import tokenization
    from packager.core.errors import MobpackError

    if about.tokenizer is None:
        return {}, "no tokenizer lies beside the model"
    try:
        decoding = tokenization.read_decoder(about.tokenizer)
    except MobpackError as error:
        return {}, error.message.replace(f"{about.tokenizer.parent}{os.sep}", "")
    return {number: token for token, number in decoding.tokens.items()}, ""
