"""sklearn, skops: models of scikit-learn, pickled or saved with skops, through skl2onnx."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from packager.core.errors import ConfigError, ModelError
from packager.environments.framework import Framework
from packager.importers import trees
from packager.importers.importer import Arrays, Converted, Input, Source
from packager.importers.trees import FEATURES, Ensemble, Leaf, Split, Tree

if TYPE_CHECKING:
    import numpy

OPSET = 18
ML_OPSET = 3
"""that of `ai.onnx.ml`"""
IR_VERSION = 8
TIE = 1e-4
"""classes whose probabilities are closer are not told apart"""
ROWS_OF = ("_fit_X", "support_vectors_", "cluster_centers_", "theta_", "X_train_", "means_", "X_fit_", "components_")
"""attributes with rows like those of the training"""
HINT_PICKLE = "save it again with joblib.dump(model, 'model.joblib'), with the versions of this environment"


@dataclass(frozen=True, kw_only=True)
class Sklearn:
    NAME: ClassVar[str] = "sklearn"
    FRAMEWORK: ClassVar[str] = "scikit-learn"
    SOURCES: ClassVar[str] = "`.joblib`, `.pkl`, `.pickle`"
    ENVIRONMENT: ClassVar[Framework | None] = trees.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = True

    def reads(self, source: Source) -> bool:
        return source.path.suffix in (".joblib", ".pkl", ".pickle")

    def load(self, source: Source) -> "SklearnModel":
        import joblib

        try:
            model = joblib.load(source.path)
        except (ModuleNotFoundError, AttributeError) as error:
            raise ModelError(
                f"{source.text} has a part whose code is not here, or of another version: {error}",
                hint="use classes of scikit-learn, and " + HINT_PICKLE,
            ) from error
        return of(model, source)


@dataclass(frozen=True, kw_only=True)
class Skops:
    NAME: ClassVar[str] = "skops"
    FRAMEWORK: ClassVar[str] = "scikit-learn"
    SOURCES: ClassVar[str] = "`.skops`"
    ENVIRONMENT: ClassVar[Framework | None] = trees.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: Source) -> bool:
        return source.path.suffix == ".skops"

    def load(self, source: Source) -> "SklearnModel":
        import skops.io

        if unknown := skops.io.get_untrusted_types(file=source.path):
            raise ModelError(
                f"{source.text} contains types that skops does not trust: {', '.join(unknown)}",
                hint="use classes of scikit-learn alone; or save it with joblib, and allow its code",
            )
        return of(skops.io.load(source.path, trusted=[]), source)


def of(model: Any, source: Source) -> "SklearnModel":
    """Raises ModelError for what is not a fitted model."""
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        raise ModelError(
            f"{source.text} holds an object of type {type(model).__name__}, not a model of scikit-learn",
            hint="save the fitted estimator or Pipeline alone; boosters of XGBoost and LightGBM save themselves",
        )
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ModelError(f"{source.text} is not fitted", hint="call model.fit before you save it") from error
    if isinstance(getattr(model, "classes_", None), list):
        raise ModelError(
            f"{source.text} has several outputs with classes (a multi-output classifier)",
            hint="save one classifier for each output",
        )
    return SklearnModel(model=model, columns=columns_of(model, source.text))


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a DataFrame, an input of its own."""

    name: str
    dtype: str
    categories: Sequence[Any] = ()


def steps_of(model: Any) -> list[Any]:
    """Steps of a pipeline, without those that do nothing, or the model alone."""
    steps = [each for _, each in model.steps] if hasattr(model, "steps") else [model]
    return [each for each in steps if each is not None and each != "passthrough"]


def columns_of(model: Any, text: str) -> tuple[Column, ...]:
    """Inputs of a model that begins with a ColumnTransformer; none if it takes one matrix of numbers."""
    first = steps_of(model)[0]
    if not hasattr(first, "transformers_"):
        return ()
    categories = dict(categories_of(first))
    names = getattr(first, "feature_names_in_", None)
    if names is None:
        if any(_dtype(found) == "str" for found in categories.values()):
            raise ConfigError(
                f"{text}: columns of texts and numbers without names", hint="fit it on a pandas DataFrame, by column"
            )
        return ()
    return tuple(
        Column(name=str(name), dtype=_dtype(categories.get(at, ())), categories=tuple(categories.get(at, ())))
        for at, name in enumerate(names)
    )


