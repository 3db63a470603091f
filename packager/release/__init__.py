"""What a release looks like on disk: layouts, manifest, and the step that puts it in place."""

from packager.release.layouts import described, layout
from packager.release.manifest import Shipped, manifest
from packager.release.publish import MANIFEST, staged

__all__ = ["MANIFEST", "Shipped", "described", "layout", "manifest", "staged"]
