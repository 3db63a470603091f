"""Features of a fitted estimator of scikit-learn: its columns, and rows that look like those it was fitted on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError
from packager.importers import trees
from packager.importers.trees import FEATURES, Ensemble, Leaf, Tree, TreeSplit

if TYPE_CHECKING:
    import numpy

ROWS_OF = ("_fit_X", "support_vectors_", "cluster_centers_", "theta_", "X_train_", "means_", "X_fit_", "components_")
"""attributes with rows like those of the training"""


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
        if any(dtype_of(found) == "str" for found in categories.values()):
            raise ConfigError(
                f"{text}: columns of texts and numbers without names", hint="fit it on a pandas DataFrame, by column"
            )
        return ()
    return tuple(
        Column(name=str(name), dtype=dtype_of(categories.get(at, ())), categories=tuple(categories.get(at, ())))
        for at, name in enumerate(names)
    )


def dtype_of(categories: Sequence[Any]) -> str:
    """`str`, `int64` or `float32`: that of an input that takes these categories."""
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
        found: dict[int, tuple[float, float]] = {}
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
        return Tree(nodes=[_node(*(node[name] for name in names)) for node in nodes_of], target=0)
    return None


def _node(is_leaf: Any, feature: Any, value: Any, left: Any, right: Any, is_missing_left: Any) -> TreeSplit | Leaf:
    if is_leaf:
        return Leaf(values=())
    return TreeSplit(
        feature=int(feature),
        value=float(value),
        is_equal_left=True,
        left=int(left),
        right=int(right),
        is_missing_left=bool(is_missing_left),
    )
