"""Saves models for `mobpack import`, in their framework's environment: `python -m benchmarks.matrix.saved FAMILY NET
FOLDER`; weights are random or fitted to random data, with fixed seeds."""

import sys
from pathlib import Path
from typing import Any

from benchmarks.matrix.nets import tiny

EDGE = 96
EDGES = {"InceptionResNetV2": 139, "Xception": 139, "InceptionV3": 139, "NASNetMobile": 224}
OPTIONS: dict[str, dict[str, Any]] = {
    "RandomForestClassifier": {"n_estimators": 20},
    "RandomForestRegressor": {"n_estimators": 20},
    "ExtraTreesClassifier": {"n_estimators": 20},
    "QuantileTransformer": {"n_quantiles": 50},
    "GaussianMixture": {"n_components": 3},
    "KMeans": {"n_clusters": 4},
    "MiniBatchKMeans": {"n_clusters": 4},
}


def main() -> None:
    family, net, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    savers = {"transformers": transformers, "keras": keras, "scikit-learn": scikit_learn, "boosters": booster}
    print(savers[family](net, folder))


def transformers(net: str, folder: Path) -> Path:
    import torch
    from transformers import CONFIG_MAPPING, MODEL_MAPPING
    from transformers.models import auto

    torch.manual_seed(0)
    kind = CONFIG_MAPPING[net]
    config = tiny(kind, net)
    mappings = (
        auto.modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING,
        auto.modeling_auto.MODEL_FOR_OBJECT_DETECTION_MAPPING,
        auto.modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
        auto.modeling_auto.MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING,
        MODEL_MAPPING,
    )
    chosen = next(mapping[kind] for mapping in mappings if kind in mapping)
    model = chosen[0] if isinstance(chosen, tuple) else chosen
    model(config).save_pretrained(folder / "model")
    return folder / "model"


def keras(net: str, folder: Path) -> Path:
    import keras as library

    library.utils.set_random_seed(0)
    edge = EDGES.get(net, EDGE)
    getattr(library.applications, net)(weights=None, input_shape=(edge, edge, 3)).save(folder / "model.keras")
    return folder / "model.keras"


def _data() -> tuple[Any, Any, Any]:
    """A table, classes and numbers to learn."""
    import numpy
    from sklearn.datasets import make_classification

    table, classes = make_classification(400, 8, n_informative=6, n_redundant=0, n_classes=3, random_state=0)
    table = table.astype(numpy.float32)
    return table, classes, table[:, 0] * 3 + table[:, 1] ** 2


def scikit_learn(net: str, folder: Path) -> Path:
    import joblib
    import sklearn
    from sklearn.utils import all_estimators

    table, classes, numbers = _data()
    path = folder / "model.joblib"
    if net == "TfidfVectorizer":
        words = ["a small red fox", "the dog is small", "red birds sing", "a dog and a fox"]
        joblib.dump(sklearn.feature_extraction.text.TfidfVectorizer().fit(words), path)
        return path
    kind = dict(all_estimators())[net]
    options = dict(OPTIONS.get(net, {}))
    base = sklearn.linear_model.LogisticRegression()
    if net in ("VotingClassifier", "StackingClassifier"):
        options["estimators"] = [("line", base), ("tree", sklearn.tree.DecisionTreeClassifier(random_state=0))]
    if net in ("CalibratedClassifierCV", "OneVsRestClassifier"):
        options["estimator"] = base
    made = kind(**options)
    if "random_state" in made.get_params():
        made.set_params(random_state=0)
    target = abs(numbers) if net in ("PoissonRegressor", "TweedieRegressor") else numbers
    joblib.dump(made.fit(table, classes if sklearn.base.is_classifier(made) else target), path)
    return path


def booster(net: str, folder: Path) -> Path:
    table, classes, numbers = _data()
    library, _, task = net.partition("-")
    if library == "xgboost":
        import xgboost

        kinds = {"classifier": xgboost.XGBClassifier, "regressor": xgboost.XGBRegressor, "ranker": xgboost.XGBRanker}
        more = {"group": [20] * 20} if task == "ranker" else {}
        made = kinds[task](n_estimators=20, max_depth=4, n_jobs=1, random_state=0)
        made.fit(table, numbers if task == "regressor" else classes, **more).save_model(folder / "model.ubj")
        return folder / "model.ubj"
    if library == "lightgbm":
        import lightgbm

        kinds = {"classifier": lightgbm.LGBMClassifier, "regressor": lightgbm.LGBMRegressor}
        kinds["ranker"] = lightgbm.LGBMRanker
        more = {"group": [20] * 20} if task == "ranker" else {}
        made = kinds[task](n_estimators=20, n_jobs=1, random_state=0, verbosity=-1)
        fitted = made.fit(table, numbers if task == "regressor" else classes, **more)
        fitted.booster_.save_model(folder / "model.txt")
        return folder / "model.txt"
    import catboost

    kind = catboost.CatBoostClassifier if task == "classifier" else catboost.CatBoostRegressor
    made = kind(iterations=20, depth=4, verbose=0, allow_writing_files=False, thread_count=1, random_seed=0)
    made.fit(table, classes if task == "classifier" else numbers).save_model(str(folder / "model.cbm"))
    return folder / "model.cbm"


if __name__ == "__main__":
    main()
