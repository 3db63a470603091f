"""Ensembles of decision trees: written as ONNX, and random inputs that reach their leaves.

A tree takes float32. Sets of categories, which trees of ONNX do not have, become columns that are looked up in a table
before the trees.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.engines.environments.framework import Framework
from packager.importers.importer import Arrays, Input

if TYPE_CHECKING:
    import numpy

ENVIRONMENT = Framework(
    name="tabular",
    about="scikit-learn, XGBoost, LightGBM and CatBoost, 700 MB",
    lock=Path(__file__).with_name("tabular.txt"),
    trial="import sklearn, skl2onnx, onnxmltools, xgboost, lightgbm, catboost, skops.io",
    settings=(("OMP_NUM_THREADS", "1"),),
)
OPSET = 18
IR_VERSION = 8
MISSING = 0.05
"""share of NaN in columns that a tree expects it in"""
LARGE, SMALL = 1e30, 1e-30
"""thresholds from LARGE on split missing values off; numbers below SMALL are zero for some frameworks"""
FEATURES = "features"


@dataclass(frozen=True, kw_only=True)
class TreeSplit:
    """An inner node: the left child takes values that are less, or less or equal, or in a set of categories."""

    feature: int
    value: float = 0.0
    is_equal_left: bool = False
    """whether a value equal to `value` goes left"""
    categories: frozenset[int] | None = None
    """instead of `value`"""
    left: int
    right: int
    is_missing_left: bool
    is_zero_missing: bool = False
    """whether zero counts as missing"""


@dataclass(frozen=True, kw_only=True)
class Leaf:
    values: Sequence[float]
    """for the tree's target and those that follow it"""


@dataclass(frozen=True, kw_only=True)
class Tree:
    nodes: Sequence[TreeSplit | Leaf]
    """the first one is the root"""
    target: int


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """A sum of trees for each target, and a function of the sums, `link`."""

    feature_count: int
    base: Sequence[float]
    """by target"""
    trees: Sequence[Tree]
    link: str
    """key of LINKS"""
    scale: float = 1.0
    """factor of sums in a sigmoid"""
    is_classifier: bool = False
    """whether there are outputs `label` and `probabilities`, not `prediction`"""

    def splits(self) -> Iterator[TreeSplit]:
        return (node for tree in self.trees for node in tree.nodes if isinstance(node, TreeSplit))

    @property
    def inputs(self) -> tuple[Input, ...]:
        return (Input(name=FEATURES, dtype="float32", shape=("batch", self.feature_count)),)


def outputs_of(scores: Any, is_classifier: bool, labels: Any = None) -> dict[str, Any]:
    """A framework's predictions by name, as the ONNX file has them: of a classifier with a probability for each class,
    or of the second class alone."""
    import numpy

    scores = numpy.asarray(scores)
    if not is_classifier:
        return {"prediction": scores}
    if scores.ndim == 1:
        scores = numpy.stack([1 - scores, scores], axis=1)
    return {"label": scores.argmax(axis=1).astype(numpy.int64) if labels is None else labels, "probabilities": scores}


LINKS: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]] = {
    "identity": (),
    "exp": (("Exp", {}),),
    "sigmoid": (("Sigmoid", {}),),
    "softmax": (("Softmax", {"axis": 1}),),
    "softplus": (("Softplus", {}),),
    "positive": (),
    "signed_square": (),
}


@dataclass(kw_only=True)
class TreeGraph:
    """Nodes and constants of a graph under construction."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Appends a node and returns the name of its output."""
        from onnx import helper

        name = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, dtype: str = "float32") -> str:
        import numpy
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.asarray(value, dtype), name))
        return name


def write(ensemble: Ensemble, path: Path) -> None:
    """Writes the ensemble as ONNX."""
    import onnx
    from onnx import helper

    graph = TreeGraph()
    columns = Columns(graph=graph, first_free=ensemble.feature_count)
    attributes = attributes_of(ensemble, columns)
    features = columns.joined()
    sums = graph.add("TreeEnsembleRegressor", features, domain="ai.onnx.ml", **attributes)
    outputs = finished(ensemble, graph, sums)
    proto = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "trees",
            [helper.make_tensor_value_info(FEATURES, onnx.TensorProto.FLOAT, ["batch", ensemble.feature_count])],
            outputs,
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", 3)],
        ir_version=IR_VERSION,
    )
    onnx.checker.check_model(proto)
    onnx.save_model(proto, path)


