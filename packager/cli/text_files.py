"""Reads the files that authors of a model of texts leave beside it: tokenizer, limits, pooling and classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.core.parsing import Json

PATTERNS = ("tokenizer.json", "vocab.txt", "*.tiktoken", "*.model")
"""files of tokenizers, the most exact first"""
WITHOUT_VOCABULARY = ("ByT5Tokenizer", "CanineTokenizer")
"""classes of transformers whose tokenizer_config.json is the whole tokenizer"""
PADDED_FIRST = ("roberta", "xlm-roberta", "camembert", "mpnet")
"""architectures whose first two positions are not those of a text"""
MOST_TOKENS = 10**6
"""larger limits in tokenizer_config.json mean none"""
LIMIT_BYTES = 64 * 2**20


@dataclass(frozen=True, kw_only=True)
class Beside:
    """The files that lie beside a model. Files that are absent, or no JSON objects, say nothing."""

    tokenizer: Path | None
    content: Json
    """of the tokenizer, if it is JSON"""
    config: Json
    settings: Json
    """tokenizer_config.json"""
    generation: Json
    """generation_config.json"""
    preprocessor: Json
    """preprocessor_config.json, of sounds and pictures"""
    sentences: Json
    """sentence_bert_config.json"""
    similarity: str
    """function that compares vectors, of config_sentence_transformers.json; empty if it names none"""
    poolings: tuple[str, ...]
    """of 1_Pooling/config.json: `mean_tokens`, `cls_token` and so on"""
    modules: tuple[str, ...]
    """of sentence-transformers, by type: `Transformer`, `Pooling` and so on"""

    @classmethod
    def of(cls, model: Path) -> "Beside":
        """The files in the folder of the file `model`, or in the one above a folder called `onnx`."""
        folders = [model.parent, *([model.parent.parent] if model.parent.name == "onnx" else [])]
        tokenizer = next(_tokenizers(folders), None)
        home = tokenizer.parent if tokenizer else model.parent
        modules = _json(home / "modules.json")
        pooling = _object(home / "1_Pooling" / "config.json")
        return cls(
            tokenizer=tokenizer,
            content=_object(tokenizer) if tokenizer and tokenizer.suffix == ".json" else {},
            config=_object(home / "config.json"),
            settings=_object(home / "tokenizer_config.json"),
            generation=_object(home / "generation_config.json"),
            preprocessor=_object(home / "preprocessor_config.json"),
            sentences=_object(home / "sentence_bert_config.json"),
            similarity=str(_object(home / "config_sentence_transformers.json").get("similarity_fn_name") or ""),
            poolings=tuple(key.removeprefix("pooling_mode_") for key, value in pooling.items() if value is True),
            modules=tuple(
                str(each.get("type")).rpartition(".")[2]
                for each in (modules if isinstance(modules, list) else [])
                if isinstance(each, dict)
            ),
        )

    @property
    def limit(self) -> tuple[int, str]:
        """The number of tokens that the model was made for, and the file that says so; 0 if none does."""
        positions = self.config.get("max_position_embeddings")
        if isinstance(positions, int) and self.config.get("model_type") in PADDED_FIRST:
            positions -= 2
        said = (
            (self.sentences.get("max_seq_length"), "sentence_bert_config.json"),
            (self.settings.get("model_max_length"), "tokenizer_config.json"),
            (positions, "config.json"),
        )
        known = [(size, file) for size, file in said if isinstance(size, int) and 0 < size < MOST_TOKENS]
        return min((*known[:1], *known[-1:]), key=lambda each: each[0], default=(0, ""))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of classes, in the model's order; none if config.json has none for each."""
        found = self.config.get("id2label")
        if not isinstance(found, dict) or sorted(found, key=str) != sorted(map(str, range(len(found)))):
            return ()
        return tuple(str(found[str(number)]) for number in range(len(found)))

    @property
    def is_classifier(self) -> bool:
        named = self.config.get("architectures")
        return isinstance(named, list) and any(str(each).endswith("ForSequenceClassification") for each in named)

    def doubt_on_lowering(self) -> str:
        """Why transformers would not do what the tokenizer's file says: its settings replace BERT's normalizer."""
        normalizer, lowers = self.content.get("normalizer"), self.settings.get("do_lower_case")
        if not isinstance(normalizer, dict) or normalizer.get("type") != "BertNormalizer" or lowers is None:
            return ""
        if lowers == normalizer.get("lowercase", True):
            return ""
        return f"do_lower_case of tokenizer_config.json is {str(lowers).lower()}, other than in tokenizer.json"

    def doubt_on_padding(self) -> str:
        """Why padding would differ from what the model was trained with, where the tokenizer's file has none."""
        if self.content.get("padding"):
            return ""
        if self.settings.get("padding_side", "right") != "right":
            return "tokenizer_config.json pads at the left, and the tokenizer's file does not say so"
        token, added = self.settings.get("pad_token"), self.content.get("added_tokens")
        name = token.get("content") if isinstance(token, dict) else token
        known = {each.get("content"): each.get("id") for each in added if isinstance(each, dict)} if added else {}
        if not known.get(name):
            return ""
        return f"the model pads with {name}, token {known[name]}, and the tokenizer's file does not say so"


def _tokenizers(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        for pattern in PATTERNS:
            yield from sorted(path for path in folder.glob(pattern) if path.is_file())
    for folder in folders:
        settings = folder / "tokenizer_config.json"
        if _object(settings).get("tokenizer_class") in WITHOUT_VOCABULARY:
            yield settings


def _object(path: Path) -> Json:
    found = _json(path)
    return found if isinstance(found, dict) else {}


def _json(path: Path) -> object:
    from packager.core import parsing, user_files

    try:
        return parsing.json_of(user_files.read_text(path, limit_bytes=LIMIT_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