def _dtype(categories: Sequence[Any]) -> str:
    import numpy

    kinds = {numpy.asarray(each).dtype.kind for each in categories}
    return "str" if kinds & set("UO") else "int64" if kinds and kinds <= set("iub") else "float32"


def categories_of(transformer: Any) -> Iterator[tuple[int, Sequence[Any]]]:
    """Categories that encoders within a ColumnTransformer know, by number of the column."""
    from sklearn.utils._indexing import _get_column_indices

    names = list(getattr(transformer, "feature_names_in_", ()))
    for _, part, chosen in transformer.transformers_:
        wanted = [names.index(each) for each in chosen] if names and _are_names(chosen) else chosen
        if not _are_names(wanted):
            import numpy

            wanted = _get_column_indices(numpy.zeros((1, transformer.n_features_in_)), wanted)
        for step in steps_of(part) if part not in ("drop", "passthrough") else ():
            for column, known in zip(wanted, getattr(step, "categories_", ()), strict=False):
                yield column, [each for each in known if each is not None and each == each]  # without NaN


def _are_names(chosen: Any) -> bool:
    return not isinstance(chosen, slice) and len(chosen) > 0 and all(isinstance(each, str) for each in chosen)


@dataclass(frozen=True, kw_only=True)
class SklearnModel:
    model: Any
    columns: tuple[Column, ...]

    @property
    def made_with(self) -> str:
        import sklearn

        return f"scikit-learn {sklearn.__version__}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        if self.columns:
            return tuple(Input(name=each.name, dtype=each.dtype, shape=("batch", 1)) for each in self.columns)
        first = steps_of(self.model)[0]
        count = getattr(first, "n_features_in_", None)
        if count is None:
            raise ModelError("the model does not say how many features it takes", hint="fit it with scikit-learn 1.0+")
        dtype = _dtype(getattr(first, "categories_", ()))
        return (Input(name=FEATURES, dtype="str" if dtype == "str" else "float32", shape=("batch", int(count))),)

    def draw(self, number: int, rows: int) -> Arrays:
        """Without rows whose two likeliest classes are as good as tied: rounding decides them."""
        import numpy

        numbers = numpy.random.default_rng(number)
        found = self._drawn(number, 2 * rows, numbers)
        is_clear = numpy.ones(2 * rows, bool)
        if hasattr(self.model, "predict_proba"):
            try:
                scores = self.model.predict_proba(self._given(found))
            except ValueError:  # `run` says why
                scores = None
            if isinstance(scores, numpy.ndarray) and scores.ndim == 2 and scores.shape[1] > 1:
                ordered = numpy.sort(scores, axis=1)
                is_clear = ordered[:, -1] - ordered[:, -2] > TIE
        chosen = numpy.flatnonzero(is_clear)[:rows]
        if len(chosen) < rows:
            chosen = numpy.arange(rows)
        return {name: value[chosen] for name, value in found.items()}

    def _drawn(self, number: int, rows: int, numbers: "numpy.random.Generator") -> dict[str, Any]:
        import numpy

        if not self.columns:
            [each] = self.inputs
            if each.dtype == "str":
                known = steps_of(self.model)[0].categories_
                return {FEATURES: numpy.stack([numbers.choice(column, rows) for column in known], axis=1).astype(str)}
            return {FEATURES: numeric_rows(self.model, number, rows).astype(numpy.float32)}
        found: dict[str, Any] = {}
        spreads = spreads_of(steps_of(self.model)[0])
        for at, column in enumerate(self.columns):
            center, width = spreads.get(at, (0.0, 1.0))
            values: Any = center + width * numbers.standard_normal(rows)
            if column.categories:
                values = numpy.array(column.categories)[numbers.integers(0, len(column.categories), rows)]
            found[column.name] = values.astype(column.dtype).reshape(rows, 1)
        return found

    def _given(self, inputs: Arrays) -> Any:
        """As the model takes it."""
        if not self.columns:
            return inputs[FEATURES]
        import pandas

        return pandas.DataFrame({each.name: inputs[each.name][:, 0] for each in self.columns})

    def run(self, inputs: Arrays) -> Arrays:
        given = self._given(inputs)
        return {name: self._result(method, given) for name, method in self._methods().items()}

    def _methods(self) -> dict[str, str]:
        """Outputs and the methods that compute them, in the order of skl2onnx."""
        from sklearn.base import is_classifier, is_clusterer, is_outlier_detector

        def first_of(*names: str) -> str:
            return next((name for name in names if hasattr(self.model, name)), "")

        if is_classifier(self.model):
            second = first_of("predict_proba", "decision_function")
            return {"label": "predict", "probabilities" if second == "predict_proba" else "scores": second}
        if is_outlier_detector(self.model):
            return {"label": "predict", "scores": first_of("decision_function")}
        if is_clusterer(self.model) or hasattr(self.model, "weights_init"):
            return {"label": "predict", "scores": first_of("transform", "predict_proba")}
        if hasattr(self.model, "predict"):
            return {"prediction": "predict"}
        return {"output": "transform"}

    def _result(self, method: str, given: Any) -> Any:
        """Labels as integers: their own, or their places in `classes_`."""
        import numpy

        value = getattr(self.model, method)(given)
        value = value.toarray() if hasattr(value, "toarray") else numpy.asarray(value)
        classes = getattr(self.model, "classes_", None)
        if method == "predict" and classes is not None and value.ndim == 1 and classes.dtype.kind not in "iu":
            return numpy.searchsorted(classes, value).astype(numpy.int64)
        return value.astype(numpy.int64) if value.dtype.kind in "iub" else value

    def convert(self, path: Path) -> Converted:
        import onnx
        import skl2onnx
        from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator

        for part in parts_of(self.model):
            if hasattr(part, "flatten_transform"):  # concerns `transform`, which is not converted
                part.flatten_transform = False
        try:
            proto = self._converted()
        except (MissingConverter, MissingShapeCalculator) as error:
            reason = next(line for line in str(error).splitlines() if line.strip())
            raise ModelError(
                f"skl2onnx has no ONNX for a part of the model: {reason[:200]}",
                hint="use another estimator; the page of skl2onnx lists those that it supports",
            ) from error
        proto.ir_version = IR_VERSION
        finish(proto, self._methods(), self._classes(), self.run(self.draw(0, 2)))
        onnx.save_model(proto, path)
        return Converted(converter=f"skl2onnx {skl2onnx.__version__}")

    def _converted(self) -> Any:
        """With the options that the converter of this model has: probabilities as a tensor, decisions as they are."""
        import skl2onnx
        from sklearn.base import is_classifier

        wanted = {"zipmap": False} | ({} if hasattr(self.model, "predict_proba") else {"raw_scores": True})
        options: list[dict[str, bool]] = [wanted, {"zipmap": False}, {"raw_scores": True}, {}]
        for each in options if is_classifier(self.model) else [{}]:
            try:
                with plain_attributes():
                    return skl2onnx.convert_sklearn(
                        self.model,
                        initial_types=self._types(),
                        options={id(self.model): each} if each else None,
                        target_opset={"": OPSET, "ai.onnx.ml": ML_OPSET},
                    )
            except NameError as error:
                if "Option" not in str(error):
                    raise
        raise AssertionError("no options are always right")

    def _types(self) -> list[tuple[str, Any]]:
        from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

        kinds = {"float32": FloatTensorType, "int64": Int64TensorType, "str": StringTensorType}
        return [(each.name, kinds[each.dtype]([None, each.shape[1]])) for each in self.inputs]

    def _classes(self) -> Sequence[Any]:
        classes = getattr(self.model, "classes_", None)
        return () if classes is None or isinstance(classes, list) or classes.dtype.kind in "iu" else list(classes)


