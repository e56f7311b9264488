"""Whether a text that is being typed can be read: found from the changed entries as from the whole text."""

from __future__ import annotations

from random import Random

import pytest
from never_wrong.mutations import HEADS, ODD_VALUES
from project import CORE

from gradmill.extensions.browse.lsp.sessions.broken import Read, read

_ALL = (CORE / "native_functions.yaml").read_bytes()
TEXT = _ALL[: _ALL.index(b"\n-", 12_000) + 1]
ODD = [b"", b"\n", b"\n-", b"- ", b"- func: x(Tensor a) -> Tensor\n", b'"', b"[", b"]", b"{", b"\r", b"\r\n-", b"\0"]
ODD += [b"\xff", b"\xc3", b"\n---\n", b"\n...\n", b"&a b", b"\n  <<: *a", b" |\n", b"\xe2\x80\xa8", b"\nx: y\n", b"\t"]
ODD += [text.encode() for text in (*HEADS, *ODD_VALUES)]


def verdict(response: Read) -> tuple[bool, str]:
    """Whether the text is read entry by entry, and what is wrong with it."""
    return bool(response.good) and response.error is None, "" if response.error is None else repr(vars(response.error))


def typed(text: bytes, random: Random) -> bytes:
    """A text with something typed, deleted, repeated or moved in it."""
    start = random.choice(
        [0, len(text), random.randrange(len(text)), text.find(b"\n-", random.randrange(len(text))) + 1]
    )
    end = start if random.random() < 0.5 else min(len(text), start + random.choice([1, 5, 80, 900, 5000]))
    new = random.choice([random.choice(ODD), text[end : end + random.choice([1, 40, 2000])]])
    return text[:start] + new + text[end:]


@pytest.mark.parametrize("part", range(6))
def test_a_changed_text_is_read_as_if_it_were_the_first(part: int) -> None:
    random = Random(part)
    good = read(TEXT, "native", b"").good
    assert good == TEXT
    text = TEXT
    for _ in range(200):
        text = typed(random.choice([text, TEXT]), random) or TEXT
        actual, fresh = read(text, "native", good), read(text, "native", b"")
        assert verdict(actual) == verdict(fresh), text
        good = actual.good


def test_it_sees_that_an_entry_far_from_the_end_is_broken() -> None:
    for at in (0, 1, 5000, 9000, len(TEXT) - 1):
        assert read(TEXT[:at] + b"\0" + TEXT[at:], "native", TEXT).error is not None
