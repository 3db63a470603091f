"""lightgbm: boosters that LightGBM has saved as text; their trees are written as ONNX one by one."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from packager.core.errors import ModelError
from packager.core.parsing import Json
from packager.engines.environments.framework import Framework
from packager.importers import trees
from packager.importers.importer import Arrays, Converted, ImportSource, Input
from packager.importers.trees import Ensemble, Leaf, Tree, TreeSplit

START = b"tree\n"
INFINITE = 1e300
"""the largest number that LightGBM prints; it means infinity"""
LINKS = {
    "binary": "sigmoid",
    "cross_entropy": "sigmoid",
    "cross_entropy_lambda": "softplus",
    "multiclass": "softmax",
    "multiclassova": "sigmoid",
    "poisson": "exp",
    "gamma": "exp",
    "tweedie": "exp",
}
CLASSIFIERS = ("binary", "multiclass", "multiclassova")


@dataclass(frozen=True, kw_only=True)
class LightGBM:
    NAME: ClassVar[str] = "lightgbm"
    FRAMEWORK: ClassVar[str] = "LightGBM"
    SOURCES: ClassVar[str] = "`.txt`"
    ENVIRONMENT: ClassVar[Framework | None] = trees.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: ImportSource) -> bool:
        if source.path.suffix not in (".txt", ".lgb", ".model") or not source.path.is_file():
            return False
        with source.path.open("rb") as file:
            return file.read(200).replace(b"\r\n", b"\n").startswith(START)

    def load(self, source: ImportSource) -> "LightGBMModel":
        import lightgbm

        if b"end of trees" not in source.path.read_bytes():
            raise ModelError(f"{source.text}: the file is cut: trees are missing", hint="it is damaged: save it again")
        try:
            booster = lightgbm.Booster(model_file=source.path)
        except lightgbm.basic.LightGBMError as error:
            raise ModelError(
                f"LightGBM {lightgbm.__version__} cannot load {source.text}: {error}",
                hint="it is damaged: save it again with booster.save_model('model.txt')",
            ) from error
        content = booster.dump_model(num_iteration=booster.best_iteration)
        return LightGBMModel(booster=booster, ensemble=ensemble_of(content, source.text))


def ensemble_of(content: Json, text: str) -> Ensemble:
    """Raises ModelError for leaves that are not constant."""
    objective, *settings = content.get("objective", "regression").split()
    options = dict(each.split(":", 1) for each in settings if ":" in each)
    count = int(content["num_tree_per_iteration"])
    infos = content["tree_info"]
    scale = count / len(infos) if content.get("average_output") and infos else 1.0
    link = "signed_square" if "sqrt" in settings else LINKS.get(objective, "identity")
    return Ensemble(
        feature_count=content["max_feature_idx"] + 1,
        base=[0.0] * count,
        trees=[tree_of(info["tree_structure"], number % count, scale, text) for number, info in enumerate(infos)],
        link=link,
        scale=float(options.get("sigmoid", 1.0)) if link == "sigmoid" else 1.0,
        is_classifier=objective in CLASSIFIERS,
    )


def tree_of(root: Json, target: int, scale: float, text: str) -> Tree:
    nodes: list[TreeSplit | Leaf | None] = [None]
    waiting = [(0, root)]
    while waiting:
        number, node = waiting.pop()
        if "split_feature" not in node:
            nodes[number] = leaf_of(node, scale, text)
            continue
        nodes += [None, None]
        left = len(nodes) - 2
        nodes[number] = split_of(node, left)
        waiting += [(left, node["left_child"]), (left + 1, node["right_child"])]
    return Tree(nodes=[node for node in nodes if node is not None], target=target)


def leaf_of(node: Json, scale: float, text: str) -> Leaf:
    if node.get("leaf_coeff"):
        raise ModelError(f"{text}: leaves with linear models (linear_tree)", hint="train with linear_tree=False")
    return Leaf(values=(node["leaf_value"] * scale,))


def split_of(node: Json, left: int) -> TreeSplit:
    """Categories of the set go left, NaN right; among numbers, NaN is 0 where training saw no missing values."""
    if node["decision_type"] == "==":
        return TreeSplit(
            feature=node["split_feature"],
            categories=frozenset(map(int, str(node["threshold"]).split("||"))),
            left=left,
            right=left + 1,
            is_missing_left=False,
        )
    value = float(node["threshold"])
    value = math.inf if value >= INFINITE else value
    return TreeSplit(
        feature=node["split_feature"],
        value=value,
        is_equal_left=True,
        left=left,
        right=left + 1,
        is_missing_left=value >= 0 if node["missing_type"] == "None" else bool(node["default_left"]),
        is_zero_missing=node["missing_type"] == "Zero",
    )


@dataclass(frozen=True, kw_only=True)
class LightGBMModel:
    booster: Any
    ensemble: Ensemble

    @property
    def made_with(self) -> str:
        import lightgbm

        return f"LightGBM {lightgbm.__version__}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.ensemble.inputs

    def draw(self, number: int, rows: int) -> Arrays:
        return trees.drawn(self.ensemble, number, rows)

    def run(self, inputs: Arrays) -> Arrays:
        scores = self.booster.predict(inputs[trees.FEATURES], num_threads=1, predict_disable_shape_check=False)
        return trees.outputs_of(scores, self.ensemble.is_classifier)

    def convert(self, path: Path) -> Converted:
        import onnx

        trees.write(self.ensemble, path)
        return Converted(converter=f"mobpack and onnx {onnx.__version__}")
