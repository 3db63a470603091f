"""huggingface: folders of the transformers library, through optimum's own exporter."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from packager.core import parsing
from packager.core.errors import ConfigError, ModelError
from packager.engines.environments.framework import Framework
from packager.importers.importer import Arrays, Converted, ImportSource, Input

CONFIG = "config.json"
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
OPSET = 18
DYNAMIC = {"batch_size": "batch", "sequence_length": "sequence_length"}
"""optimum's names of dimensions that stay dynamic -> their names; others, like the height of a picture, are those of
the model's configuration"""
GENERATES = (
    "text-generation",
    "text2text-generation",
    "image-to-text",
    "automatic-speech-recognition",
    "text-to-audio",
)
"""tasks that need several graphs, with a state between them"""


@dataclass(frozen=True, kw_only=True)
class HuggingFace:
    NAME: ClassVar[str] = "huggingface"
    FRAMEWORK: ClassVar[str] = "transformers"
    SOURCES: ClassVar[str] = "folders with `config.json` and weights"
    ENVIRONMENT: ClassVar[Framework | None] = Framework(
        name="huggingface",
        about="transformers and optimum, for PyTorch of mobpack[torch]: imports Hugging Face's folders (330 MB)",
        lock=Path(__file__).with_name("huggingface.txt"),
        trial="import transformers, tokenizers, onnx",
        borrowed="torch",
        borrowed_from="pip install 'mobpack[torch]'",
        settings=(("HF_HUB_OFFLINE", "1"), ("TRANSFORMERS_OFFLINE", "1"), ("HF_HUB_DISABLE_TELEMETRY", "1")),
    )
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: ImportSource) -> bool:
        folder = source.path
        return (folder / CONFIG).is_file() and any(True for kind in WEIGHTS for _ in folder.glob(kind))

    def load(self, source: ImportSource) -> "Transformer":
        refuse_incomplete(source)
        import torch
        import transformers
        from optimum.exporters.onnx import model_configs  # registers the architectures that it knows
        from optimum.exporters.tasks import TasksManager

        del model_configs
        folder = str(source.path)
        try:
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            kind = getattr(transformers, (config.architectures or ["AutoModel"])[0], None)
            if kind is None:
                raise ModelError(
                    f"{source.text}: {config.architectures[0]} is not a class of transformers "
                    f"{transformers.__version__}",
                    hint="load it in your code, and export it with mobpack export",
                )
            model = kind.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()
        except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
            first = next(iter(str(error).strip().splitlines()), "")
            raise ModelError(f"transformers cannot load {source.text}: {first[:300]}", hint="save it again") from error
        task = task_of(TasksManager, model, source)
        return Transformer(model=model, config=exporter_of(TasksManager, model, task, source))


def refuse_incomplete(source: ImportSource) -> None:
    """Raises ConfigError or ModelError for a folder whose configuration cannot be read, or that has code of its own."""
    try:
        document = parsing.json_of((source.path / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{source.text}: {CONFIG} cannot be read: {error}", hint="save the model again") from error
    if isinstance(document, dict) and "auto_map" in document:
        raise ConfigError(
            f"{source.text} needs Python code of its own ({CONFIG}: auto_map), which is not run",
            hint="load it in your code, and export it with mobpack export",
        )


def task_of(manager: Any, model: Any, source: ImportSource) -> str:
    """Optimum's name of what the model does. Raises ModelError for one that makes texts step by step."""
    task = str(manager.infer_task_from_model(type(model)))
    if task.startswith(GENERATES) or model.config.is_encoder_decoder:
        raise ModelError(
            f"{source.text} makes texts step by step ({task}), with several graphs",
            hint="export it with optimum-cli export onnx, then see docs/generation.md",
        )
    return task


def exporter_of(manager: Any, model: Any, task: str, source: ImportSource) -> Any:
    """Optimum's description of the graph. Raises ModelError for an architecture that it does not know."""
    try:
        made = manager.get_exporter_config_constructor(
            exporter="onnx", model=model, task=task, library_name="transformers"
        )
    except (KeyError, ValueError) as error:
        raise ModelError(
            f"optimum cannot export {source.text}: {next(iter(str(error).splitlines()), '')}",
            hint="export it with mobpack export",
        ) from error
    return made(model.config)


@dataclass(frozen=True, kw_only=True)
class Transformer:
    model: Any
    config: Any
    """optimum's OnnxConfig"""

    @property
    def made_with(self) -> str:
        import torch
        import transformers

        return f"transformers {transformers.__version__} (PyTorch {torch.__version__})"

    @property
    def inputs(self) -> tuple[Input, ...]:
        examples = self.config.generate_dummy_inputs(framework="pt")
        return tuple(
            Input(
                name=name,
                dtype=str(examples[name].dtype).removeprefix("torch."),
                shape=tuple(
                    DYNAMIC.get(axes.get(axis, ""), size) for axis, size in enumerate(tuple(examples[name].shape))
                ),
                limit=self._limit(name),
            )
            for name, axes in self.config.inputs.items()
        )

    def run(self, inputs: Arrays) -> Arrays:
        import torch

        with torch.no_grad():
            found = self.model(**{name: torch.from_numpy(value.copy()) for name, value in inputs.items()})
        return {name: found[name].numpy() for name in self.config.outputs}

    def convert(self, path: Path) -> Converted:
        from importlib.metadata import version

        from optimum.exporters.onnx import export

        export(model=self.model, config=self.config, output=path, opset=OPSET)
        return Converted(converter=f"optimum-onnx {version('optimum-onnx')}")

    def _limit(self, name: str) -> int:
        sizes = {"input_ids": "vocab_size", "token_type_ids": "type_vocab_size"}
        return int(getattr(self.model.config, sizes.get(name, ""), 0) or 0)
