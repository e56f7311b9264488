"""Extracts the model from a `.pt2` file: one member of a zip file, of bounded size. Weights are not read."""

from __future__ import annotations

import zipfile
import zlib
from errno import EFBIG, EINVAL, EIO

MAX_MODEL = 64 << 20  # bytes of model.json
MAX_MEMBERS = 200_000

_MODELS = "models/"


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
    if len(members) > MAX_MEMBERS:
        raise OSError(EFBIG, f"its zip file has {len(members)} members; at most {MAX_MEMBERS} are allowed")
    models = [each for each in members if _is_model(each.filename)]
    if len(models) != 1:
        names = ", ".join(each.filename for each in models) or "none"
        raise OSError(EINVAL, f"it must contain one model, models/NAME.json; it contains {names}")
    if models[0].flag_bits & 1:
        raise OSError(EINVAL, "its model is encrypted: write it with torch.export.save")
    if models[0].file_size > MAX_MODEL:
        raise OSError(EFBIG, f"its model has {models[0].file_size} bytes; at most {MAX_MODEL} are allowed")
    with archive.open(models[0]) as file:
        data = file.read(MAX_MODEL + 1)
    if len(data) > MAX_MODEL:
        raise OSError(EFBIG, f"its model has more than {MAX_MODEL} bytes")
    return data


def _is_model(name: str) -> bool:
    folder, _, file = name.rpartition("/")
    return f"/{folder}/".endswith(f"/{_MODELS}") and file.endswith(".json")


def _starts_as_zip(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"PK"
