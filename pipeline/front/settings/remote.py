"""The variables of a shared cache: `remote=URL`, `remote_upload=0`, `remote_token=FILE`, `remote_ca=FILE`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from pipeline.problems.problem import SpecError

_SCHEMES = ("http", "https", "grpc", "grpcs")
_EXAMPLE = "write remote=http://HOST:PORT, https://HOST/PATH, grpc://HOST:PORT or grpcs://HOST/INSTANCE"
_RESERVED = {"blobs", "uploads", "actions", "actionResults", "operations", "capabilities", "compressed-blobs"}


class RemoteSettings(Struct, frozen=True):
    """A server, and how it is used."""

    host: str
    port: int  # 0: that of the scheme
    path: str  # in front of /ac/ and /cas/, without a slash at its end; with gRPC, the instance
    tls: bool
    upload: bool
    token: str  # a file, "" for none
    ca: str = ""  # a file with certificates, "" for the system's
    grpc: bool = False

    @property
    def name(self) -> str:
        """The server as messages name it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host


def read_remote(variables: Mapping[str, str], *, upload: bool) -> RemoteSettings:
    """The settings in `variables`, which have a `remote`. SpecError if one is not valid."""
    url, token, ca = variables["remote"], variables.get("remote_token", ""), variables.get("remote_ca", "")
    parts, port = _parts(url)
    host, grpc, tls = parts.hostname or "", parts.scheme.startswith("grpc"), parts.scheme.endswith("s")
    if token and not os.path.exists(token):
        raise SpecError(f"remote_token={token}: there is no such file", "name a file that has the token on one line")
    if ca and not os.path.exists(ca):
        raise SpecError(f"remote_ca={ca}: there is no such file", "name a file with certificates as PEM")
    if ca and not tls:
        raise SpecError(
            f"remote_ca={ca}: remote={url} has no encryption", f"write {parts.scheme}s://, or no remote_ca="
        )
    if token and not tls and not _is_this_machine(host):
        raise SpecError(
            f"remote={url}: a token is not sent without encryption", f"write {parts.scheme}s://, or no remote_token="
        )
    if grpc:
        _check_grpc(url, parts, port, tls=tls)
    return RemoteSettings(host, port, parts.path.rstrip("/"), tls, upload, token, ca, grpc)


def _check_grpc(url: str, parts: SplitResult, port: int, *, tls: bool) -> None:
    """SpecError if a URL for gRPC has no port, or no valid name of an instance, or gRPC is not installed."""
    if not port and not tls:
        raise SpecError(f"remote={url}: the port is missing", "write remote=grpc://HOST:PORT")
    instance = parts.path.strip("/")
    bad = next((part for part in instance.split("/") if instance and (part in _RESERVED or not part)), None)
    if bad is not None:
        raise SpecError(
            f"remote={url}: {instance} is no name of an instance: a part is {bad or 'empty'}",
            "write what the server's configuration calls the instance",
        )
    if not _has_grpc():
        raise SpecError(f"remote={url}: gRPC is not installed", "pip install 'gradmill[remote]'")


def _has_grpc() -> bool:
    """Whether the packages for gRPC are installed; none is imported."""
    google = find_spec("google")
    places = google.submodule_search_locations or () if google is not None else ()
    protobuf = any(os.path.isdir(os.path.join(place, "protobuf")) for place in places)
    return protobuf and find_spec("grpc") is not None and find_spec("zstandard") is not None


def _parts(url: str) -> tuple[SplitResult, int]:
    """A URL in parts, and its port. SpecError if it names no server, or more than a server and a folder."""
    plain = url.isascii() and url.isprintable() and " " not in url
    try:
        parts = urlsplit(url if plain else "")
        port = parts.port or 0
    except ValueError:
        parts, port = urlsplit(""), 0
    if "@" in parts.netloc:  # the error does not repeat a password
        raise SpecError("remote=: the URL has a user or a password", "write the token to a file: remote_token=FILE")
    if parts.scheme not in _SCHEMES or not parts.hostname or parts.query or parts.fragment:
        raise SpecError(f"remote={url}: it is no URL of a server", _EXAMPLE)
    return parts, port


def _is_this_machine(host: str) -> bool:
    return host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdecimal())
