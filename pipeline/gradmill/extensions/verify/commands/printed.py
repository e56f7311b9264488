"""The type of the JSON that `verify` prints."""

from typing import Any

from gradmill.extensions.verify.report import Report

PRINTED: dict[str, Any] = {"verify": Report}
