"""Chains of X.509 certificates that tests and attacks verify: right ones, and ones that break a rule each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.cases.signing_cases import Key, make_key, write_key

CODE, SERVER, CLIENT = (
    ExtendedKeyUsageOID.CODE_SIGNING,
    ExtendedKeyUsageOID.SERVER_AUTH,
    ExtendedKeyUsageOID.CLIENT_AUTH,
)
MAIL, STAMP = ExtendedKeyUsageOID.EMAIL_PROTECTION, ExtendedKeyUsageOID.TIME_STAMPING
SIGNS, ISSUES = frozenset({"digital_signature"}), frozenset({"key_cert_sign", "crl_sign"})
USES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)
UNKNOWN = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\0")
POLICY = x509.CertificatePolicies([x509.PolicyInformation(x509.ObjectIdentifier("1.3.6.1.4.1.99999.2"), None)])
ORGANIZATION = "Acme"

AnyKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey
KINDS: Mapping[str, Callable[[], AnyKey]] = {
    "ecdsa": lambda: ec.generate_private_key(ec.SECP256R1()),
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
    "ed25519": ed25519.Ed25519PrivateKey.generate,
}


@dataclass(frozen=True, kw_only=True)
class Form:
    """Contents of a certificate."""

    is_authority: bool
    path_length: int | None = None
    uses: frozenset[str] | None
    """of the key; None for none that are said"""
    purposes: tuple[x509.ObjectIdentifier, ...] = ()
    more: tuple[tuple[x509.ExtensionType, bool], ...] = ()
    """extensions, and whether they are critical"""
    days: tuple[float, float] = (-1, 1)


LEAF = Form(is_authority=False, uses=SIGNS, purposes=(CODE,))
ISSUER = Form(is_authority=True, uses=ISSUES)


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Certificates from a root, through `issuers` others, to a signer."""

    root: Form = ISSUER
    issuer: Form = ISSUER
    leaf: Form = LEAF
    issuers: int = 1
    kind: str = "ecdsa"
    """of the authorities' keys"""


@dataclass(frozen=True)
class Files:
    """A chain in files: `root` for who verifies, `chain` and `key` for who signs."""

    root: Path
    chain: Path
    key: Key
    issuer_keys: tuple[AnyKey, ...] = field(default=())


def named(name: str, organization: str = "") -> x509.Name:
    first = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    return x509.Name([*first, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def issued(key: AnyKey, name: x509.Name, issuer: AnyKey, by: x509.Name, form: Form) -> x509.Certificate:
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(by)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=form.days[0]))
        .not_valid_after(now + timedelta(days=form.days[1]))
        .add_extension(x509.BasicConstraints(ca=form.is_authority, path_length=form.path_length), critical=True)
    )
    if form.uses is not None:
        built = built.add_extension(x509.KeyUsage(**{each: each in form.uses for each in USES}), critical=True)
    if form.purposes:
        built = built.add_extension(x509.ExtendedKeyUsage(form.purposes), critical=False)
    for extension, is_critical in form.more:
        built = built.add_extension(extension, critical=is_critical)
    return built.sign(issuer, None if isinstance(issuer, ed25519.Ed25519PrivateKey) else SHA256())


