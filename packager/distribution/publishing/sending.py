"""Sends what is planned: looks at everything first, sends what is missing, and can be run again after any failure."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from packager.core.errors import GateError, MobpackError, ToolError
from packager.core.names import EXAMPLE_GROUP
from packager.core.to_json import plain
from packager.distribution.publishing.addresses import host_of
from packager.distribution.publishing.http import patiently, wait
from packager.distribution.publishing.registry import (
    ConflictError,
    PublishingSession,
    Registry,
    RegistryOutcome,
    RegistryRequest,
    State,
    TransientError,
)
from packager.distribution.publishing.release import read

ATTEMPTED_CONFLICTS = 3
Deliveries = tuple[tuple[Registry, RegistryRequest], ...]


def publish(
    dist: Path, registries: Sequence[Registry], session: PublishingSession, *, is_dry: bool
) -> tuple[RegistryOutcome, ...]:
    """Publishes the release in `dist`, and returns each request with its result, in their order.

    A dry run asks and sends nothing. Raises ConfigError if the release lacks something that a registry requires and
    GateError if a registry has other bytes, both before anything is sent; ToolError if a registry fails. What failed
    midway is continued by the same call: it sends what is missing.
    """
    release = read(dist)
    with tempfile.TemporaryDirectory() as scratch:
        planned: list[tuple[Registry, RegistryRequest]] = []
        for number, registry in enumerate(registries):
            folder = Path(scratch, str(number))
            folder.mkdir()
            planned += [(registry, request) for request in registry.plan(release, folder)]
        if is_dry:
            return tuple(RegistryOutcome(request=request, result="planned") for _, request in planned)
        return deliver(tuple(planned), session)


def remarks(outcomes: Sequence[RegistryOutcome]) -> Iterator[str]:
    """A warning for libraries in the group of examples."""
    place = f"/{EXAMPLE_GROUP.replace('.', '/')}/"
    if any(place in f"/{name}" for each in outcomes for name in (each.request.file, *each.request.parts)):
        yield (
            f"the group {EXAMPLE_GROUP} is for examples and belongs to nobody: name your own before anybody depends on "
            'it: group = "com.your-domain" in [target.android]'
        )


def deliver(planned: Deliveries, session: PublishingSession) -> tuple[RegistryOutcome, ...]:
    """Asks for the state of all requests, then sends those whose content is missing."""
    states = [_state(registry, request, session) for registry, request in planned]
    _refuse_others([request for (_, request), state in zip(planned, states, strict=True) if state is State.OTHER])
    outcomes: list[RegistryOutcome] = []
    with _progress_in_errors([request for _, request in planned], outcomes, session):
        for (registry, request), state in zip(planned, states, strict=True):
            if state is State.SAME:
                outcomes.append(RegistryOutcome(request=request, result="already there"))
            else:
                words = _sent(registry, request, session)
                outcomes.append(RegistryOutcome(request=request, result="sent", words=words))
    return tuple(outcomes)


def document(outcomes: Sequence[RegistryOutcome]) -> list[dict[str, object]]:
    """The outcomes for JSON, without the content of requests."""
    found = []
    for outcome in outcomes:
        entry = plain(outcome.request)
        for inner in ("content", "version"):
            del entry[inner]
        found.append({**entry, "result": outcome.result, "words": outcome.words})
    return found


def _state(registry: Registry, request: RegistryRequest, session: PublishingSession) -> State:
    return patiently(lambda: registry.state(request, session), session)


def _refuse_others(others: Sequence[RegistryRequest]) -> None:
    if others:
        more = f", and {len(others) - 1} more" if len(others) > 1 else ""
        raise GateError(
            f"{others[0].address} is there with other bytes{more}: a published version does not change",
            hint="raise version in [package] and build again; nothing was sent",
        )


def _sent(registry: Registry, request: RegistryRequest, session: PublishingSession) -> str:
    """Sends one request, after a failed attempt only if its content is still missing."""
    attempt, conflicts = 0, 0
    while True:
        try:
            return registry.send(request, session)
        except TransientError as error:
            wait(error, attempt, session)
            attempt += 1
        except ConflictError as error:
            conflicts += 1
            if conflicts == ATTEMPTED_CONFLICTS:
                raise _conflict(request, error) from error
        state = _state(registry, request, session)
        if state is State.SAME:
            return ""
        _refuse_others([request] if state is State.OTHER else [])
        if conflicts:
            session.sleep(conflicts)


def _conflict(request: RegistryRequest, error: ConflictError) -> ToolError:
    return ToolError(
        f"{host_of(request.address) or request.address} says that {request.file} is there (409), but does not show it: "
        f"{error}",
        hint="somebody else may be publishing this version, or it was deleted: look there, then run the same command "
        "again, or raise version in [package]",
    )


@contextmanager
def _progress_in_errors(
    requests: Sequence[RegistryRequest], outcomes: list[RegistryOutcome], session: PublishingSession
) -> Iterator[None]:
    """Adds to errors what is done and what is not."""
    try:
        yield
    except KeyboardInterrupt:
        session.say(f"{len(outcomes)} of {len(requests)} requests are done; run the same command again: it continues")
        raise
    except MobpackError as error:
        rest = [RegistryOutcome(request=each, result="not sent") for each in requests[len(outcomes) :]]
        error.message = f"{error.message} ({len(outcomes)} of {len(requests)} requests are done)"
        error.args = (error.message,)
        error.document = {"requests": document([*outcomes, *rest])}
        raise
