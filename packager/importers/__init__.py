"""Models of other frameworks, read by the frameworks themselves. To add one: a file, a lock and a line here.

Published converters convert them, apart from trees (`trees.py`), and the framework's outputs judge the result, because
converters err. The folder is not part of `models`: importers run in environments that lack what `models` imports.
"""

from packager.engines.environments.framework import Framework
from packager.importers.catboost import CatBoost
from packager.importers.huggingface import HuggingFace
from packager.importers.importer import Arrays, Converted, Drawing, Importer, ImportSource, Input, Loaded
from packager.importers.jax import Jax
from packager.importers.keras import Keras
from packager.importers.lightgbm import LightGBM
from packager.importers.onnx import Onnx
from packager.importers.saved_model import SavedModel
from packager.importers.sklearn import Sklearn, Skops
from packager.importers.tflite import TfLite
from packager.importers.xgboost import XGBoost

IMPORTERS: dict[str, type[Importer]] = {
    each.NAME: each
    for each in (
        CatBoost,
        HuggingFace,
        Jax,
        Keras,
        LightGBM,
        Onnx,
        SavedModel,
        Sklearn,
        Skops,
        TfLite,
        XGBoost,
    )
}

FRAMEWORKS: dict[str, Framework] = {
    each.ENVIRONMENT.name: each.ENVIRONMENT for each in IMPORTERS.values() if each.ENVIRONMENT
}
"""Their environments; several importers may share one."""

__all__ = [
    "FRAMEWORKS",
    "IMPORTERS",
    "Arrays",
    "Converted",
    "Drawing",
    "Framework",
    "ImportSource",
    "Importer",
    "Input",
    "Loaded",
]
