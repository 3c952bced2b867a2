"""What is taken off a text at the edge, before anything else reads it, and names fit for a path."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[PX^_][^\x1b\n]*\x1b\\|[@-Z\\-_])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ud800-\udfff]"
)
_LINES = re.compile("\r\n?|[\u2028\u2029]")


def clean(text: str) -> str:
    """Remove controls, terminal escapes, bidi overrides and invisible characters; make line ends one form."""
    if not _SUSPECT.search(text):
        return text
    text = _SURROGATES.sub("\ufffd", _LINES.sub("\n", text))
    # Removing a hidden character may close up a new escape sequence only if ESC survives; _HIDDEN removes every ESC.
    return _HIDDEN.sub("", _ESCAPES.sub("", text))


def one_line(text: str, most: int = 400) -> str:
    """Write a text, such as what an exception says, on one line of at most so many characters.

    >>> one_line("没有\\n 这样的文件", 6)
    '没有 这样…'
    """
    text = " ".join(clean(text).split())
    return text if len(text) <= most else text[: most - 1] + "…"


_UNSAFE = re.compile(r"[^\w.+-]")
_HASHED = re.compile(r"-[0-9a-f]{10}$")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def safe_name(text: str, limit_bytes: int = 100) -> str:
    """Make a file name of any text: no separators or leading dots, capped in bytes, a hash where it was changed."""
    if limit_bytes < 16:
        raise ValueError(f"limit_bytes must be at least 16, not {limit_bytes}")
    name = _UNSAFE.sub("_", unicodedata.normalize("NFC", clean(text))).lstrip(".")
    if name == text and len(name.encode()) <= limit_bytes and not _HASHED.search(name) and not _needs_hash(name):
        return name
    suffix = "-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    head = name.encode()[: limit_bytes - len(suffix)].decode("utf-8", "ignore").rstrip(". ")
    return (head or "_") + suffix


def _needs_hash(name: str) -> bool:
    """Names that some file systems cannot hold as they are, or that fold into another by case."""
    return not name or name.endswith(".") or name != name.casefold() or _RESERVED.fullmatch(name) is not None
