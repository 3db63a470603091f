"""Settings that are worth a measurement."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packager.providers import CPU, provider_of

THREADS = (0, 1, 2, 4)
"""0 is the package's own choice: as many as there are fast cores, four at most"""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One way to run a model."""

    package: str
    """the package that ships it: others have other variants"""
    provider: str
    threads: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    """of the provider, under ONNX Runtime's names"""

    @property
    def name(self) -> str:
        """`xnnpack, 2 threads, key=value`"""
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}" if self.threads else ""
        options = (f"{key}={value}" for key, value in sorted(self.options.items()))
        return ", ".join(filter(None, (self.provider, threads, *options)))

    @property
    def key(self) -> str:
        """Names it in a journal."""
        return f"{self.package}: {self.name}"


def candidates(package: str, providers: Sequence[str], most: int) -> tuple[Candidate, ...]:
    """At most `most` candidates for a package with `providers`, those first that promise most: each provider as it is,
    then numbers of threads, then the options that a provider names as worth a trial, one at a time."""
    names = [*dict.fromkeys((*providers, CPU.NAME))]
    found = [*shipped(package, names), *_threads(package, names), *_options(package, names)]
    return tuple(found[:most])


def shipped(package: str, providers: Sequence[str]) -> tuple[Candidate, ...]:
    """Each provider as it is, in the order of `providers`; the CPU is last. Without settings, a package runs with the
    first that starts."""
    return tuple(Candidate(package=package, provider=each) for each in dict.fromkeys((*providers, CPU.NAME)))


def _threads(package: str, providers: Sequence[str]) -> Iterator[Candidate]:
    for threads in THREADS[1:]:
        for provider in providers:
            yield Candidate(package=package, provider=provider, threads=threads)


def _options(package: str, providers: Sequence[str]) -> Iterator[Candidate]:
    for provider in providers:
        found = provider_of(provider)
        usual = found.options()
        for key, values in found.TUNES.items():
            for value in values:
                if usual.get(key) != value:
                    yield Candidate(package=package, provider=provider, options={key: value})
