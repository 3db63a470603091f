"""sklearn, skops: models of scikit-learn, pickled or saved with skops, through skl2onnx."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from packager.core.errors import ModelError
from packager.engines.environments.framework import Framework
from packager.importers import trees
from packager.importers.importer import Arrays, Converted, ImportSource, Input
from packager.importers.sklearn_features import (
    Column,
    columns_of,
    dtype_of,
    numeric_rows,
    parts_of,
    spreads_of,
    steps_of,
)
from packager.importers.sklearn_onnx import ML_OPSET, OPSET, finish, plain_attributes
from packager.importers.trees import FEATURES

if TYPE_CHECKING:
    import numpy

IR_VERSION = 8
TIE = 1e-4
"""classes whose probabilities are closer are not told apart"""
HINT_PICKLE = "save it again with joblib.dump(model, 'model.joblib'), with the versions of this environment"


@dataclass(frozen=True, kw_only=True)
class Sklearn:
    NAME: ClassVar[str] = "sklearn"
    FRAMEWORK: ClassVar[str] = "scikit-learn"
    SOURCES: ClassVar[str] = "`.joblib`, `.pkl`, `.pickle`"
    ENVIRONMENT: ClassVar[Framework | None] = trees.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = True

    def reads(self, source: ImportSource) -> bool:
        return source.path.suffix in (".joblib", ".pkl", ".pickle")

    def load(self, source: ImportSource) -> "SklearnModel":
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

    def reads(self, source: ImportSource) -> bool:
        return source.path.suffix == ".skops"

    def load(self, source: ImportSource) -> "SklearnModel":
        import skops.io

        if unknown := skops.io.get_untrusted_types(file=source.path):
            raise ModelError(
                f"{source.text} contains types that skops does not trust: {', '.join(unknown)}",
                hint="use classes of scikit-learn alone; or save it with joblib, and allow its code",
            )
        return of(skops.io.load(source.path, trusted=[]), source)


def of(model: Any, source: ImportSource) -> "SklearnModel":
    """Raises ModelError for what is not a fitted model."""
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, dict | list | tuple):
        raise ModelError(
            f"{source.text} holds several objects ({kinds_of(model)}), not one model",
            hint="join what runs after one another, and save that: "
            "joblib.dump(make_pipeline(found['scaler'], found['model']), file)",
        )
    if not isinstance(model, BaseEstimator):
        raise ModelError(
            f"{source.text} holds an object of type {type(model).__name__}, not a model of scikit-learn",
            hint="save the fitted estimator or Pipeline alone; boosters of XGBoost and LightGBM save themselves",
        )
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ModelError(f"{source.text} is not fitted", hint="call model.fit before you save it") from error
    if not hasattr(model, "predict") and not hasattr(model, "transform"):
        raise ModelError(
            f"{source.text}: {type(model).__name__} has neither predict nor transform, and so takes no new inputs",
            hint="save an estimator that does, such as KMeans or PCA",
        )
    if isinstance(getattr(model, "classes_", None), list):
        raise ModelError(
            f"{source.text} has several outputs with classes (a multi-output classifier)",
            hint="save one classifier for each output",
        )
    return SklearnModel(model=model, columns=columns_of(model, source.text))


def kinds_of(found: "dict[Any, Any] | list[Any] | tuple[Any, ...]") -> str:
    """The kinds of the first objects, with their keys."""
    parts = found.items() if isinstance(found, dict) else enumerate(found)
    return ", ".join(f"{key}: {type(part).__name__}" for key, part in islice(parts, 5))


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
        if hasattr(first, "build_analyzer"):
            raise ModelError(
                f"{type(first).__name__} takes texts; models that take tables are imported",
                hint="convert it with skl2onnx, and build the ONNX file",
            )
        if count is None:
            raise ModelError("the model does not say how many features it takes", hint="fit it with scikit-learn 1.0+")
        dtype = dtype_of(getattr(first, "categories_", ()))
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
        """The inputs in the form that the model takes."""
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

        def labelled(name: str, method: str) -> dict[str, str]:
            return {"label": "predict", **({name: method} if method else {})}  # a vote has labels alone

        if is_classifier(self.model):
            second = first_of("predict_proba", "decision_function")
            return labelled("probabilities" if second == "predict_proba" else "scores", second)
        if is_outlier_detector(self.model):
            return labelled("scores", first_of("decision_function"))
        if is_clusterer(self.model) or hasattr(self.model, "weights_init"):
            return labelled("scores", first_of("transform", "predict_proba"))
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
                        options={id(steps_of(self.model)[-1]): each} if each else None,
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
