"""Parts of a package as a bill of materials names them."""

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, kw_only=True)
class Component:
    """A package, or a library that it contains or depends on."""

    name: str
    group: str = ""
    """Maven group, or npm scope with its `@`"""
    version: str = ""
    """empty where the app chooses it"""
    purl: str = ""
    """package URL; empty where no registry's name is known"""
    license: str = ""
    """SPDX expression; empty if unknown"""
    about: str = ""
    """a sentence, if the name alone is not clear"""
    sha256: str = ""
    """of the file that is in the package or is downloaded; empty if unknown"""
    address: str = ""
    """where the file is downloaded from"""
    allowed: str = ""
    """versions that an app may bring, as a range"""
    is_optional: bool = False
    """whether apps can do without it"""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A target's package, and the libraries that it contains or depends on."""

    package: Component
    libraries: tuple[Component, ...]


def purl(kind: str, name: str, version: str = "", *, namespace: str = "", **qualifiers: str) -> str:
    """Package URL: `pkg:maven/com.example/vision@1.0.0?type=aar`. Empty qualifiers are left out.

    https://github.com/package-url/purl-spec
    """
    path = "/".join(quote(part, safe="") for part in (*namespace.split("/"), name) if part)
    end = f"@{quote(version, safe=':')}" if version else ""
    given = "&".join(f"{key}={quote(value, safe=':/')}" for key, value in sorted(qualifiers.items()) if value)
    return f"pkg:{kind}/{path}{end}" + (f"?{given}" if given else "")


def generic(name: str, version: str, terms: str, *, about: str = "", allowed: str = "") -> Component:
    """A package that is in no registry."""
    link = purl("generic", name, version)
    return Component(name=name, version=version, purl=link, license=terms, about=about, allowed=allowed)


def own_runtime(version: str, terms: str, *, sha256: str = "", platform: str = "") -> Component:
    """An ONNX Runtime of the user's own, which no registry has."""
    return Component(
        name="onnxruntime",
        version=version,
        purl=purl("generic", "onnxruntime", version, checksum=f"sha256:{sha256}" if sha256 else "", platform=platform),
        license=terms,
        about="ONNX Runtime, a build of the project's own",
        sha256=sha256,
    )


def maven(notation: str, terms: str, *, kind: str = "", allowed: str = "", sha256: str = "") -> Component:
    """The library with the coordinates `group:artifact:version`; `kind` is `aar`, or empty for a jar."""
    group, name, version = notation.split(":")
    return Component(
        name=name,
        group=group,
        version=version,
        purl=purl("maven", name, version, namespace=group, type=kind),
        license=terms,
        allowed=allowed,
        sha256=sha256,
    )


def pypi(name: str, version: str, terms: str, *, about: str = "", allowed: str = "") -> Component:
    """The distribution `name` on PyPI."""
    link = purl("pypi", name.lower().replace("_", "-"), version)
    return Component(name=name, version=version, purl=link, license=terms, about=about, allowed=allowed)


def npm(
    name: str,
    version: str,
    terms: str,
    *,
    about: str = "",
    allowed: str = "",
    sha256: str = "",
    is_optional: bool = False,
) -> Component:
    """The npm package `name`, which may have a scope."""
    scope, _, rest = name.rpartition("/")
    return Component(
        name=rest,
        group=scope,
        version=version,
        purl=purl("npm", rest, version, namespace=scope),
        license=terms,
        about=about,
        sha256=sha256,
        allowed=allowed,
        is_optional=is_optional,
    )