@contextlib.contextmanager
def plain_attributes() -> Iterator[None]:
    """Lets skl2onnx give Python's numbers to ONNX where it has NumPy's, some of which ONNX does not take."""
    import numpy
    from skl2onnx.common import _container

    make_node = _container.make_node

    def plain(value: Any) -> Any:
        if isinstance(value, numpy.ndarray):
            return value.tolist()
        if isinstance(value, list):
            return [each.item() if isinstance(each, numpy.generic) else each for each in value]
        return value

    def made(*arguments: Any, **attributes: Any) -> Any:
        return make_node(*arguments, **{name: plain(value) for name, value in attributes.items()})

    _container.make_node = made
    try:
        yield
    finally:
        _container.make_node = make_node


def finish(proto: Any, methods: Mapping[str, str], classes: Sequence[Any], example: Arrays) -> None:
    """Gives the outputs the names of `methods`, texts of labels their numbers, and the shapes of the framework."""
    from onnx import TensorProto, helper

    graph = proto.graph
    if len(graph.output) < len(methods):
        raise ModelError(
            f"skl2onnx wrote {len(graph.output)} outputs, not {', '.join(methods)}", hint="use another estimator"
        )
    free_names(graph, methods)
    own = list(graph.output)[: len(methods)]
    del graph.output[:]
    for value, name in zip(own, methods, strict=True):
        if not value.type.HasField("tensor_type"):
            raise ModelError(f"skl2onnx wrote the output '{name}' as no tensor", hint="use another estimator")
        source, tensor, shape = value.name, value.type.tensor_type, example[name].shape[1:]
        element = tensor.elem_type
        if name == "label" and classes and element == TensorProto.STRING:
            keys = [str(each) for each in classes]
            attributes = {"keys_strings": keys, "values_int64s": list(range(len(keys)))}
            source, element = f"{name}_text", TensorProto.INT64
            graph.node.append(
                helper.make_node("LabelEncoder", [value.name], [source], domain="ai.onnx.ml", **attributes)
            )
        if not shape and tensor.shape.dim and tensor.shape.dim[-1].dim_value == 2:  # decisions for both classes
            graph.node.append(helper.make_node("Constant", [], [f"{name}_column"], value_int=1))
            graph.node.append(helper.make_node("Gather", [source, f"{name}_column"], [f"{name}_one"], axis=1))
            source = f"{name}_one"
        graph.node.append(helper.make_node("Constant", [], [f"{name}_shape"], value_ints=[-1, *shape]))
        graph.node.append(helper.make_node("Reshape", [source, f"{name}_shape"], [name]))
        graph.output.append(helper.make_tensor_value_info(name, element, ["batch", *shape]))
    is_old = any(each.op_type == "LabelEncoder" and each.output[0] != "label_text" for each in graph.node)
    for domain, version in (("", OPSET), ("ai.onnx.ml", ML_OPSET)):
        declared = [each for each in proto.opset_import if each.domain == domain]
        if not declared:
            proto.opset_import.append(helper.make_opsetid(domain, version))
        elif domain and not (is_old and declared[0].version < 2):
            declared[0].version = max(declared[0].version, version)


