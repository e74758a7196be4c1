"""Certificates for tests: authorities, and what they vouch for."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


class Authority:
    """Vouches for servers; `file` is its own certificate."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.file = folder / f"{name}.pem"
        made = _builder(self._name, self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        _write(self.file, made.sign(self._key, hashes.SHA256()))

    def vouch(self, name: str, *hosts: str) -> tuple[Path, Path]:
        """The files of a certificate for these hosts, and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
        names = x509.SubjectAlternativeName([_name_of(host) for host in hosts])
        made = _builder(subject, self._name, key).add_extension(names, critical=False).sign(self._key, hashes.SHA256())
        certificate, secret = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        _write(certificate, made)
        form = serialization.PrivateFormat.PKCS8
        secret.touch(mode=0o600)
        secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
        return certificate, secret


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
    )


def _name_of(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(file: Path, certificate: x509.Certificate) -> None:
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
