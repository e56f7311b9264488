"""Certificates for servers on the loopback interface."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest


class Certificate(NamedTuple):
    """A key and the certificate that it signs itself, as PEM."""

    key: Path
    certificate: Path


def make(folder: Path, name: str = "127.0.0.1") -> Certificate:
    """A certificate for an address or a name. A name may lead to several addresses, each with errors of its own. Skips
    the test if openssl is not installed."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    kind = "IP" if name[0].isdigit() else "DNS"
    files = Certificate(folder / f"{name}.key", folder / f"{name}.pem")
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    words += ["-addext", f"subjectAltName={kind}:{name}", "-keyout", str(files.key), "-out", str(files.certificate)]
    subprocess.run(["openssl", *words], check=True, capture_output=True)
    return files
