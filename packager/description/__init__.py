"""Describes the public API of a package in an app's terms: made once, printed as `api.json` in the package."""

from packager.core.described import API
from packager.description.api import MethodParameter, MethodResult, ModelApi, PackageApi, PipelineApi, StageApi
from packager.description.describing import describe
from packager.description.document import printed, read
from packager.description.language import Language

__all__ = [
    "API",
    "Language",
    "MethodParameter",
    "MethodResult",
    "ModelApi",
    "PackageApi",
    "PipelineApi",
    "StageApi",
    "describe",
    "printed",
    "read",
]
