"""The key that signs results: made on this computer, kept in the data folder, for its owner only.

Source: C2PA technical specification 2.2, section 14 (certificates). A key signs for a year, then a
new one takes its place; the old authorities stay known, so that older results are still recognised.
The authority's own key is thrown away once it has signed: nobody can issue a second certificate.
"""

from __future__ import annotations

import datetime
import json
import logging
import os
import secrets
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from filelock import FileLock

log = logging.getLogger(__name__)

PROGRAM = "FaceFusion UI"
SIGNER = f"{PROGRAM} (local key)"
SIGNS_FOR = datetime.timedelta(days=365)
VALID_FOR = datetime.timedelta(days=3650)
"""Certificates outlive their use by far: without a time stamp service a picture can only be
verified while the certificate of its signer is valid."""
CLOCK_SLACK = datetime.timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class SigningKey:
    """All PEM. ``chain`` is leaf and authority; ``authorities`` the own ones, newest first."""

    key: str
    chain: str
    authorities: tuple[str, ...]

    @property
    def usable(self) -> bool:
        """Whether it may sign now. ValueError when the chain is not one."""
        leaf = x509.load_pem_x509_certificates(self.chain.encode())[0]
        now = datetime.datetime.now(datetime.UTC)
        return leaf.not_valid_before_utc <= now < leaf.not_valid_before_utc + SIGNS_FOR


class KeyStore:
    """The signing key in ``folder``; made at first use. Threads and processes may share one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "key.json"
        self._guard = threading.Lock()
        self._known: SigningKey | None = None

    def current(self) -> SigningKey:
        """The key that signs now; makes or renews it. OSError when it cannot be kept."""
        with self._guard:
            if self._known is None or not self._known.usable:
                self._known = self._load_or_make()
            return self._known

    def authorities(self) -> tuple[str, ...]:
        """Who has signed on this computer so far. Makes nothing and writes nothing."""
        with self._guard:
            known = self._known or self._load()
            return known.authorities if known else ()

    def _load(self) -> SigningKey | None:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
            key = SigningKey(found["key"], found["chain"], tuple(found["authorities"]))
            x509.load_pem_x509_certificates("".join((key.chain, *key.authorities)).encode())
            serialization.load_pem_private_key(key.key.encode(), password=None)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as cause:
            log.warning("The signing key cannot be read: %s", type(cause).__name__)
            return None
        return key

    def _load_or_make(self) -> SigningKey:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(str(self._folder / ".lock")):
            found = self._load()
            if found is not None and found.usable:
                self._file.chmod(0o600)
                return found
            key = _new_key(found.authorities if found else ())
            self._keep(key)
            return key

    def _keep(self, key: SigningKey) -> None:
        part = self._folder / f".key-{secrets.token_hex(6)}"
        try:
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(asdict(key), file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._file)
        finally:
            part.unlink(missing_ok=True)


def _new_key(older: tuple[str, ...]) -> SigningKey:
    start = datetime.datetime.now(datetime.UTC) - CLOCK_SLACK
    authority_key, leaf_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_name = _name(f"{PROGRAM} installation")
    authority = (
        _certificate(authority_name, authority_name, authority_key, start)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(certificates=True), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    leaf = (
        _certificate(_name(SIGNER), authority_name, leaf_key, start)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(certificates=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False
        )
        .add_extension(issuer, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    key = leaf_key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    top = authority.public_bytes(pem).decode()
    return SigningKey(key.decode(), leaf.public_bytes(pem).decode() + top, (top, *older))


def _name(common: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, PROGRAM),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    start: datetime.datetime,
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + VALID_FOR)
        .add_extension(identifier, critical=False)
    )


def _usage(*, certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not certificates,
        key_cert_sign=certificates,
        crl_sign=certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
