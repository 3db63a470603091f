"""Views of the templates of Node packages: all decisions are made here; templates only lay out the values."""

from dataclasses import dataclass

from packager.core.values import Package
from packager.providers.provider import Described
from packager.targets.signed_list import TrustView
from packager.targets.typescript.typed_view import ExportView
from packager.targets.typescript.view import License, ModelView, PipelineFileView, PlacedFile, PlatformProvidersView


@dataclass(frozen=True, kw_only=True)
class NamesView:
    """Names and values of a package, for all files but those of single models."""

    npm_name: str
    version: str
    description: str
    license: str
    """licence for package.json"""
    trust: TrustView | None
    """always None: its files are compared with the hashes in its code"""
    npm_registry: str
    """where `npm publish` sends the package; empty for npm's own registry"""
    tarball: str
    """name of its file"""
    runtime: str
    """npm package of ONNX Runtime"""
    runtime_version: str
    has_self_test: bool
    has_pictures: bool
    """whether a model takes pictures"""
    has_sounds: bool
    """whether a model takes recordings"""
    has_hooks: bool
    """always False: nothing here is for React"""
    all_providers: tuple[type[Described], ...]
    platforms: tuple[PlatformProvidersView, ...]
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelineFileView, ...]
    exports: tuple[ExportView, ...]
    """files for contracts; empty without any"""


@dataclass(frozen=True, kw_only=True)
class NodeView:
    """View of a whole package."""

    package: Package
    names: NamesView
    files: tuple[PlacedFile, ...]
    licenses: tuple[License, ...]