def finished(ensemble: Ensemble, graph: TreeGraph, sums: str) -> list[Any]:
    """Appends the link to the sums [batch, targets], and gives the graph its outputs."""
    from onnx import TensorProto, helper

    count = len(ensemble.base)
    if ensemble.scale != 1.0:
        sums = graph.add("Mul", sums, graph.constant(ensemble.scale))
    if ensemble.link == "signed_square":
        sums = graph.add("Mul", sums, graph.add("Abs", sums))
    if ensemble.link == "positive":
        above = graph.add("Greater", sums, graph.constant(0.0))
        sums = graph.add("Cast", above, to=TensorProto.FLOAT)
    for operator, attributes in LINKS[ensemble.link]:
        sums = graph.add(operator, sums, **attributes)
    if not ensemble.is_classifier:
        shape: list[int | str] = ["batch"] if count == 1 else ["batch", count]
        axes = (graph.constant([1], "int64"),) if count == 1 else ()
        graph.add("Squeeze" if axes else "Identity", sums, *axes, output="prediction")
        return [helper.make_tensor_value_info("prediction", TensorProto.FLOAT, shape)]
    if count == 1:
        both = (graph.add("Sub", graph.constant(1.0), sums), sums)
        graph.add("Concat", *both, output="probabilities", axis=1)
    else:
        graph.add("Identity", sums, output="probabilities")
    graph.add("ArgMax", "probabilities", output="label", axis=1, keepdims=0)
    return [
        helper.make_tensor_value_info("label", TensorProto.INT64, ["batch"]),
        helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", max(count, 2)]),
    ]


@dataclass(kw_only=True)
class Columns:
    """Columns beside the features that splits need: one for each set of categories, and one for each feature whose
    zeros are missing values."""

    graph: TreeGraph
    first_free: int
    zeros: list[int] = field(default_factory=list)
    """features without zeros, in the order of their columns"""
    sets: list[tuple[int, frozenset[int], bool]] = field(default_factory=list)

    def of(self, split: TreeSplit) -> tuple[str, int]:
        """Kind and number of the column that the split reads."""
        if split.categories is not None:
            key = (split.feature, split.categories, split.is_missing_left)
            if key not in self.sets:
                self.sets.append(key)
            return "set", self.sets.index(key)
        if split.is_zero_missing:
            if split.feature not in self.zeros:
                self.zeros.append(split.feature)
            return "zero", self.zeros.index(split.feature)
        return "feature", split.feature

    def position(self, kind: str, number: int) -> int:
        """The place of a column in `joined`; known once every split has been asked for."""
        return number + {"feature": 0, "zero": self.first_free, "set": self.first_free + len(self.zeros)}[kind]

    def joined(self) -> str:
        """Appends the nodes that compute the columns; name of [batch, columns]."""
        graph, parts = self.graph, [FEATURES]
        if self.zeros:
            chosen = graph.add("Gather", FEATURES, graph.constant(self.zeros, "int64"), axis=1)
            is_zero = graph.add("LessOrEqual", graph.add("Abs", chosen), graph.constant(1e-35))
            parts.append(graph.add("Where", is_zero, graph.constant(float("nan")), chosen))
        features = sorted({feature for feature, _, _ in self.sets})
        looked_up = [each for feature in features for each in self.sets if each[0] == feature]
        parts += [self._looked_up(feature, [each for each in looked_up if each[0] == feature]) for feature in features]
        self.sets[:] = looked_up
        return graph.add("Concat", *parts, axis=1) if len(parts) > 1 else FEATURES

    def _looked_up(self, feature: int, sets: Sequence[tuple[int, frozenset[int], bool]]) -> str:
        """1 or 0 for every set of one feature, [batch, sets]. The table has a row for each category, one for others and
        one for NaN."""
        import numpy
        from onnx import TensorProto

        graph, count = self.graph, max(max(categories, default=0) for _, categories, _ in sets) + 1
        table = numpy.zeros((count + 2, len(sets)), numpy.float32)
        for column, (_, categories, is_missing_in) in enumerate(sets):
            table[sorted(categories), column] = 1
            table[count + 1, column] = is_missing_in
        values = graph.add("Gather", FEATURES, graph.constant(feature, "int64"), axis=1)
        is_missing = graph.add("IsNaN", values)
        is_below = graph.add("LessOrEqual", values, graph.constant(-1.0))
        is_above = graph.add("GreaterOrEqual", values, graph.constant(float(count)))
        is_other = graph.add("Or", is_below, is_above)
        known = graph.add("Where", is_other, graph.constant(float(count)), values)
        row = graph.add("Where", is_missing, graph.constant(float(count + 1)), known)
        return graph.add("Gather", graph.constant(table), graph.add("Cast", row, to=TensorProto.INT64), axis=0)


