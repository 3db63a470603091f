"""catboost: models that CatBoost has saved as `.cbm`; their trees are written as ONNX one by one."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from packager.core import parsing
from packager.core.errors import ModelError
from packager.core.parsing import Json
from packager.engines.environments.framework import Framework
from packager.importers import trees
from packager.importers.importer import Arrays, Converted, ImportSource, Input
from packager.importers.trees import Ensemble, Leaf, Tree, TreeSplit

START = b"CBM1"
LINKS = {
    "Logloss": "sigmoid",
    "CrossEntropy": "sigmoid",
    "MultiClass": "softmax",
    "MultiClassOneVsAll": "sigmoid",
    "Poisson": "exp",
    "Tweedie": "exp",
}
CLASSIFIERS = ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")
HINT_NUMBERS = "encode such features as numbers before training, for example with scikit-learn's OrdinalEncoder"


@dataclass(frozen=True, kw_only=True)
class CatBoost:
    NAME: ClassVar[str] = "catboost"
    FRAMEWORK: ClassVar[str] = "CatBoost"
    SOURCES: ClassVar[str] = "`.cbm`"
    ENVIRONMENT: ClassVar[Framework | None] = trees.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: ImportSource) -> bool:
        return source.path.suffix == ".cbm"

    def load(self, source: ImportSource) -> "CatBoostModel":
        import catboost

        with source.path.open("rb") as file:
            if file.read(4) != START:
                raise ModelError(f"{source.text}: not a .cbm file", hint="save with model.save_model('model.cbm')")
        model = catboost.CatBoost()
        try:
            model.load_model(str(source.path))
        except catboost.CatBoostError as error:
            raise ModelError(
                f"CatBoost {catboost.__version__} cannot load {source.text}: {str(error).splitlines()[0]}",
                hint="it is damaged: save it again with model.save_model('model.cbm')",
            ) from error
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "model.json"
            model.save_model(str(written), format="json")
            content = parsing.json_of(written.read_text(encoding="utf-8"))
        loss = str(model.get_all_params().get("loss_function", "")).partition(":")[0]
        return CatBoostModel(model=model, ensemble=ensemble_of(content, loss, source.text))


def ensemble_of(content: Json, loss: str, text: str) -> Ensemble:
    """Raises ModelError for features that are not numbers."""
    features = content["features_info"]
    for kind, words in {"categorical_features": "categories", "text_features": "texts"}.items():
        if features.get(kind):
            raise ModelError(f"{text}: {len(features[kind])} features are {words}, not numbers", hint=HINT_NUMBERS)
    scale, bias = content["scale_and_bias"]
    flat = features["float_features"]
    if "oblivious_trees" in content:
        found = [oblivious(tree, flat, len(bias), scale) for tree in content["oblivious_trees"]]
    else:
        found = [grown(tree, flat, scale) for tree in content["trees"]]
    return Ensemble(
        feature_count=max(each["flat_feature_index"] for each in flat) + 1,
        base=bias,
        trees=found,
        link=LINKS.get(loss, "identity"),
        is_classifier=loss in CLASSIFIERS,
    )


def split_of(split: Json, features: Sequence[Json], left: int, right: int) -> TreeSplit:
    """A number above the border goes right."""
    feature = features[split["float_feature_index"]]
    return TreeSplit(
        feature=feature["flat_feature_index"],
        value=split["border"],
        is_equal_left=True,
        left=left,
        right=right,
        is_missing_left=feature["nan_value_treatment"] != "AsTrue",
    )


def oblivious(tree: Json, features: Sequence[Json], width: int, scale: float) -> Tree:
    """A tree with one split for each level; the split of level i is bit i of a leaf's number."""
    splits = tree["splits"] or []
    nodes: list[TreeSplit | Leaf] = []
    for level, split in enumerate(reversed(splits)):
        first = 2 ** (level + 1) - 1
        nodes += [split_of(split, features, first + 2 * at, first + 2 * at + 1) for at in range(2**level)]
    values = [each * scale for each in tree["leaf_values"]]
    nodes += [Leaf(values=values[at * width : (at + 1) * width]) for at in range(2 ** len(splits))]
    return Tree(nodes=nodes, target=0)


def grown(root: Json, features: Sequence[Json], scale: float) -> Tree:
    """A tree whose branches split on their own."""
    nodes: list[TreeSplit | Leaf] = [Leaf(values=())]
    waiting = [(0, root)]
    while waiting:
        number, node = waiting.pop()
        if "split" not in node:
            value = node["value"]
            nodes[number] = Leaf(values=[each * scale for each in (value if isinstance(value, list) else [value])])
            continue
        left = len(nodes)
        nodes[number] = split_of(node["split"], features, left, left + 1)
        nodes += [Leaf(values=()), Leaf(values=())]
        waiting += [(left, node["left"]), (left + 1, node["right"])]
    return Tree(nodes=nodes, target=0)


@dataclass(frozen=True, kw_only=True)
class CatBoostModel:
    model: Any
    ensemble: Ensemble

    @property
    def made_with(self) -> str:
        import catboost

        return f"CatBoost {catboost.__version__}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.ensemble.inputs

    def draw(self, number: int, rows: int) -> Arrays:
        return trees.drawn(self.ensemble, number, rows)

    def run(self, inputs: Arrays) -> Arrays:
        kind = "RawFormulaVal"
        if self.ensemble.is_classifier:
            kind = "Probability"
        elif self.ensemble.link == "exp":
            kind = "Exponent"
        scores = self.model.predict(inputs[trees.FEATURES], prediction_type=kind, thread_count=1)
        return trees.outputs_of(scores, self.ensemble.is_classifier)

    def convert(self, path: Path) -> Converted:
        import onnx

        trees.write(self.ensemble, path)
        return Converted(converter=f"mobpack and onnx {onnx.__version__}")
