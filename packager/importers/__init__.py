"""Models of other frameworks, read by the frameworks themselves. To add one: a file, a lock and a line here."""

from packager.environments.framework import Framework
from packager.importers.importer import Arrays, Converted, Importer, Input, Loaded, Source
from packager.importers.keras import Keras
from packager.importers.onnx import Onnx
from packager.importers.saved_model import SavedModel
from packager.importers.tflite import TfLite

IMPORTERS: dict[str, type[Importer]] = {each.NAME: each for each in (Keras, Onnx, SavedModel, TfLite)}

FRAMEWORKS: dict[str, Framework] = {
    each.ENVIRONMENT.name: each.ENVIRONMENT for each in IMPORTERS.values() if each.ENVIRONMENT
}
"""Their environments; several importers may share one."""

__all__ = ["FRAMEWORKS", "IMPORTERS", "Arrays", "Converted", "Framework", "Importer", "Input", "Loaded", "Source"]
