"""Views of the templates of web packages: all decisions are made here; templates only lay out the values."""

from dataclasses import dataclass
from pathlib import Path

from packager.core.values import Package
from packager.providers import Provider
from packager.targets.delivery import DeliveryView
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
    """what files are verified with; None for a package that opens them unsigned"""
    delivery: DeliveryView | None
    """the channel of the models; None for a package without one"""
    runtime: str
    """ONNX Runtime as documents of channels name it"""
    npm_registry: str
    """where `npm publish` sends the package; empty for npm's own registry"""
    tarball: str
    """name of its file"""
    runtime_version: str
    """version of ONNX Runtime"""
    script: str
    """name of ONNX Runtime's JavaScript"""
    binary: str
    """name of ONNX Runtime's WebAssembly"""
    binary_sha256: str
    binary_bytes: int
    has_self_test: bool
    has_pictures: bool
    """whether a model takes pictures"""
    has_sounds: bool
    """whether a model takes recordings"""
    has_hooks: bool
    """whether models have hooks for React in their own modules"""
    all_providers: tuple[type[Provider], ...]
    platforms: tuple[PlatformProvidersView, ...]
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelineFileView, ...]
    exports: tuple[ExportView, ...]
    """files for contracts; empty without any"""


@dataclass(frozen=True, kw_only=True)
class WebView:
    """View of a whole package."""

    package: Package
    names: NamesView
    files: tuple[PlacedFile, ...]
    licenses: tuple[License, ...]
    script: Path
    binary: Path
