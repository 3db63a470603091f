"""Public keys that generated code verifies the models of a package with: ECDSA on the curve P-256, as PEM files."""

import base64
import binascii
import re

from packager.core.errors import SettingError

SPKI_START = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
"""SubjectPublicKeyInfo of P-256 (RFC 5480) up to the point"""
POINT_BYTES = 65
BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
PUBLIC = "PUBLIC KEY"
MAKE_ONE = "make one of the private key: openssl pkey -in release.key -pubout -out release.pub"
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
"""prime and coefficient of the curve (SEC 2, 2.4.2)"""


def point_of(pem: str) -> bytes:
    """The point of the public key in `pem`, uncompressed: 04, x, y, 65 bytes.

    Raises SettingError for a private key, a certificate, a key on another curve, and what is no key.
    """
    if "PRIVATE KEY" in pem:
        raise SettingError(
            "this is a PRIVATE key: whoever has it can sign models in your name, and it must never be in a project",
            hint=f"move it away, replace it if anybody else may have read it, and name the public key; {MAKE_ONE}",
        )
    block = BLOCK.search(pem)
    if block is None:
        raise SettingError("this is no PEM file with a public key", hint=MAKE_ONE)
    if block[1] != PUBLIC:
        raise SettingError(f"this is a {block[1].lower()}, not a public key", hint=MAKE_ONE)
    try:
        spki = base64.b64decode("".join(block[2].split()), validate=True)
    except binascii.Error as error:
        raise SettingError("the PEM file is damaged", hint=MAKE_ONE) from error
    point = spki.removeprefix(SPKI_START)
    if len(spki) != len(SPKI_START) + POINT_BYTES or len(point) != POINT_BYTES or not _is_on_curve(point):
        raise SettingError(
            "the key is not one of ECDSA on the curve P-256, which phones and browsers verify",
            hint="make another: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out release.key",
        )
    return point


def spki(point: bytes) -> bytes:
    """The key as SubjectPublicKeyInfo, 91 bytes of DER."""
    return SPKI_START + point


def _is_on_curve(point: bytes) -> bool:
    x, y = int.from_bytes(point[1:33]), int.from_bytes(point[33:])
    return point[0] == 4 and max(x, y) < P and (y * y - (x * x * x - 3 * x + B)) % P == 0
