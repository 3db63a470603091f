"""Attacks on the metadata of a channel by somebody who controls the server or has stolen a key, and what clients say.

The attacks are those of TUF 1.0, section 1.5.2, and of the conformance suite of The Update Framework.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

from tests.cases.delivery_releases import BUNDLED, CHANNEL, FIRST, MODEL, SECOND
from tests.cases.delivery_server import RELEASES, Forever, dated, releases
from tests.cases.delivery_stage import EXPIRED, FAILS, LOADS, SAME, Scenario, Stage, Visit
from tests.cases.trust_vectors import IN_USE, NEXT, STRANGER, private
from tests.cases.tuf_delegations import GRAPHS
from tests.cases.tuf_repository import Edit, Json, Keys, key_id, nothing, public, signed_by
from tests.toolchain.react_native.download.server import Fault, Handler, cut, status

THIRD = private(int.from_bytes(b"a third key"))
PAST = "2020-01-01T00:00:00Z"
HUGE = 2**31
SIGNED = ("timestamp", "snapshot", "targets")
FAMILY = "family"
"""a role to which targets are delegated"""
OTHERS = "of another channel"
"""end of the names of scenarios that mobpack alone knows: other clients do not read its field"""
MOVED: Mapping[str, Keys] = {role: Keys(keys=(NEXT,)) for role in SIGNED}
Happens = Callable[[Stage], None]


def _given(phase: str = FAILS, version: str = FIRST, /, **how: Any) -> Happens:
    """The channel has another document with these `edits` and `signers`."""

    def happens(stage: Stage) -> None:
        stage.channel.publish(**how)
        stage.update(phase, version)

    return happens


def _edited(role: str, edit: Edit, phase: str = FAILS) -> Happens:
    return _given(phase, FIRST, edits={role: edit})


def _changes(**fields: object) -> Edit:
    return lambda signed: signed.update(fields)


def _answered(role: str, fault: Fault) -> Happens:
    def happens(stage: Stage) -> None:
        channel = stage.channel
        channel.publish()
        channel.on_metadata(role, fault)
        stage.update(FAILS, FIRST)

    return happens


def _without_end(handler: Handler) -> None:
    """More bytes than any metadata may have, and no length."""
    handler.send_response(200)
    handler.end_headers()
    handler.close_connection = True
    while not handler.files.ended.wait(0.01):
        handler.wfile.write(bytes(100_000))


def _elsewhere(signed: Json) -> None:
    signed["mobpack"] = {**signed["mobpack"], "channel": "beta"}


def _each_role(role: str) -> Visit:
    return Visit(
        name=f"{role} metadata that is refused",
        scenarios=(
            Scenario(f"{role}: a stranger's signature", "arbitrary software", _given(signers={role: [STRANGER]})),
            Scenario(f"{role}: no signature", "arbitrary software", _given(signers={role: []})),
            Scenario(f"{role}: a key that the root does not name", "a stolen key", _given(signers={role: [NEXT]})),
            Scenario(f"{role}: an end in the past", "freeze", _edited(role, _changes(expires=PAST), EXPIRED)),
            Scenario(f"{role}: another type", "mix and match", _edited(role, _changes(_type="mirrors"))),
            Scenario(f"{role}: a newer specification", "hostile text", _edited(role, _changes(spec_version="2.0.0"))),
            Scenario(f"{role}: version 0", "rollback", _edited(role, _changes(version=0))),
            Scenario(f"{role}: no version", "hostile text", _edited(role, lambda signed: signed.pop("version"))),
            Scenario(f"{role}: {OTHERS}", "mix and match", _edited(role, _elsewhere)),
            Scenario(f"{role}: not there", "no answer", _answered(role, status(404))),
            Scenario(f"{role}: cut", "cut and wrong lengths", _answered(role, cut(100))),
            Scenario(f"{role}: no end", "endless data", _answered(role, _without_end)),
        ),
        on_pages=False,
    )


def _meta(file: str, **fields: object) -> Edit:
    def edit(signed: Json) -> None:
        signed["meta"][file].update(fields)

    return edit


def _older_file(role: str) -> Happens:
    """The file of a role is one that the device has seen before."""

    def happens(stage: Stage) -> None:
        channel = stage.channel
        channel.publish()
        files = channel.address.files.by_path
        files[channel.metadata(role)] = files[f"/{CHANNEL}/2.{role}.json"]
        stage.update(FAILS, FIRST)

    return happens


def _target(path: str, change: Callable[[Json], object]) -> Edit:
    def edit(signed: Json) -> None:
        change(signed["targets"][path])

    return edit


def _other_releases(content: bytes) -> Happens:
    """The file with the releases is another one, for which the publisher has signed."""

    def happens(stage: Stage) -> None:
        channel = stage.channel

        def edit(signed: Json) -> None:
            signed["targets"][RELEASES] = channel.put_target(RELEASES, content)

        channel.publish(edits={"targets": edit})
        stage.update(FAILS, FIRST)

    return happens


CONTENTS = Visit(
    name="metadata that does not fit together",
    scenarios=(
        Scenario("a snapshot with another version", "mix and match", _edited("snapshot", _changes(version=900))),
        Scenario("targets with another version", "mix and match", _edited("targets", _changes(version=900))),
        Scenario("an older snapshot under the newest name", "mix and match", _older_file("snapshot")),
        Scenario("older targets under the newest name", "mix and match", _older_file("targets")),
        Scenario(
            "a snapshot with another digest",
            "mix and match",
            _edited("timestamp", _meta("snapshot.json", hashes={"sha256": "0" * 64})),
        ),
        Scenario(
            "a snapshot that is too long", "endless data", _edited("timestamp", _meta("snapshot.json", length=10))
        ),
        Scenario("a snapshot that is rolled back", "rollback", _edited("timestamp", _meta("snapshot.json", version=1))),
        Scenario("targets that are rolled back", "rollback", _edited("snapshot", _meta("targets.json", version=1))),
        Scenario("a snapshot without targets", "mix and match", _edited("snapshot", _changes(meta={}))),
        Scenario("a timestamp without a snapshot", "hostile text", _edited("timestamp", _changes(meta={}))),
        Scenario(
            "releases with another digest",
            "arbitrary software",
            _edited("targets", _target(RELEASES, lambda found: found.update(hashes={"sha256": "0" * 64}))),
        ),
        Scenario(
            "releases that are too long",
            "endless data",
            _edited("targets", _target(RELEASES, lambda found: found.update(length=found["length"] - 1))),
        ),
        Scenario(
            "releases that are too short",
            "cut and wrong lengths",
            _edited("targets", _target(RELEASES, lambda found: found.update(length=found["length"] + 1))),
        ),
        Scenario("no releases", "", _edited("targets", _changes(targets={}), SAME)),
    ),
    on_pages=False,
)
TEXTS = Visit(
    name="releases that are no releases",
    scenarios=(
        Scenario("releases that are no JSON", "hostile text", _other_releases(b"{")),
        Scenario("releases of another kind", "hostile text", _other_releases(b"[]")),
        Scenario("deep releases", "hostile text", _other_releases(b"[" * 100_000)),
    ),
    on_pages=False,
)


def _bad_root(
    edit: Edit = nothing, *, signers: Sequence[EllipticCurvePrivateKey] | None = None, keys: Mapping[str, Keys] = MOVED
) -> Happens:
    """A second root that a device refuses; the honest publisher knows nothing of it."""

    def happens(stage: Stage) -> None:
        channel = stage.channel
        roles, roots = dict(channel.repository.roles), list(channel.repository.roots)
        channel.repository.rotate(edit, signers=signers, keys=keys)
        channel.publish(key=NEXT)
        channel.repository.roles, channel.repository.roots = roles, roots
        stage.update(FAILS, FIRST)

    return happens


def _root_answer(fault: Fault) -> Happens:
    def happens(stage: Stage) -> None:
        channel = stage.channel
        channel.publish()
        path = f"/{CHANNEL}/2.root.json"
        channel.address.files.by_path[path] = b"{}"
        channel.address.files.faults_by_path[path] = Forever([fault])
        stage.update(FAILS, FIRST)

    return happens


BAD_ROOTS = Visit(
    name="roots that are refused",
    scenarios=(
        Scenario("a root by a stranger", "arbitrary software", _bad_root(signers=[STRANGER])),
        Scenario("a root without signatures", "arbitrary software", _bad_root(signers=[])),
        Scenario(
            "a root that only its own keys have signed",
            "a stolen key",
            _bad_root(signers=[NEXT], keys={**MOVED, "root": Keys(keys=(NEXT,))}),
        ),
        Scenario(
            "a root that its own keys have not signed",
            "a stolen key",
            _bad_root(signers=[IN_USE], keys={**MOVED, "root": Keys(keys=(NEXT,))}),
        ),
        Scenario("a root that skips a version", "rollback", _bad_root(_changes(version=3))),
        Scenario("a root with the version before", "rollback", _bad_root(_changes(version=1))),
        Scenario("a root of another type", "mix and match", _bad_root(_changes(_type="targets"))),
        Scenario(
            "a root with a threshold of 0", "hostile text", _bad_root(keys={"targets": Keys(keys=(NEXT,), threshold=0)})
        ),
        Scenario("a root without roles", "hostile text", _bad_root(_changes(roles={}))),
        Scenario(f"a root {OTHERS}", "mix and match", _bad_root(_elsewhere)),
        Scenario("a root that is no JSON", "hostile text", _root_answer(lambda handler: handler.answer())),
        Scenario("a server that fails at the root", "no answer", _root_answer(status(500))),
        Scenario("a root without end", "endless data", _root_answer(_without_end)),
    ),
    on_pages=False,
)


def _moved(stage: Stage) -> None:
    """The publisher's keys move; what the ones before sign is worth nothing from then on."""
    channel = stage.channel
    channel.repository.rotate(keys=MOVED)
    channel.publish()
    stage.update(LOADS, SECOND)
    channel.publish(key=IN_USE)
    stage.update(FAILS, SECOND)
    stage.start()
    channel.publish(key=IN_USE)
    stage.update(FAILS, SECOND)


