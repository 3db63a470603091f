"""Partials of providers: templates for what a single provider adds to a file of a package."""

from collections.abc import Sequence

from packager.files.installed import templates_folder

MANIFEST = "android/_providers/{}.manifest.xml.j2"
"""A provider's part of AndroidManifest.xml, in every package for Android."""


def with_partial(providers: Sequence[str], pattern: str) -> tuple[str, ...]:
    """Names of `providers` for which there is a template: `pattern` is its path, `{}` the provider's name."""
    return tuple(name for name in providers if (templates_folder() / pattern.format(name)).is_file())
