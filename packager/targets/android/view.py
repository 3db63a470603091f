"""View of a whole Android package."""

from dataclasses import dataclass

from packager.targets.kotlin.view import KotlinView
from packager.targets.target import PackagedRuntime


@dataclass(frozen=True, kw_only=True)
class AndroidView(KotlinView):
    own: PackagedRuntime | None
    """the runtime that replaces the published one"""
    min_sdk: int
    providers: tuple[str, ...]
    abis: tuple[str, ...]
    """Android's names of the processors that it has code for"""
    is_built_by_gradle: bool
