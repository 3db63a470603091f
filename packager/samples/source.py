"""Location and purpose of samples, as a value that can be passed to another process."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from packager.core.chat import ChatTemplate
from packager.core.errors import ConfigError
from packager.core.parsing import Json
from packager.core.sample_settings import AudioSettings, ImageSettings, Settings
from packager.core.user_functions import is_function
from packager.core.values import ElementType, Model, TensorSpec
from packager.samples.raw import RawInput, raw_input

Part = Literal["all", "searched", "held-out"]
HELD_OUT_EACH = 4


@dataclass(frozen=True, kw_only=True)
class SampleSource:
    text: str
    """a file, a folder or `module:function`"""
    folder: Path
    """base of relative paths and modules"""
    model: str
    """name of the model: a folder of this name in a folder of samples is for this model only"""
    inputs: tuple[TensorSpec, ...]
    settings: Settings
    skip: int = 0
    """number of samples that were already read"""
    part: Part = "all"
    """`held-out` is every fourth sample, spread over whatever order they have; `searched` are the others"""
    raw: RawInput | None = None
    """input for pictures, recordings or texts that are passed raw"""

    def has(self, number: int) -> bool:
        """Whether sample `number` belongs to the part."""
        return self.part == "all" or (self.part == "held-out") == (number % HELD_OUT_EACH == HELD_OUT_EACH - 1)

    def path(self) -> Path | None:
        """The file or folder, or None for a function. Raises ConfigError if it does not exist."""
        path = self.folder / self.text
        try:
            if self.text and path.exists():
                own = path / self.model
                return own if own.is_dir() else path
        except (OSError, ValueError) as error:
            raise ConfigError(f"{self.text}: cannot be read ({error})", hint="check its permissions") from error
        if is_function(self.text):
            return None
        raise ConfigError(
            f"samples not found: {self.text or 'an empty text'}",
            hint="use an .npz file, a folder of .npz, image or .wav files, or module:function",
        )


def source_of(
    text: str, model: Model, settings: Settings, *, folder: Path | None = None, skip: int = 0
) -> SampleSource:
    """Makes a Source; `folder` defaults to the current one."""
    return SampleSource(
        text=str(text),
        folder=(folder or Path.cwd()).absolute(),
        model=model.name,
        inputs=model.signature.inputs,
        settings=settings,
        skip=skip,
        raw=raw_input(model),
    )


def to_json(source: SampleSource) -> dict[str, object]:
    """JSON-compatible value, from which `from_json` makes an equal source."""
    return {
        "text": source.text,
        "folder": str(source.folder),
        "model": source.model,
        "inputs": [{**asdict(spec), "element": str(spec.element), "shape": list(spec.shape)} for spec in source.inputs],
        "image": {key: _listed(value) for key, value in asdict(source.settings.image).items()},
        "audio": asdict(source.settings.audio),
        "limit": source.settings.limit,
        "skip": source.skip,
        "part": source.part,
        "raw": asdict(source.raw) if source.raw else None,
    }


def from_json(document: Json) -> SampleSource:
    return SampleSource(
        text=document["text"],
        folder=Path(document["folder"]),
        model=document["model"],
        inputs=tuple(_spec(each) for each in document["inputs"]),
        settings=Settings(
            image=ImageSettings(**{key: _as_tuple(value) for key, value in document["image"].items()}),
            audio=AudioSettings(**document["audio"]),
            limit=document["limit"],
        ),
        skip=document["skip"],
        part=document["part"],
        raw=_raw(document["raw"]) if document["raw"] else None,
    )


def _raw(document: Json) -> RawInput:
    chat = document["chat"]
    return RawInput(
        kind=document["kind"],
        tensors=tuple(document["tensors"]),
        chat=ChatTemplate(**{key: _as_tuple(value) for key, value in chat.items()}) if chat else None,
    )


def _spec(document: Json) -> TensorSpec:
    return TensorSpec(**{**document, "element": ElementType(document["element"]), "shape": tuple(document["shape"])})


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
