"""xgboost: boosters that XGBoost has saved as `.json` or `.ubj`; their trees are written as ONNX one by one."""

import math
import re
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

SUFFIXES = (".ubj", ".xgb")
JSON_START = re.compile(rb'\s*\{\s*"(learner|version|Config)"')
LINKS = {
    "binary:logistic": "sigmoid",
    "reg:logistic": "sigmoid",
    "binary:hinge": "positive",
    "count:poisson": "exp",
    "reg:gamma": "exp",
    "reg:tweedie": "exp",
    "survival:cox": "exp",
    "survival:aft": "exp",
    "multi:softmax": "softmax",
    "multi:softprob": "softmax",
}
"""all other objectives give sums as they are"""
CLASSIFIERS = ("binary:logistic", "multi:softmax", "multi:softprob")


@dataclass(frozen=True, kw_only=True)
class XGBoost:
    NAME: ClassVar[str] = "xgboost"
    FRAMEWORK: ClassVar[str] = "XGBoost"
    SOURCES: ClassVar[str] = "`.json`, `.ubj`"
    ENVIRONMENT: ClassVar[Framework | None] = trees.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: ImportSource) -> bool:
        if source.path.suffix == ".json" and source.path.is_file():
            with source.path.open("rb") as file:
                return JSON_START.match(file.read(200)) is not None
        return source.path.suffix in SUFFIXES

    def load(self, source: ImportSource) -> "XGBoostModel":
        import xgboost

        booster = xgboost.Booster()
        try:
            booster.load_model(source.path)
        except xgboost.core.XGBoostError as error:
            reason = [line for line in str(error).splitlines() if line.strip() and "Stack trace" not in line]
            raise ModelError(
                f"XGBoost {xgboost.__version__} cannot load {source.text}: {reason[0] if reason else 'no reason'}",
                hint="it is damaged, or of an old binary format: save it again with booster.save_model('model.ubj')",
            ) from error
        best = booster.attr("best_iteration")
        if best is not None:
            booster = booster[: int(best) + 1]
        content = parsing.json_of(bytes(booster.save_raw("json")))["learner"]
        return XGBoostModel(booster=booster, content=content, ensemble=ensemble_of(content, booster, source.text))


def ensemble_of(learner: Json, booster: Any, text: str) -> Ensemble:
    """Raises ModelError for a booster that is not made of trees with one number in a leaf."""
    machine, scales = learner["gradient_booster"], None
    if machine["name"] == "dart":
        machine, scales = machine["gbtree"], machine["weight_drop"]
    if machine["name"] == "gblinear":
        raise ModelError(
            f"{text}: a linear booster (gblinear), not one of trees",
            hint="train with booster='gbtree', or with a linear model of scikit-learn",
        )
    model, objective = machine["model"], learner["objective"]["name"]
    if any(int(tree["tree_param"].get("size_leaf_vector", "1") or 1) > 1 for tree in model["trees"]):
        raise ModelError(
            f"{text}: trees with a vector in each leaf (multi_strategy='multi_output_tree')",
            hint="train with multi_strategy='one_output_per_tree'",
        )
    count = max(int(learner["learner_model_param"]["num_class"]), int(learner["learner_model_param"]["num_target"]), 1)
    link = LINKS.get(objective, "identity")
    return Ensemble(
        feature_count=booster.num_features(),
        base=base_of(learner, count, link),
        trees=[
            tree_of(tree, target, scales[number] if scales else 1.0)
            for number, (tree, target) in enumerate(zip(model["trees"], model["tree_info"], strict=True))
        ],
        link=link,
        is_classifier=objective in CLASSIFIERS,
    )


def base_of(learner: Json, count: int, link: str) -> list[float]:
    """The first term of every sum, by target. The file has it as the link's result."""
    values = [float(each) for each in learner["learner_model_param"]["base_score"].strip("[]").split(",")]
    if link == "sigmoid":
        values = [math.log(each / (1 - each)) for each in values]
    if link == "exp":
        values = [math.log(each) for each in values]
    return values if len(values) == count else values * count


def tree_of(tree: Json, target: int, scale: float) -> Tree:
    import numpy

    values = [float(each) for each in numpy.array(tree["split_conditions"], numpy.float32)]  # decimals of float32
    sets = sets_of(tree)
    nodes: list[TreeSplit | Leaf] = []
    for node, left in enumerate(tree["left_children"]):
        if left == -1:
            nodes.append(Leaf(values=(values[node] * scale,)))
            continue
        # a category of the set goes right
        right, is_default_left = tree["right_children"][node], bool(tree["default_left"][node])
        is_set = node in sets
        nodes.append(
            TreeSplit(
                feature=tree["split_indices"][node],
                value=values[node],
                categories=sets.get(node),
                left=right if is_set else left,
                right=left if is_set else right,
                is_missing_left=is_default_left != is_set,
            )
        )
    return Tree(nodes=nodes, target=target)


def sets_of(tree: Json) -> dict[int, frozenset[int]]:
    """Categories of the nodes that have some."""
    parts = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    return {node: frozenset(tree["categories"][start : start + size]) for node, start, size in parts}


@dataclass(frozen=True, kw_only=True)
class XGBoostModel:
    booster: Any
    content: Json
    ensemble: Ensemble

    @property
    def made_with(self) -> str:
        import xgboost

        return f"XGBoost {xgboost.__version__}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.ensemble.inputs

    def draw(self, number: int, rows: int) -> Arrays:
        return trees.drawn(self.ensemble, number, rows)

    def run(self, inputs: Arrays) -> Arrays:
        import xgboost

        types = [kind if kind == "c" else "q" for kind in self.booster.feature_types or ()] or None
        matrix = xgboost.DMatrix(inputs[trees.FEATURES], feature_types=types, enable_categorical=True)
        if (
            self.content["objective"]["name"] == "multi:softmax"
        ):  # gives labels; its probabilities are those of softprob
            self.booster.set_param({"objective": "multi:softprob"})
        scores = self.booster.predict(matrix, validate_features=False)
        return trees.outputs_of(scores, self.ensemble.is_classifier)

    def convert(self, path: Path) -> Converted:
        import onnx

        trees.write(self.ensemble, path)
        return Converted(converter=f"mobpack and onnx {onnx.__version__}")
