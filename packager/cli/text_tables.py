"""Proposes tables of mobpack.toml for a model of texts. What is not certain is commented out, with the reason."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from packager.cli.text_files import Beside
from packager.core.errors import first_of

if TYPE_CHECKING:
    from packager.core.signature import TensorSpec
    from packager.core.values import Model

Kind = TypeVar("Kind")
Value = str | int | Path | list[str]
"""of a key"""

IDS = ("input_ids", "token_ids", "ids", "tokens")
"""names that exporters give to token ids"""
FILLED = ("attention_mask", "token_type_ids")
"""inputs that the kind `text` fills as well"""
STATES = ("last_hidden_state", "token_embeddings", "hidden_states", "hidden_state")
VECTORS = ("sentence_embedding", "sentence_embeddings", "embedding", "embeddings", "text_embeds")
POOLINGS = {"mean_tokens": "mean", "cls_token": "cls", "lasttoken": "last"}
"""of sentence-transformers' Pooling"""
POOLED = ("Transformer", "Pooling", "Normalize")
"""modules that the model and the kind `embedding` replace"""
GENERIC = "LABEL_"
"""begins names of classes that nobody named"""
FEW = 3
"""inputs that a reason names"""
AFTER = "it goes with the text above"
"""why the output of a model whose text is in doubt is in doubt as well"""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table for an input or an output of a model."""

    side: str
    """`inputs` or `outputs`"""
    name: str
    keys: Mapping[str, Value]
    comments: Mapping[str, str] = field(default_factory=dict)
    """by key; that of the table itself by its name"""
    doubt: str = ""
    """why it is commented out"""
    labels: Sequence[str] = ()
    """lines of a file for the key `labels`"""


def proposals(model: "Model") -> list[Table]:
    """Tables for the tokens and the output of a model of texts; none for other models."""
    ids = _ids(model.signature.inputs)
    if ids is None:
        return []
    about = Beside.of(model.path)
    if about.tokenizer is None and ids.name != IDS[0]:
        return []
    others = [spec.name for spec in model.signature.inputs if spec.name not in (ids.name, *FILLED)]
    tables = [_input(ids, about, others), *_output(model.signature.outputs, about)]
    return proved(model, tables, about)


def _ids(inputs: "Sequence[TensorSpec]") -> "TensorSpec | None":
    from packager.core.signature import ElementType

    integers = (ElementType.INT64, ElementType.INT32)
    fitting = {spec.name: spec for spec in inputs if spec.element in integers and 1 <= len(spec.shape) <= 2}
    return next((fitting[name] for name in IDS if name in fitting), None)


def _input(ids: "TensorSpec", about: Beside, others: Sequence[str]) -> Table:
    keys: dict[str, Value] = {"kind": "text", "tokenizer": about.tokenizer or "tokenizer.json"}
    comments = {ids.name: "apps pass strings: docs/text.md"}
    limit, file = about.limit
    fixed = ids.shape[-1] if isinstance(ids.shape[-1], int) else None
    if limit and (fixed is None or limit < fixed):
        keys["max-length"] = limit
        comments["max-length"] = f"tokens, of {file}; longer texts are truncated"
    doubt = about.doubt_on_lowering() or (about.doubt_on_padding() if fixed is not None else "")
    if others:
        doubt = f"the model also takes {first_of(others, FEW)}, which no text gives"
    if about.tokenizer is None:
        doubt = "no tokenizer lies beside the model"
    return Table(side="inputs", name=ids.name, keys=keys, comments=comments, doubt=doubt)


def _output(outputs: "Sequence[TensorSpec]", about: Beside) -> Iterator[Table]:
    """The table of the one output that is of use, if it is known which."""
    known = {spec.name: spec for spec in outputs}
    (only,) = outputs if len(outputs) == 1 else (None,)
    for name in VECTORS:
        if name in known and len(known[name].shape) == 2:
            yield _vector(name, about)
            return
    for name in STATES:
        if name in known and len(known[name].shape) == 3:
            yield _states(name, about)
            return
    if only and len(only.shape) == 3 and about.poolings:
        yield _states(only.name, about)
    logits = known.get("logits") or only
    if logits and len(logits.shape) == 2 and (about.is_classifier or logits.name == "logits"):
        yield _classes(logits, about)


def _vector(name: str, about: Beside) -> Table:
    return Table(side="outputs", name=name, keys={"kind": "embedding"}, comments=_divided(name), doubt=_of_dot(about))


def _divided(name: str) -> Mapping[str, str]:
    return {name: "a vector of length 1 for each text"}


def _of_dot(about: Beside) -> str:
    if about.similarity not in ("dot", "dot_product"):
        return ""
    return "vectors of this model are compared by their dot product, and embeddings are divided by their length"


def _states(name: str, about: Beside) -> Table:
    pooling = POOLINGS.get(about.poolings[0], "") if len(about.poolings) == 1 else ""
    after = [each for each in about.modules if each not in POOLED]
    doubt = _of_dot(about)
    if after:
        doubt = f"sentence-transformers has {', '.join(after)} after the model"
    if not pooling:
        doubt = f"1_Pooling/config.json has {', '.join(about.poolings)}, which is not supported"
    if not about.poolings:
        doubt = "no 1_Pooling/config.json says how the model was trained"
    keys = {"kind": "embedding", "pooling": pooling or "mean"}
    return Table(
        side="outputs",
        name=name,
        keys=keys,
        comments={**_divided(name), "pooling": 'vector of a text from those of its tokens: "mean", "cls" or "last"'},
        doubt=doubt,
    )


def _classes(logits: "TensorSpec", about: Beside) -> Table:
    count, labels = logits.shape[-1], about.labels
    problem = about.config.get("problem_type")
    activation = "sigmoid" if problem == "multi_label_classification" else "softmax"
    doubt = ""
    if problem == "regression" or count == 1:
        doubt = "the model gives a number, not classes"
    elif not about.is_classifier:
        doubt = "no config.json says that these are classes"
    elif len(labels) != count:
        doubt = f"config.json names {len(labels)} classes, the model has {count}"
    named = [] if all(each.startswith(GENERIC) for each in labels) else list(labels)
    return Table(
        side="outputs",
        name=logits.name,
        keys={"kind": "classes", "activation": activation},
        comments={
            logits.name: "labels with scores, best first",
            "activation": "what makes probabilities of the model's numbers",
        },
        doubt=doubt,
        labels=named if not doubt else (),
    )


def proved(model: "Model", tables: Sequence[Table], about: Beside) -> list[Table]:
    """`tables` with a doubt wherever the model cannot have them."""
    first, *others = tables
    reason = first.doubt or _refusal(model, [each for each in tables if not each.doubt], about)
    if not reason:
        return [first, *others]
    if not first.doubt and any(not each.doubt for each in others) and not _refusal(model, [first], about):
        return [first, *(replace(each, doubt=each.doubt or reason) for each in others)]
    return [replace(first, doubt=reason), *(replace(each, doubt=each.doubt or AFTER) for each in others)]


def _refusal(model: "Model", tables: Sequence[Table], about: Beside) -> str:
    """Why the model cannot have `tables`; empty if it can."""
    from packager.contract import INPUT_KINDS, OUTPUT_KINDS
    from packager.contract.attachment import Tables, attach
    from packager.core.errors import MobpackError

    with tempfile.TemporaryDirectory() as scratch:
        try:
            inputs = {each.name: _read(each, INPUT_KINDS, Path(scratch)) for each in tables if each.side == "inputs"}
            outputs = {each.name: _read(each, OUTPUT_KINDS, Path(scratch)) for each in tables if each.side == "outputs"}
            attach(model, Tables(inputs=inputs, outputs=outputs))
        except MobpackError as error:
            words = error.message
            for known in (f"model.{model.name}.", f"{about.tokenizer and about.tokenizer.parent}/", f"{scratch}/"):
                words = words.replace(known, "")
            return words
    return ""


def _read(table: Table, kinds: Mapping[str, type[Kind]], scratch: Path) -> Kind:
    """The table as mobpack.toml has it, read as a build reads it."""
    from pydantic import TypeAdapter

    keys = dict(table.keys)
    if table.labels:
        keys["labels"] = scratch / "labels.txt"
        (scratch / "labels.txt").write_text("\n".join(table.labels) + "\n", encoding="utf-8", newline="\n")
    return TypeAdapter(kinds[str(keys["kind"])]).validate_json(json.dumps(keys, default=str))
