"""Models of tables for the tests of `mobpack import`: trained with fixed seeds, saved and imported in one process of
their environment.

`python -m tests.toolchain.tabular_models FOLDER` is that process.
"""

import sys
from pathlib import Path
from typing import Any

from tests.toolchain.importing import write_answers

SOURCES = """
classes.ubj sets.json early.json ranked.ubj dart.ubj linear.json cut.ubj
classes.txt sets.txt zeros.txt cut.txt linear.txt
classes.cbm grown.cbm nan.cbm categories.cbm cut.cbm
forest.joblib columns.joblib support.pkl histogram.joblib linear.skops
vote.joblib old_opset.joblib clusters.joblib
trees.skops code.skops unfitted.joblib dict.joblib
""".split()
"""Files that `save_all` writes."""


class Data:
    """A table with six columns, some values missing, and what to learn of it."""

    def __init__(self) -> None:
        import numpy
        from sklearn.datasets import make_classification

        numbers = numpy.random.default_rng(0)
        table, self.classes = make_classification(500, 6, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
        self.whole = table.astype(numpy.float32)
        self.missing = self.whole.copy()
        self.missing[::7, 1] = numpy.nan
        self.sets = self.whole.copy()
        self.sets[:, 4] = numbers.integers(0, 40, 500)
        self.sets[:, 5] = numbers.integers(0, 12, 500)
        self.target = self.whole[:, 0] * 3 + self.whole[:, 1] ** 2
        self.by_sets = self.target + self.sets[:, 5] % 3 * 4 - self.sets[:, 4] % 7
        self.names = numpy.array(["ant", "bee", "cat"])[self.classes]


def save_all(folder: Path) -> None:
    """Writes SOURCES."""
    data = Data()
    _xgboost(folder, data)
    _lightgbm(folder, data)
    _catboost(folder, data)
    _sklearn(folder, data)
    for name in ("cut.ubj", "cut.txt", "cut.cbm"):
        whole = (folder / name.replace("cut", "classes")).read_bytes()
        (folder / name).write_bytes(whole[: len(whole) // 2])


def _xgboost(folder: Path, data: Data) -> None:
    import xgboost

    def save(name: str, table: Any, target: Any, rounds: int = 12, kinds: Any = None, **options: Any) -> None:
        matrix = xgboost.DMatrix(table, target, feature_types=kinds, enable_categorical=True)
        settings: dict[str, Any] = {}
        if options["objective"].startswith("rank"):
            matrix.set_group([20] * 25)
        if options.pop("is_early", False):
            other = xgboost.DMatrix(data.missing[:50] + 1, data.target[:50][::-1].copy())
            settings = {"evals": [(other, "other")], "early_stopping_rounds": 2, "verbose_eval": False}
        parameters = {"max_depth": 4, "seed": 0, "nthread": 1, **options}
        xgboost.train(parameters, matrix, rounds, **settings).save_model(folder / name)

    save("classes.ubj", data.missing, data.classes, objective="multi:softprob", num_class=3, num_parallel_tree=2)
    save("sets.json", data.sets, data.by_sets, objective="reg:squarederror", kinds=["q"] * 4 + ["c"] * 2)
    save("early.json", data.missing, data.target, rounds=60, objective="reg:squarederror", is_early=True)
    save("ranked.ubj", data.missing, data.classes > 0, objective="rank:ndcg")
    save("dart.ubj", data.missing, data.classes > 0, objective="reg:logistic", booster="dart", rate_drop=0.3)
    save("linear.json", data.whole, data.target, objective="reg:squarederror", booster="gblinear")


def _lightgbm(folder: Path, data: Data) -> None:
    import lightgbm
    import numpy

    def save(name: str, table: Any, target: Any, sets: Any = "auto", **options: Any) -> None:
        parameters = {"num_leaves": 15, "verbosity": -1, "num_threads": 1, "seed": 0, **options}
        booster = lightgbm.train(parameters, lightgbm.Dataset(table, target, categorical_feature=sets), 12)
        booster.save_model(folder / name)

    zeros = numpy.where(abs(data.whole) < 0.6, 0, data.whole)
    save("classes.txt", data.missing, data.classes, objective="multiclass", num_class=3)
    save("sets.txt", data.sets, data.by_sets, sets=[4, 5], objective="regression")
    save("zeros.txt", zeros, data.classes > 0, objective="binary", zero_as_missing=True, sigmoid=2.0)
    save("linear.txt", data.whole, data.target, objective="regression", linear_tree=True)


def _catboost(folder: Path, data: Data) -> None:
    import catboost
    import pandas

    options = {"iterations": 10, "depth": 4, "verbose": 0, "allow_writing_files": False}
    options |= {"thread_count": 1, "random_seed": 0}
    classifier, regressor = catboost.CatBoostClassifier, catboost.CatBoostRegressor
    classifier(**options).fit(data.missing, data.names).save_model(str(folder / "classes.cbm"))
    grown = regressor(grow_policy="Lossguide", loss_function="Poisson", **options)
    grown.fit(data.missing, abs(data.target)).save_model(str(folder / "grown.cbm"))
    regressor(nan_mode="Max", **options).fit(data.missing, data.target).save_model(str(folder / "nan.cbm"))
    frame = pandas.DataFrame({"number": data.whole[:, 0], "name": data.names})
    with_names = regressor(cat_features=["name"], **options).fit(frame, data.target)
    with_names.save_model(str(folder / "categories.cbm"))


def _sklearn(folder: Path, data: Data) -> None:
    import joblib
    import numpy
    import pandas
    import skops.io
    from sklearn.cluster import DBSCAN
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import (
        GradientBoostingRegressor,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        VotingClassifier,
    )
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
    from sklearn.svm import SVC, NuSVR

    frame = pandas.DataFrame(data.whole[:, :3], columns=["height", "width", "weight"])
    frame["animal"], frame["legs"] = data.names, 2 * (data.classes + 1)
    columns = make_column_transformer(
        (StandardScaler(), ["height", "width"]),
        (OneHotEncoder(handle_unknown="ignore"), ["animal", "legs"]),
        remainder="passthrough",
    )
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0)).fit(data.whole, data.names)
    joblib.dump(forest, folder / "forest.joblib")
    joblib.dump(
        make_pipeline(columns, LogisticRegression(max_iter=300)).fit(frame, data.names), folder / "columns.joblib"
    )
    joblib.dump(
        make_pipeline(StandardScaler(), SVC()).fit(data.whole, (data.classes > 0).astype(int)), folder / "support.pkl"
    )
    histogram = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(data.missing, data.classes)
    joblib.dump(histogram, folder / "histogram.joblib")
    regression = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(data.whole, data.target)
    skops.io.dump(regression, folder / "trees.skops")
    skops.io.dump(make_pipeline(StandardScaler(), Ridge()).fit(data.whole, data.target), folder / "linear.skops")
    code = make_pipeline(FunctionTransformer(numpy.lib.scimath.sqrt), Ridge())
    skops.io.dump(code.fit(abs(data.whole), data.target), folder / "code.skops")
    lines = [(name, LogisticRegression(C=share, max_iter=300)) for name, share in (("one", 1.0), ("two", 0.1))]
    joblib.dump(VotingClassifier(lines).fit(data.whole, data.names), folder / "vote.joblib")
    joblib.dump(NuSVR().fit(data.whole, data.target), folder / "old_opset.joblib")
    joblib.dump(DBSCAN().fit(data.whole), folder / "clusters.joblib")
    joblib.dump(Ridge(), folder / "unfitted.joblib")
    joblib.dump({"a": 1}, folder / "dict.joblib")


if __name__ == "__main__":
    save_all(Path(sys.argv[1]))
    write_answers(Path(sys.argv[1]), SOURCES)
