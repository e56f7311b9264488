"""The variables of a shared cache: `remote=URL`, `remote_upload=0`, `remote_token=FILE`, `remote_ca=FILE`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from pipeline.problems.problem import SpecError

_SCHEMES = ("http", "https")
_GRPC = ("grpc", "grpcs")
_EXAMPLE = "write remote=http://HOST:PORT or https://HOST/PATH"


class RemoteSettings(Struct, frozen=True):
    """A server, and how it is used."""

    host: str
    port: int  # 0: that of the scheme
    path: str  # in front of /ac/ and /cas/, without a slash at its end
    tls: bool
    upload: bool
    token: str  # a file, "" for none
    ca: str = ""  # a file with certificates, "" for the system's

    @property
    def name(self) -> str:
        """The server as messages name it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host


def read_remote(variables: Mapping[str, str], *, upload: bool) -> RemoteSettings:
    """The settings in `variables`, which have a `remote`. SpecError if one is not valid."""
    url, token, ca = variables["remote"], variables.get("remote_token", ""), variables.get("remote_ca", "")
    parts, port = _parts(url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    if token and not os.path.exists(token):
        raise SpecError(f"remote_token={token}: there is no such file", "name a file that has the token on one line")
    if ca and not os.path.exists(ca):
        raise SpecError(f"remote_ca={ca}: there is no such file", "name a file with certificates as PEM")
    if ca and not tls:
        raise SpecError(f"remote_ca={ca}: remote={url} has no encryption", "write https://, or no remote_ca=")
    if token and not tls and not _is_this_machine(host):
        raise SpecError(f"remote={url}: a token is not sent without encryption", "write https://, or no remote_token=")
    return RemoteSettings(host, port, parts.path.rstrip("/"), tls, upload, token, ca)


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
    if parts.scheme in _GRPC:
        raise SpecError(
            f"remote={url}: a shared cache is reached over HTTP, not gRPC",
            "name its http:// or https:// URL, or run gradmill as an action of Bazel or Buck, which have gRPC clients",
        )
    if parts.scheme not in _SCHEMES or not parts.hostname or parts.query or parts.fragment:
        raise SpecError(f"remote={url}: not the URL of a server", _EXAMPLE)
    return parts, port


def _is_this_machine(host: str) -> bool:
    return host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdecimal())