def free_names(graph: Any, names: Iterable[str]) -> None:
    """Renames what is called as an output will be."""
    changed = {name: f"{name}_inner" for name in names}
    for node in graph.node:
        node.input[:] = [changed.get(each, each) for each in node.input]
        node.output[:] = [changed.get(each, each) for each in node.output]
    for value in (*graph.output, *graph.initializer, *graph.value_info):
        value.name = changed.get(value.name, value.name)


def numeric_rows(model: Any, number: int, rows: int) -> "numpy.ndarray[Any, Any]":
    """Rows [rows, features] that reach the parts of the last step, taken back through the steps before it."""
    import numpy

    *before, last = steps_of(model)
    if not before:
        return own_rows(last, number, rows, is_exact=True)
    try:
        found = own_rows(last, number, rows, is_exact=False)
        for step in reversed(before):
            found = numpy.asarray(step.inverse_transform(found))
        if numpy.isfinite(found).all():
            model.predict(found.astype(numpy.float32))
            return found
    except (AttributeError, TypeError, ValueError, NotImplementedError):
        pass
    return own_rows(before[0], number, rows, is_exact=False)


def own_rows(estimator: Any, number: int, rows: int, *, is_exact: bool) -> "numpy.ndarray[Any, Any]":
    """Rows around the thresholds of an estimator's trees, or around rows that it remembers, or its columns' spread."""
    import numpy

    numbers = numpy.random.default_rng(number)
    count = int(estimator.n_features_in_)
    found = [tree for each in parts_of(estimator) if (tree := tree_of(each)) is not None]
    if found:
        ensemble = Ensemble(feature_count=count, base=(0.0,), trees=found, link="identity")
        return numpy.asarray(trees.drawn(ensemble, number, rows, is_exact)[FEATURES], dtype=float)
    for part in parts_of(estimator):
        for name in ROWS_OF:
            known = getattr(part, name, None)
            if isinstance(known, numpy.ndarray) and known.ndim == 2 and known.shape[1] == count and len(known):
                noise = numbers.standard_normal((rows, count)) * (0.3 * known.std(axis=0) + 1e-3)
                return numpy.asarray(known[numbers.integers(0, len(known), rows)] + noise)
    spreads = spreads_of(estimator)
    center, width = (numpy.array([spreads.get(at, (0.0, 1.0))[part] for at in range(count)]) for part in (0, 1))
    values = center + width * numbers.standard_normal((rows, count))
    return abs(values) if any(hasattr(each, "feature_log_prob_") for each in parts_of(estimator)) else values


