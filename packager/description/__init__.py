"""Describes the public API of a package in an app's terms: made once, printed as `api.json` in the package."""

from packager.description.api import MethodParameter, MethodResult, ModelApi, PackageApi
from packager.description.describing import describe
from packager.description.document import API, printed, read

__all__ = ["API", "MethodParameter", "MethodResult", "ModelApi", "PackageApi", "describe", "printed", "read"]
