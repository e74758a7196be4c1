"""A certificate for servers of tests."""

import subprocess
from pathlib import Path


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """For localhost, signed by itself: the certificate and its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*command, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key