def spreads_of(estimator: Any) -> dict[int, tuple[float, float]]:
    """Center and width of columns, as scalers and imputers know them."""
    if hasattr(estimator, "transformers_"):
        import numpy
        from sklearn.utils._indexing import _get_column_indices

        names = list(getattr(estimator, "feature_names_in_", ()))
        found = {}
        for _, part, chosen in estimator.transformers_:
            columns = [names.index(each) for each in chosen] if names and _are_names(chosen) else chosen
            if not _are_names(columns):
                columns = _get_column_indices(numpy.zeros((1, estimator.n_features_in_)), columns)
            if part in ("drop", "passthrough"):
                continue
            for step in steps_of(part):
                own = spreads_of(step)
                found |= {column: own[at] for at, column in enumerate(columns) if at in own and column not in found}
        return found
    centers = next(
        (getattr(estimator, name) for name in ("mean_", "center_", "data_min_") if _is_row(estimator, name)), ()
    )
    widths = next((getattr(estimator, name) for name in ("scale_", "data_range_") if _is_row(estimator, name)), ())
    if hasattr(estimator, "data_range_"):
        centers, widths = estimator.data_min_ + estimator.data_range_ / 2, estimator.data_range_ / 2
    return {at: (float(center), float(width)) for at, (center, width) in enumerate(zip(centers, widths, strict=False))}


def _is_row(estimator: Any, name: str) -> bool:
    value = getattr(estimator, name, None)
    return value is not None and getattr(value, "ndim", 0) == 1


def parts_of(estimator: Any, depth: int = 0) -> Iterator[Any]:
    """The estimator and those within it that see the same features."""
    import numpy

    yield estimator
    if depth > 5:
        return
    for name, value in vars(estimator).items() if hasattr(estimator, "__dict__") else ():
        if not name.endswith("_") and name not in ("_predictors", "estimator"):
            continue
        yield from _within(value, depth, numpy)


def _within(value: Any, depth: int, numpy: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _within(each, depth, numpy)
    elif isinstance(value, numpy.ndarray) and value.dtype == object:
        for each in value.ravel():
            yield from _within(each, depth, numpy)
    elif hasattr(value, "get_params") or hasattr(value, "nodes"):
        yield from parts_of(value, depth + 1)


def tree_of(part: Any) -> Tree | None:
    """The splits of a tree of scikit-learn; its leaves are left out."""
    if hasattr(part, "tree_"):
        tree = part.tree_
        rows = zip(tree.feature, tree.threshold, tree.children_left, tree.children_right, strict=True)
        nodes = [_node(left == -1, feature, value, left, right, True) for feature, value, left, right in rows]
        return Tree(nodes=nodes, target=0)
    nodes_of = getattr(part, "nodes", None)
    if nodes_of is not None and getattr(nodes_of.dtype, "names", None) and "num_threshold" in nodes_of.dtype.names:
        names = ("is_leaf", "feature_idx", "num_threshold", "left", "right", "missing_go_to_left")
        rows = [tuple(node[name] for name in names) for node in nodes_of]
        return Tree(nodes=[_node(*row) for row in rows], target=0)
    return None


def _node(is_leaf: Any, feature: Any, value: Any, left: Any, right: Any, is_missing_left: Any) -> Split | Leaf:
    if is_leaf:
        return Leaf(values=())
    return Split(
        feature=int(feature),
        value=float(value),
        is_equal_left=True,
        left=int(left),
        right=int(right),
        is_missing_left=bool(is_missing_left),
    )