def _revoked_voucher(stage: Stage) -> None:
    """A release that only revoked keys have vouched for is opened no more."""
    channel = stage.channel
    channel.repository.rotate(keys=MOVED)
    channel.publish(lambda document: releases(document).clear())
    stage.update(SAME, FIRST)
    stage.load(BUNDLED)


def _root_moved(stage: Stage) -> None:
    channel = stage.channel
    channel.repository.rotate(keys={"root": Keys(keys=(NEXT,))})
    channel.repository.rotate(keys={"root": Keys(keys=(THIRD,))})
    channel.publish()
    stage.update(LOADS, SECOND)
    channel.repository.rotate(keys={"root": Keys(keys=(IN_USE,))})
    channel.publish()
    stage.update(SAME, SECOND)


def _long_chain(stage: Stage) -> None:
    channel = stage.channel
    for _ in range(20):
        channel.repository.rotate()
    channel.publish()
    stage.update(LOADS, SECOND)


def _root_ended(stage: Stage) -> None:
    channel = stage.channel
    channel.repository.rotate(_changes(expires=PAST))
    channel.publish()
    stage.update(EXPIRED, FIRST)
    channel.repository.rotate()
    channel.publish()
    stage.update(LOADS, SECOND)


def _thresholds(stage: Stage) -> None:
    channel = stage.channel
    channel.repository.rotate(
        keys={"root": Keys(keys=(IN_USE, NEXT, THIRD), threshold=2), "targets": Keys(keys=(IN_USE, NEXT), threshold=2)}
    )
    channel.publish(signers={"targets": [IN_USE]})
    stage.update(FAILS, FIRST)
    channel.publish(signers={"targets": [IN_USE, STRANGER]})
    stage.update(FAILS, FIRST)
    channel.publish()
    stage.update(LOADS, SECOND)
    roots = list(channel.repository.roots)
    channel.repository.rotate(signers=[THIRD])
    channel.publish()
    stage.update(FAILS, SECOND)
    channel.repository.roots = roots
    channel.repository.rotate(signers=[THIRD, IN_USE])
    channel.publish()
    stage.update(SAME, SECOND)