def attributes_of(ensemble: Ensemble, columns: Columns) -> dict[str, Any]:
    """Attributes of TreeEnsembleRegressor."""
    for split in ensemble.splits():
        columns.of(split)
    columns.sets.sort(key=lambda each: each[0])  # stable: `joined` has the features in order
    found: dict[str, list[Any]] = {f"nodes_{name}": [] for name in _NODE_LISTS}
    found |= {f"target_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree_number, tree in enumerate(ensemble.trees):
        for node_number, node in enumerate(tree.nodes):
            row = _row_of(node, columns)
            for name, value in zip(_NODE_LISTS, (tree_number, node_number, *row), strict=True):
                found[f"nodes_{name}"].append(value)
            if isinstance(node, Leaf):
                for target, weight in enumerate(node.values, tree.target):
                    row = (tree_number, node_number, target, weight)
                    for name, value in zip(("treeids", "nodeids", "ids", "weights"), row, strict=True):
                        found[f"target_{name}"].append(value)
    return {
        **found,
        "n_targets": len(ensemble.base),
        "base_values": [float(each) for each in ensemble.base],
        "post_transform": "NONE",
        "aggregate_function": "SUM",
    }


_NODE_LISTS = (
    "treeids",
    "nodeids",
    "modes",
    "featureids",
    "values",
    "truenodeids",
    "falsenodeids",
    "missing_value_tracks_true",
)


def _row_of(node: TreeSplit | Leaf, columns: Columns) -> tuple[Any, ...]:
    if isinstance(node, Leaf):
        return ("LEAF", 0, 0.0, 0, 0, 0)
    column = columns.position(*columns.of(node))
    if node.categories is not None:
        return ("BRANCH_GT", column, 0.5, node.left, node.right, 0)
    mode = "BRANCH_LEQ" if node.is_equal_left else "BRANCH_LT"
    return (mode, column, rounded(node.value, node.is_equal_left), node.left, node.right, int(node.is_missing_left))


def rounded(value: float, is_equal_left: bool) -> float:
    """A threshold as float32, by which every float32 goes to the same side as by `value`."""
    import numpy

    with numpy.errstate(over="ignore"):
        near = numpy.float32(value)
    if is_equal_left and float(near) > value:
        return float(numpy.nextafter(near, numpy.float32(-numpy.inf)))
    if not is_equal_left and float(near) < value:
        return float(numpy.nextafter(near, numpy.float32(numpy.inf)))
    return float(near)


def drawn(ensemble: Ensemble, number: int, rows: int, is_exact: bool = True) -> Arrays:
    """Random inputs. Values lie between the thresholds of their feature, and with `is_exact` also on them; every row is
    led to a leaf of a random tree; columns with thresholds for missing values have some."""
    import numpy

    numbers = numpy.random.default_rng(number)
    values = numbers.standard_normal((rows, ensemble.feature_count))
    for feature, splits in splits_by_feature(ensemble).items():
        values[:, feature] = column_of(splits, rows, numbers, is_exact)
    for row in values if ensemble.trees else ():
        lead(row, ensemble.trees[int(numbers.integers(len(ensemble.trees)))], numbers)
    return {FEATURES: values.astype(numpy.float32)}


def splits_by_feature(ensemble: Ensemble) -> dict[int, list[TreeSplit]]:
    found: dict[int, list[TreeSplit]] = {}
    for split in ensemble.splits():
        found.setdefault(split.feature, []).append(split)
    return found


def column_of(
    splits: Sequence[TreeSplit], rows: int, numbers: "numpy.random.Generator", is_exact: bool
) -> "numpy.ndarray[Any, Any]":
    """Values of one feature: categories, or numbers around its thresholds, a tenth of them equal to one."""
    import numpy

    if any(split.categories is not None for split in splits):
        highest = max(max(split.categories or (0,)) for split in splits)
        found = numbers.integers(0, highest + 2, rows).astype(float)
    else:
        thresholds = numpy.unique([split.value for split in splits if abs(split.value) < LARGE])
        found = between(thresholds, rows, numbers, is_exact) if len(thresholds) else numbers.standard_normal(rows)
    missing = numbers.random(rows) < MISSING
    if any(split.is_missing_left for split in splits) and not all(split.is_missing_left for split in splits):
        found[missing] = numpy.nan
    return found


def between(
    thresholds: "numpy.ndarray[Any, Any]", rows: int, numbers: "numpy.random.Generator", is_exact: bool
) -> "numpy.ndarray[Any, Any]":
    """Numbers between neighbouring thresholds, below the first and above the last."""
    import numpy

    width = float(thresholds[-1] - thresholds[0]) or abs(float(thresholds[0])) or 1.0
    edges = numpy.concatenate([[thresholds[0] - width / 4], thresholds, [thresholds[-1] + width / 4]])
    at = numbers.integers(0, len(edges) - 1, rows)
    found = edges[at] + numbers.random(rows) * (edges[at + 1] - edges[at])
    is_on_one = numbers.random(rows) < (0.1 if is_exact else 0.0)
    found[is_on_one] = thresholds[numbers.integers(0, len(thresholds), int(is_on_one.sum()))]
    found[abs(found) < SMALL] = 0.0
    return numpy.asarray(found)


def lead(row: "numpy.ndarray[Any, Any]", tree: Tree, numbers: "numpy.random.Generator") -> None:
    """Changes the features of `row` so that it goes down random sides of `tree`."""
    low: dict[int, float] = {}
    high: dict[int, float] = {}
    node = tree.nodes[0]
    while isinstance(node, TreeSplit):
        is_left = bool(numbers.integers(2))
        if node.categories is None and abs(node.value) < LARGE:
            side = high if is_left else low
            best = min if is_left else max
            side[node.feature] = best(side.get(node.feature, node.value), node.value)
        node = tree.nodes[node.left if is_left else node.right]
    for feature in low.keys() | high.keys():
        below, above = low.get(feature), high.get(feature)
        reach = max(abs(below or 0.0), abs(above or 0.0), 1.0) / 4
        start = below if below is not None else (above or 0.0) - reach
        end = above if above is not None else start + reach
        if start < end:
            row[feature] = start + numbers.random() * (end - start)
