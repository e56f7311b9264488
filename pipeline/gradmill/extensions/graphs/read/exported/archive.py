"""Extracts the model from a `.pt2` file: a member of a zip file, of bounded size. Weights are not read.

Another member, of bounded size too, lists which names of weights are one tensor. If there are any, the model's JSON
gets a field for them, so that it alone is the input.
"""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from errno import EFBIG, EINVAL, EIO

import msgspec

from gradmill.io.decoding import decode_json

MAX_MODEL = 64 << 20  # bytes of model.json, and of the list of weights

_MODELS = "models/"
_WEIGHTS = "data/weights/model_weights_config.json"
_Weights = dict[str, dict[str, dict[str, object]]]


def read_model(path: str) -> bytes:
    """The bytes of the model's JSON. Raises an OSError with the reason if it cannot be read."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        what = "it is truncated or damaged: export the model again"
        if not _starts_as_zip(path):
            what = "it is not a zip file: write it with torch.export.save"
        raise OSError(EINVAL, what) from error
    except (NotImplementedError, ValueError, UnicodeDecodeError) as error:
        raise _damaged(error) from error
    try:
        with archive:
            return _read(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> OSError:
    return OSError(EIO, f"its zip file is damaged: export the model again ({error})")


def _read(archive: zipfile.ZipFile) -> bytes:
    members = archive.infolist()
    models = [each for each in members if _is_model(each.filename)]
    if len(models) != 1:
        names = ", ".join(each.filename for each in models) or "none"
        raise OSError(EINVAL, f"it must contain one model, models/NAME.json; it contains {names}")
    data = _member(archive, models[0], "its model")
    weights = [each for each in members if f"/{each.filename}".endswith(f"/{_WEIGHTS}")]
    shared = _shared(_member(archive, weights[0], "its list of weights")) if weights else {}
    if not shared or not data.startswith(b"{"):
        return data
    return b'{"shared": %s, ' % msgspec.json.encode(shared) + data[1:]


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, what: str) -> bytes:
    if member.flag_bits & 1:
        raise OSError(EINVAL, f"{what} is encrypted: write it with torch.export.save")
    if member.file_size > MAX_MODEL:
        raise OSError(EFBIG, f"{what} has {member.file_size} bytes; at most {MAX_MODEL} are allowed")
    return archive.read(member)  # no more than that


def _shared(data: bytes) -> dict[str, str]:
    """The first name of each tensor that the module has by several names, by name."""
    try:
        config = decode_json(data, _Weights)["config"]
    except (ValueError, KeyError) as error:
        raise OSError(EINVAL, f"its list of weights cannot be read: export the model again ({error})") from None
    parts = {name: (weight.get("path_name"), weight.get("tensor_meta")) for name, weight in config.items()}
    # The part of a memory that a tensor is. A parameter and a buffer may be the same part.
    texts = {
        name: f"{path} {[meta.get(each) for each in ('dtype', 'storage_offset', 'sizes', 'strides')]}"
        for name, (path, meta) in parts.items()
        if isinstance(meta, dict)
    }
    counts, first = Counter(texts.values()), dict[str, str]()
    return {name: first.setdefault(text, name) for name, text in texts.items() if counts[text] > 1}


def _is_model(name: str) -> bool:
    folder, _, file = name.rpartition("/")
    return f"/{folder}/".endswith(f"/{_MODELS}") and file.endswith(".json")


def _starts_as_zip(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"PK"
