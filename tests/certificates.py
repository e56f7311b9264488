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


def make(folder: Path, name: str = "localhost") -> Certificate:
    """A certificate for a name. Skips the test if openssl is not installed."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    files = Certificate(folder / f"{name}.key", folder / f"{name}.pem")
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    words += ["-addext", f"subjectAltName=DNS:{name}", "-keyout", str(files.key), "-out", str(files.certificate)]
    subprocess.run(["openssl", *words], check=True, capture_output=True)
    return files