def _one_key_twice(stage: Stage) -> None:
    """A key counts once, under whatever names the root lists it."""
    channel = stage.channel

    def edit(root: Json) -> None:
        root["keys"]["0" * 64] = public(IN_USE)
        root["roles"]["timestamp"] = {"keyids": [key_id(IN_USE), "0" * 64], "threshold": 2}

    def twice(content: bytes) -> bytes:
        file = json.loads(content)
        file["signatures"].append({**file["signatures"][0], "keyid": "0" * 64})
        return json.dumps(file).encode()

    channel.repository.rotate(edit)
    channel.publish(change=twice)
    stage.update(FAILS, FIRST)
    channel.repository.rotate()
    channel.publish()
    stage.update(LOADS, SECOND)


def _other_keys(stage: Stage) -> None:
    """Keys of a type that an app cannot use count for no threshold, and do no harm."""
    channel = stage.channel

    def edit(root: Json) -> None:
        root["keys"]["1" * 64] = {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": "2" * 64}}
        root["roles"]["targets"]["keyids"] += ["1" * 64, "3" * 64]

    channel.repository.rotate(edit)
    channel.publish()
    stage.update(LOADS, SECOND)


def _wrong_beside_right(stage: Stage) -> None:
    """A signature that is none does no harm beside enough right ones."""
    channel = stage.channel

    def change(content: bytes) -> bytes:
        file = json.loads(content)
        file["signatures"][1]["sig"] = file["signatures"][0]["sig"]
        return json.dumps(file).encode()

    channel.repository.rotate(keys={"timestamp": Keys(keys=(IN_USE, NEXT))})
    channel.publish(change=change)
    stage.update(LOADS, SECOND)


UNKNOWN = {
    "new": [None, True, False, 0, -7, 2**40, "", [], {}, [[1], {"a": {"b": [2]}}]],
    "texts": ['"', "\\", "/", "\\u0041", "\n\t\x01\x7f", "\u00e9", "e\u0301", "\uffee", "\U0001f600", "\u2028"],
    **dict.fromkeys(("\U0001f600", "\uffee", "\u00e9", "Z", "a", "aa", "a-", "~", "10", "9", '"', "\\"), 1),
}
"""names and values whose order and form in canonical JSON is easily another one than that of Python"""


def _unknown_fields(stage: Stage) -> None:
    """Other fields than those of the specification are signed, too."""
    channel = stage.channel
    channel.repository.rotate(_changes(**UNKNOWN))
    channel.publish(edits=dict.fromkeys(SIGNED, _changes(**UNKNOWN)))
    stage.update(LOADS, SECOND)


def _fast_forward(stage: Stage) -> None:
    """A thief of the timestamp's and snapshot's key publishes the largest versions; other keys for both end it."""
    channel = stage.channel
    channel.publish(number=HUGE)
    stage.update(LOADS, SECOND)
    channel.publish()
    stage.update(FAILS, SECOND)
    channel.repository.rotate(keys={role: Keys(keys=(NEXT,)) for role in ("timestamp", "snapshot")})
    channel.publish()
    stage.update(SAME, SECOND)


def _far_future(stage: Stage) -> None:
    """A thief of the timestamp's key says that it is 2098; another key for it ends that, too."""
    channel = stage.channel

    def late(signed: Json) -> None:
        signed["mobpack"] = {**signed["mobpack"], "published": "2098-01-01T00:00:00Z"}

    channel.publish(edits={"timestamp": late})
    stage.update(EXPIRED, FIRST)
    channel.publish()
    stage.update(FAILS, FIRST)
    channel.repository.rotate(keys={"timestamp": Keys(keys=(NEXT,))})
    channel.publish()
    stage.update(LOADS, SECOND)


def _clock_set_back(stage: Stage) -> None:
    """A clock that is further behind the channel than 30 days is refused, in words for whoever can set it."""
    channel = stage.channel
    channel.publish(dated(40, 400))
    for _ in range(2):
        stage.update(FAILS, FIRST)
        said = stage.ask("update force")["states"][MODEL]["reason"]
        assert re.search("the clock of the device is (39|40) days behind the channel: set it", said), said
        stage.start()
        channel.publish(dated(0, 400))
    channel.repository.rotate(keys={"timestamp": Keys(keys=(NEXT,))})
    channel.publish()
    stage.update(LOADS, SECOND)


def _delegations(keys: Sequence[EllipticCurvePrivateKey], roles: Callable[[Json], Sequence[Json]]) -> Json:
    """The part of targets that delegates the model's files."""
    role = {
        "name": FAMILY,
        "keyids": [key_id(key) for key in keys],
        "threshold": 1,
        "terminating": False,
        "paths": [f"{MODEL}/*"],
    }
    return {"keys": {key_id(key): public(key) for key in keys}, "roles": list(roles(role))}


def _delegated(
    *,
    keys: Sequence[EllipticCurvePrivateKey] = (NEXT,),
    signers: Sequence[EllipticCurvePrivateKey] = (NEXT,),
    version: int | None = None,
    in_snapshot: bool = True,
    roles: Callable[[Json], Sequence[Json]] = lambda role: [role],
    phase: str = LOADS,
) -> Happens:
    """The releases are those of a role that the targets delegate them to."""

    def happens(stage: Stage) -> None:
        channel = stage.channel
        number = channel.number + 1

        def targets(signed: Json) -> None:
            found = {"spec_version": "1.0.31", "version": version or number, "expires": signed["expires"]}
            family = {"_type": "targets", **found, "targets": signed["targets"], "mobpack": signed["mobpack"]}
            path = f"/{CHANNEL}/{number}.{FAMILY}.json"
            channel.address.files.by_path[path] = signed_by(family, signers)
            signed.update(targets={}, delegations=_delegations(keys, roles))

        if in_snapshot:
            channel.repository.delegated[f"{FAMILY}.json"] = {"version": number}
        channel.publish(edits={"targets": targets})
        stage.update(phase, SECOND if phase == LOADS else FIRST)

    return happens


def _delegated_anew(stage: Stage) -> None:
    """A role that the device has kept is worth nothing once the targets name another key for it."""
    _delegated()(stage)
    delegations = _delegations((THIRD,), lambda role: [role])
    stage.channel.publish(edits={"targets": _changes(targets={}, delegations=delegations)})
    stage.update(FAILS, SECOND)
    stage.start()
    stage.update(FAILS, SECOND)


def _without_paths(role: Json, **fields: object) -> Json:
    return {**{name: value for name, value in role.items() if name != "paths"}, **fields}


def _elsewhere_first(role: Json) -> list[Json]:
    """A terminating role of the same paths, which has nothing, is asked before."""
    return [{**deepcopy(role), "terminating": True, "paths": ["other/*", f"{MODEL}/rel*"], "name": "nobody"}, role]


PREFIX = hashlib.sha256(RELEASES.encode()).hexdigest()[:2]
DELEGATIONS = Visit(
    name="delegated targets",
    scenarios=(
        Scenario("a delegated role that no snapshot has", "mix and match", _delegated(in_snapshot=False, phase=FAILS)),
        Scenario("releases of a delegated role", "", _delegated()),
        Scenario(
            "releases of a delegated role, by the digest of their path",
            "",
            _delegated(roles=lambda role: [_without_paths(role, path_hash_prefixes=[PREFIX])]),
        ),
        Scenario("a delegated role by a stranger", "arbitrary software", _delegated(signers=(STRANGER,), phase=FAILS)),
        Scenario("a delegated role with another version", "mix and match", _delegated(version=900, phase=FAILS)),
        Scenario(
            "a delegated role for other paths",
            "",
            _delegated(roles=lambda role: [{**role, "paths": ["*", "other/*"]}], phase=SAME),
        ),
        Scenario(
            "a delegated role that ends the search", "mix and match", _delegated(roles=_elsewhere_first, phase=FAILS)
        ),
    ),
    on_pages=False,
)


def _no_signature(content: bytes) -> bytes:
    return content.replace(b'"sig":"', b'"sig":"no ')


OTHERS_HAVE_NONE = dict.fromkeys(SIGNED, lambda signed: signed.pop("mobpack"))
OTHER_FORMS = Visit(
    name="metadata in other forms",
    scenarios=(
        Scenario("a signature that is no number", "hostile text", _given(change=_no_signature)),
        Scenario("metadata of others", "", _given(LOADS, SECOND, edits=OTHERS_HAVE_NONE)),
    ),
    on_pages=False,
)


def _alone(name: str, attack: str, happens: Happens) -> Visit:
    """A visit of its own: what has happened to the keys of a channel stays."""
    return Visit(name=name, scenarios=(Scenario(name, attack, happens),), on_pages=False)


ATTACKS: tuple[Visit, ...] = (
    *map(_each_role, SIGNED),
    CONTENTS,
    TEXTS,
    OTHER_FORMS,
    BAD_ROOTS,
    DELEGATIONS,
    GRAPHS,
    _alone("a delegated role whose key has moved", "a stolen key", _delegated_anew),
    _alone("keys that move", "a stolen key", _moved),
    _alone("a release of revoked keys", "a stolen key", _revoked_voucher),
    _alone("a root key that moves", "a stolen key", _root_moved),
    _alone("twenty roots at once", "", _long_chain),
    _alone("a root that has ended", "freeze", _root_ended),
    _alone("thresholds", "a stolen key", _thresholds),
    _alone("one key under two names", "a stolen key", _one_key_twice),
    _alone("keys of another type", "", _other_keys),
    _alone("a wrong signature beside a right one", "", _wrong_beside_right),
    _alone("fields that nobody knows", "", _unknown_fields),
    _alone("versions without end", "rollback", _fast_forward),
    _alone("a time that is far ahead", "freeze", _far_future),
    _alone("a clock that is far behind", "freeze", _clock_set_back),
)