def written(folder: Path, chain: Chain, name: str = "signer") -> Files:
    """The files of a chain whose signer has the common name `name`."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = [KINDS[chain.kind]() for _ in range(chain.issuers + 1)]
    names = [named(f"authority {number}") for number in range(len(keys))]
    root = issued(keys[0], names[0], keys[0], names[0], chain.root)
    found = [
        issued(keys[number], names[number], keys[number - 1], names[number - 1], chain.issuer)
        for number in range(1, len(keys))
    ]
    key = make_key(folder)
    found.append(issued(key.key, named(name, ORGANIZATION), keys[-1], names[-1], chain.leaf))
    files = Files(folder / "root.pem", folder / "chain.pem", key, tuple(keys))
    save(files.root, [root])
    save(files.chain, found[::-1])
    return files


def save(path: Path, certificates: Sequence[x509.Certificate]) -> Path:
    path.write_bytes(b"".join(each.public_bytes(Encoding.PEM) for each in certificates))
    return path


def limited(permitted: x509.GeneralName | None = None, excluded: x509.GeneralName | None = None) -> Form:
    """An issuer of which only some names may be."""
    rule = x509.NameConstraints([permitted] if permitted else None, [excluded] if excluded else None)
    return replace(ISSUER, more=((rule, True),))


def also_named(name: x509.GeneralName) -> Form:
    """A signer with an alternative name."""
    return replace(LEAF, more=((x509.SubjectAlternativeName([name]), False),))


def of_organization(name: str) -> x509.DirectoryName:
    return x509.DirectoryName(x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, name)]))


RIGHT = {
    **{f"{count + 1} certificates by {kind}": Chain(issuers=count, kind=kind) for count in range(3) for kind in KINDS},
    "no key usage of the signer": Chain(leaf=replace(LEAF, uses=None)),
    "no key usage of the root": Chain(root=replace(ISSUER, uses=None)),
    "several purposes": Chain(leaf=replace(LEAF, purposes=(SERVER, CODE))),
    "an issuer for code signing": Chain(issuer=replace(ISSUER, purposes=(CODE,))),
    "a path as long as is allowed": Chain(root=replace(ISSUER, path_length=1), issuer=replace(ISSUER, path_length=0)),
    "no path below the root": Chain(root=replace(ISSUER, path_length=0), issuers=0),
    "a critical purpose": Chain(leaf=replace(LEAF, purposes=(), more=((x509.ExtendedKeyUsage([CODE]), True),))),
    "a permitted organization": Chain(issuer=limited(of_organization(ORGANIZATION))),
    "a permitted address": Chain(
        issuer=limited(x509.RFC822Name("good.example")), leaf=also_named(x509.RFC822Name("me@good.example"))
    ),
    "a root with a policy": Chain(root=replace(ISSUER, more=((POLICY, False),))),
    "an organization of the root": Chain(root=limited(excluded=of_organization("Other"))),
}
GOOD, BAD = x509.DNSName("good.example"), x509.DNSName("bad.example")
WRONG = {
    "a TLS server": Chain(leaf=replace(LEAF, purposes=(SERVER,))),
    "a TLS client": Chain(leaf=replace(LEAF, purposes=(CLIENT,))),
    "a mail user": Chain(leaf=replace(LEAF, purposes=(MAIL, STAMP)), issuers=0),
    "no purpose": Chain(leaf=replace(LEAF, purposes=())),
    "any purpose": Chain(leaf=replace(LEAF, purposes=(ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,))),
    "an issuer for TLS servers": Chain(issuer=replace(ISSUER, purposes=(SERVER,))),
    "a path that is too long": Chain(issuer=replace(ISSUER, path_length=0), issuers=2),
    "a path that is too long for the root": Chain(root=replace(ISSUER, path_length=0)),
    "an issuer without keyCertSign": Chain(issuer=replace(ISSUER, uses=SIGNS)),
    "a root without keyCertSign": Chain(root=replace(ISSUER, uses=SIGNS), issuers=0),
    "an issuer that is not an authority": Chain(issuer=replace(ISSUER, is_authority=False)),
    "a name that is not permitted": Chain(issuer=limited(GOOD), leaf=also_named(BAD)),
    "a name that is excluded": Chain(issuer=limited(excluded=BAD), leaf=also_named(BAD)),
    "a name that the root excludes": Chain(root=limited(excluded=BAD), leaf=also_named(BAD)),
    "an address that is not permitted": Chain(
        issuer=limited(x509.RFC822Name("good.example")), leaf=also_named(x509.RFC822Name("me@bad.example"))
    ),
    "an organization that is not permitted": Chain(issuer=limited(of_organization("Other"))),
    "an organization that is excluded": Chain(root=limited(excluded=of_organization(ORGANIZATION)), issuers=0),
    "a name rule that is not critical": Chain(
        issuer=replace(ISSUER, more=((x509.NameConstraints([of_organization("Other")], None), False),))
    ),
    "an unknown critical extension": Chain(leaf=replace(LEAF, more=((UNKNOWN, True),))),
    "an issuer with an unknown critical extension": Chain(issuer=replace(ISSUER, more=((UNKNOWN, True),))),
    "a root with an unknown critical extension": Chain(root=replace(ISSUER, more=((UNKNOWN, True),))),
    "a CA as a signer": Chain(leaf=replace(LEAF, is_authority=True, uses=SIGNS | ISSUES)),
    "a CA that may not issue as a signer": Chain(leaf=replace(LEAF, is_authority=True)),
    "a key that may not sign": Chain(leaf=replace(LEAF, uses=frozenset({"key_encipherment"}))),
    "an expired signer": Chain(leaf=replace(LEAF, days=(-3, -2))),
    "a signer of tomorrow": Chain(leaf=replace(LEAF, days=(1, 2))),
    "an expired issuer": Chain(issuer=replace(ISSUER, days=(-3, -2))),
    "a root of tomorrow": Chain(root=replace(ISSUER, days=(1, 2))),
}
"""each is signed by the key of its leaf, whose chain leads to the root"""


def signed_by_stranger(folder: Path) -> Files:
    """A signer whose certificate is by itself, beside a root of other people."""
    files = written(folder, Chain())
    signer = named("signer", ORGANIZATION)
    save(files.chain, [issued(files.key.key, signer, files.key.key, signer, LEAF)])
    return files


def signed_by_authority(folder: Path) -> Files:
    """A root that has signed the release itself."""
    files = written(folder, Chain())
    (key,) = files.issuer_keys[:1]
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return replace(files, chain=files.root, key=write_key(folder, "root-key", key))


def revoked(files: Files, serials: Sequence[int], *, days: tuple[float, float] = (-1, 1)) -> None:
    """Adds a list of revoked certificates of each authority to the file of the root."""
    names = [named(f"authority {number}") for number in range(len(files.issuer_keys))]
    for name, key in zip(names, files.issuer_keys, strict=True):
        add_list(files.root, name, key, serials, days)


def add_list(
    path: Path, name: x509.Name, key: AnyKey, serials: Sequence[int], days: tuple[float, float] = (-1, 1)
) -> None:
    now = datetime.now(UTC)
    built = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(name)
        .last_update(now + timedelta(days=days[0]))
        .next_update(now + timedelta(days=days[1]))
    )
    for serial in serials:
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now - timedelta(days=1))
        built = built.add_revoked_certificate(entry.build())
    made = built.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else SHA256())
    with path.open("ab") as file:
        file.write(made.public_bytes(Encoding.PEM))
