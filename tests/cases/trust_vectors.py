"""One table of signed lists of files, right and wrong, for the code of all platforms: what each must say of them."""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from packager.core.values import Package, Trust
from packager.signing import model_signing
from packager.signing.envelope import IN_TOTO, Bundle, pae, written
from packager.signing.statements import ReleaseName
from packager.targets import signed_list

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""of the curve P-256"""
OPENED, UNSIGNED, WRONG, SWAPPED, ROLLED_BACK = "opened", "unsigned", "wrong-signature", "swapped", "rolled-back"
NUMBER = (1 << 40) + (2 << 20) + 3

Files = Mapping[str, str]
"""name -> sha256"""


@cache
def private(secret: int) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(secret, ec.SECP256R1())


IN_USE, NEXT, STRANGER = (private(int.from_bytes(word)) for word in (b"the key in use", b"the next key", b"a stranger"))


def spki(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


TRUST = Trust(keys=(spki(IN_USE), spki(NEXT)), number=NUMBER)


@dataclass(frozen=True, kw_only=True)
class Vector:
    """A list of the files of a package, and what an app says that trusts `TRUST`."""

    name: str
    text: Callable[[Files, Package], str | None]
    """makes the list; None for a package without one"""
    expected: str


def sign(message: bytes, key: ec.EllipticCurvePrivateKey = IN_USE) -> bytes:
    return key.sign(message, ec.ECDSA(SHA256(), deterministic_signing=True))


def enveloped(
    payload: bytes,
    key: ec.EllipticCurvePrivateKey = IN_USE,
    *,
    sent: bytes | None = None,
    change: Callable[[bytes], bytes] = bytes,
) -> str:
    """A bundle with the signature of `key` over `payload`, after `change`; `sent` replaces the payload afterwards."""
    signature = base64.b64encode(change(sign(pae(IN_TOTO, payload), key))).decode()
    bundle = json.loads(written(Bundle(payload=payload if sent is None else sent)))
    bundle["dsseEnvelope"]["signatures"] = [{"sig": signature, "keyid": ""}]
    return json.dumps(bundle, separators=(",", ":")) + "\n"


def statement(files: Files, package: Package) -> bytes:
    release = ReleaseName(package=package.name, version=package.version)
    return model_signing.statement(files, name=package.name, ignored=(signed_list.NAME,), release=release)


def signed(files: Files, package: Package) -> str:
    return enveloped(statement(files, package))


def _signed_with(key: ec.EllipticCurvePrivateKey) -> Callable[[Files, Package], str]:
    return lambda files, package: enveloped(statement(files, package), key)


def _with_more(files: Files, package: Package) -> str:
    return signed({**files, "more": "0" * 64}, package)


def _changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Files, Package], str]:
    """A list whose statement was changed before it was signed."""

    def made(files: Files, package: Package) -> str:
        document = json.loads(statement(files, package))
        change(document)
        return enveloped(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())

    return made


def _with_signature(change: Callable[[bytes], bytes]) -> Callable[[Files, Package], str]:
    return lambda files, package: enveloped(statement(files, package), change=change)


def _der(r: bytes, s: bytes) -> bytes:
    return bytes([0x30, len(r) + len(s) + 4, 2, len(r)]) + r + bytes([2, len(s)]) + s


def _numbers(signature: bytes) -> tuple[bytes, bytes]:
    """The contents of the two numbers of a signature in DER."""
    end = 4 + signature[3]
    return signature[4:end], signature[end + 2 :]


def _other(signature: bytes) -> bytes:
    """The other signature of the same message: as good as the first."""
    r, s = decode_dss_signature(signature)
    return encode_dss_signature(r, ORDER - s)


def _of_version(version: str) -> Callable[[Files, Package], str]:
    return lambda files, package: signed(files, replace(package, version=version))


def _tampered(files: Files, package: Package) -> str:
    said = statement(files, package)
    digest = next(iter(files.values())).encode()
    return enveloped(said, sent=said.replace(digest, digest[:-1] + bytes([digest[-1] ^ 1])))


def _raw(signature: bytes) -> bytes:
    return b"".join(number.to_bytes(32) for number in decode_dss_signature(signature))


def _annotations(document: dict[str, Any]) -> dict[str, object]:
    [subject] = document["subject"]
    found: dict[str, object] = subject["annotations"]
    return found


def _without_number(document: dict[str, Any]) -> None:
    del _annotations(document)["mobpack.number"]


def _number_as_text(document: dict[str, Any]) -> None:
    _annotations(document)["mobpack.number"] = str(NUMBER)


def _twice(text: str) -> str:
    document = json.loads(text)
    document["dsseEnvelope"]["signatures"] *= 2
    return json.dumps(document)


VECTORS: tuple[Vector, ...] = (
    Vector(name="the key in use", text=signed, expected=OPENED),
    Vector(name="the next key", text=_signed_with(NEXT), expected=OPENED),
    Vector(name="a later release", text=_of_version("1.3.0"), expected=OPENED),
    Vector(name="more files", text=_with_more, expected=OPENED),
    Vector(
        name="with spaces",
        text=lambda files, package: json.dumps(json.loads(signed(files, package)), indent=2, sort_keys=True),
        expected=OPENED,
    ),
    Vector(name="the other signature", text=_with_signature(_other), expected=OPENED),
    Vector(name="no list", text=lambda files, package: None, expected=UNSIGNED),
    Vector(name="no signature", text=signed_list.unsigned, expected=UNSIGNED),
    Vector(name="a stranger's key", text=_signed_with(STRANGER), expected=WRONG),
    Vector(name="a changed statement", text=_tampered, expected=WRONG),
    Vector(
        name="another payload type",
        text=lambda files, package: signed(files, package).replace("vnd.in-toto+json", "vnd.in-toto+jsoo"),
        expected=WRONG,
    ),
    Vector(name="cut in the middle", text=lambda files, package: signed(files, package)[:300], expected=WRONG),
    Vector(name="empty", text=lambda files, package: "", expected=WRONG),
    Vector(name="nothing but braces", text=lambda files, package: "{}", expected=WRONG),
    Vector(name="a list of lists", text=lambda files, package: "[" * 100_000, expected=WRONG),
    Vector(name="two signatures", text=lambda files, package: _twice(signed(files, package)), expected=WRONG),
    Vector(
        name="a changed signature",
        text=_with_signature(lambda signature: signature[:-1] + bytes([signature[-1] ^ 1])),
        expected=WRONG,
    ),
    Vector(name="r and s without DER", text=_with_signature(_raw), expected=WRONG),
    Vector(name="a signature with a tail", text=_with_signature(lambda signature: signature + b"\0"), expected=WRONG),
    Vector(
        name="a signature with a tail inside",
        text=_with_signature(lambda signature: bytes([0x30, signature[1] + 1]) + signature[2:] + b"\0"),
        expected=WRONG,
    ),
    Vector(
        name="a number with a leading zero",
        text=_with_signature(lambda signature: _der(b"\0" + _numbers(signature)[0], _numbers(signature)[1])),
        expected=WRONG,
    ),
    Vector(
        name="a length of two bytes",
        text=_with_signature(lambda signature: b"\x30\x81" + signature[1:]),
        expected=WRONG,
    ),
    Vector(name="r is 0", text=_with_signature(lambda signature: _der(b"\0", _numbers(signature)[1])), expected=WRONG),
    Vector(name="r and s are 0", text=_with_signature(lambda signature: _der(b"\0", b"\0")), expected=WRONG),
    Vector(
        name="r is the order of the curve",
        text=_with_signature(lambda signature: _der(b"\0" + ORDER.to_bytes(32), _numbers(signature)[1])),
        expected=WRONG,
    ),
    Vector(name="an empty signature", text=_with_signature(lambda signature: b""), expected=WRONG),
    Vector(
        name="a statement of another kind",
        text=_changed(lambda document: document.update(predicateType="https://slsa.dev/provenance/v1")),
        expected=WRONG,
    ),
    Vector(name="no release number", text=_changed(_without_number), expected=WRONG),
    Vector(name="a release number as text", text=_changed(_number_as_text), expected=WRONG),
    Vector(name="an older release", text=_of_version("1.2.2"), expected=ROLLED_BACK),
    Vector(
        name="another package",
        text=lambda files, package: signed(files, replace(package, name="other")),
        expected=SWAPPED,
    ),
    Vector(
        name="files of another model",
        text=lambda files, package: signed(dict.fromkeys(files, "0" * 64), package),
        expected=SWAPPED,
    ),
    Vector(
        name="names exchanged",
        text=lambda files, package: signed({f"other/{name}": digest for name, digest in files.items()}, package),
        expected=SWAPPED,
    ),
)
WORDS = {
    "no list": "Run `mobpack sign`",
    "no signature": "Run `mobpack sign`",
    "a stranger's key": "sign with the private key of [package] trust",
    "an older release": "release 1.2.2, which is older",
    "another package": "package other, not of models",
}
"""by the name of a list, a part of the message of a load that refuses it"""


def unsaid(messages: Iterable[str]) -> dict[str, str]:
    """Names of lists -> the messages, one for each of VECTORS in their order, that lack WORDS."""
    said = {vector.name: message for vector, message in zip(VECTORS, messages, strict=True)}
    return {name: said[name] for name, words in WORDS.items() if words not in said[name]}


def write_lists(folder: Path, files: Files, package: Package) -> None:
    """Writes the lists, `01.sig` and so on, to a new folder; `.none` stands for no list."""
    folder.mkdir()
    for number, vector in enumerate(VECTORS):
        text = vector.text(files, package)
        name = f"{number:02}.{'none' if text is None else 'sig'}"
        (folder / name).write_text(text or "", encoding="utf-8", newline="\n")
