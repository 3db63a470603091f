"""mobpack.toml, typed and strict: the file, `--set` and defaults become one frozen Config.

`tables.py` says what the file may contain, `loading.py` how it is read, `mistakes.py` what the errors say.
"""

from packager.config.cache import CacheTable
from packager.config.checks import CheckTable, ParityTable, ToleranceTable
from packager.config.loading import apply_setting, for_model, from_document, keys_of, load, quantizer_names, recipe
from packager.config.pipelines import PipelineTable
from packager.config.runtime import COORDINATES, RuntimeTable
from packager.config.tables import FILE_NAME, SOURCE, Config, ImporterTable, ModelTable, PackageTable, TargetTable

__all__ = [
    "COORDINATES",
    "FILE_NAME",
    "SOURCE",
    "CacheTable",
    "CheckTable",
    "Config",
    "ImporterTable",
    "ModelTable",
    "PackageTable",
    "ParityTable",
    "PipelineTable",
    "RuntimeTable",
    "TargetTable",
    "ToleranceTable",
    "apply_setting",
    "for_model",
    "from_document",
    "keys_of",
    "load",
    "quantizer_names",
    "recipe",
]
