"""Judges releases by a policy: where they come from, and their licences."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packager.config.policy import UNSIGNED, Policy
from packager.core import licenses, parsing, user_files
from packager.core.errors import ConfigError, GateError
from packager.core.parsing import Json
from packager.distribution.provenance.statement import FILE_NAME, MAX_BYTES, PREDICATE_TYPE
from packager.distribution.release import MANIFEST
from packager.distribution.release.checking import Trust
from packager.distribution.release.contents import AGAIN, files_in
from packager.files.hashes import sha256_of
from packager.signing.envelope import MAX_BUNDLE_BYTES, parsed
from packager.signing.statements import statement_in

BILLS = ".cdx.json"
"""end of the names of bills of materials beside packages"""
REVISION = re.compile(r"@.*|\.git$|/$")


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The parts of a provenance that a policy is about."""

    path: str
    builder: str
    level: int
    sources: Mapping[str, str]
    """address of a repository -> commit"""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A release that meets a policy."""

    origin: Origin | None
    """the provenance that the policy accepts; None if it demands none"""
    licenses: Mapping[str, str]
    """package or model -> SPDX expression; empty if the policy demands none"""


def judge(release: Path, policy: Policy, trust: Trust | None, more: Sequence[Path] = ()) -> Judged:
    """Whether a verified release meets the policy. `more` are provenances of build services, in Sigstore bundles that
    `trust` must accept.

    Raises GateError that lists every demand that is not met.
    """
    missed: list[str] = []
    found = dict(_licenses(release)) if policy.licenses else {}
    allowed = set(policy.licenses)
    for name, expression in found.items():
        if not licenses.satisfied(expression, allowed):
            missed.append(f"{name} has the licence {expression}" if expression else f"{name} has no licence")
    origins = [*_own(release, policy, trust), *(_given(path, release, policy, trust) for path in more)]
    accepted = next((each for each in origins if not list(_unmet(each, policy))), None)
    if policy.demands_provenance and accepted is None:
        missed += [f"{each.path}: {reason}" for each in origins for reason in _unmet(each, policy)]
        missed += [] if origins else [f"it has no {FILE_NAME}, and none was given with --provenance"]
    if missed:
        raise GateError(
            f"{release} does not meet the policy: {'; '.join(missed)}",
            hint="take another release, or have the policy changed by whoever answers for it",
        )
    return Judged(origin=accepted if policy.demands_provenance else None, licenses=found)


def _unmet(origin: Origin, policy: Policy) -> Iterator[str]:
    """The demands on provenance that `origin` does not meet, in words."""
    if policy.builders and origin.builder not in policy.builders:
        yield f"it was built by {origin.builder}, which is none of the builders"
    if origin.level < policy.level:
        yield f"it reaches SLSA build level {origin.level}, and {policy.level} is demanded"
    wanted = _repository(policy.source)
    if wanted and wanted not in origin.sources:
        named = ", ".join(sorted(origin.sources)) or "no repository"
        yield f"it names {named} as source, not {wanted}"
    commits = [commit for name, commit in origin.sources.items() if not wanted or name == wanted]
    if policy.commit and policy.commit not in commits:
        yield f"it names {', '.join(commits) or 'no commit'}, not the commit {policy.commit}"


def _own(release: Path, policy: Policy, trust: Trust | None) -> Iterator[Origin]:
    """The release's own statement, whose signature was verified with the release."""
    path = release / FILE_NAME
    if path.exists():
        document = _read(path.name, user_files.read(path, limit_bytes=MAX_BYTES))
        yield _origin(path.name, document, release, policy, is_signed=trust is not None)


def _given(path: Path, release: Path, policy: Policy, trust: Trust | None) -> Origin:
    if trust is None:
        raise ConfigError(f"{path}: only a signature makes it a proof", hint="name in the policy who must have signed")
    try:
        bundle = parsed(user_files.read(path, limit_bytes=MAX_BUNDLE_BYTES), str(path))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}", hint="give the bundle of the provenance") from error
    trust(bundle, str(path))
    return _origin(str(path), statement_in(bundle, PREDICATE_TYPE, str(path)), release, policy, is_signed=True)


def _read(name: str, content: bytes) -> Json:
    try:
        found: Json = parsing.json_of(content)
    except (ValueError, RecursionError) as error:
        raise GateError(f"{name} is not JSON: {error}", hint=AGAIN) from error
    return found


def _origin(name: str, document: Json, release: Path, policy: Policy, *, is_signed: bool) -> Origin:
    """Raises GateError for a statement about other files, or of another form."""
    try:
        subjects = {each["digest"].get("sha256") for each in document["subject"]}
        definition, run = document["predicate"]["buildDefinition"], document["predicate"]["runDetails"]
        builder = str(run["builder"]["id"])
        dependencies = [each for each in definition.get("resolvedDependencies", ()) if "uri" in each]
        sources = {_repository(str(each["uri"])): _commit(each) for each in dependencies if _commit(each)}
    except (KeyError, TypeError, AttributeError) as error:
        raise GateError(f"{name} is no provenance of SLSA, version 1: {error}", hint=AGAIN) from error
    if sha256_of(release / MANIFEST) not in subjects:
        raise GateError(f"{name} is not about {release / MANIFEST}", hint="give the provenance of this release")
    level = policy.builders.get(builder, UNSIGNED if not policy.builders else 0)
    return Origin(path=name, builder=builder, level=level if is_signed else min(level, UNSIGNED), sources=sources)


def _commit(dependency: Json) -> str:
    digest = dependency.get("digest", {})
    return str(digest.get("gitCommit") or digest.get("sha1") or "")


def _repository(address: str) -> str:
    """An address without `git+`, the revision and `.git`: `git+https://example.com/a.git@main` is
    `https://example.com/a`."""
    return REVISION.sub("", REVISION.sub("", address.removeprefix("git+")))


def _licenses(release: Path) -> Iterator[tuple[str, str]]:
    """The licences of the package and of every model that a bill of materials lists."""
    package = _read(MANIFEST, user_files.read(release / MANIFEST, limit_bytes=MAX_BYTES))["package"]
    yield str(package["name"]), str(package.get("license", ""))
    for name in files_in(release):
        if name.endswith(BILLS):
            bill = _read(name, user_files.read(release / name, limit_bytes=MAX_BYTES))
            for each in bill.get("components", ()):
                if each.get("type") == "machine-learning-model":
                    yield f"the model {each['name']}", _expression(each)


def _expression(component: Mapping[str, Any]) -> str:
    """The licences of a component as one SPDX expression; empty for none."""
    found = [each.get("expression") or each["license"].get("id", "") for each in component.get("licenses", ())]
    return " AND ".join(f"({each})" if " " in each else each for each in found)
