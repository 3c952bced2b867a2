"""Pictures by content: a file is read, and what is read must have the digest it is known by."""

from __future__ import annotations

import hashlib
from pathlib import Path

from meddc_bench.errors import InputError

_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")


def read(path: Path, sha256: str) -> bytes:
    """Read a picture.

    Raises:
        InputError: there is no such file, its bytes are others, or they are no picture.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"the picture cannot be read: {error.strerror}", path=path) from None
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        message = f"the picture is another than the recorded one: its sha256 is {found}, expected {sha256}"
        raise InputError(message, path=path)
    if not data.startswith(_SIGNATURES):
        raise InputError("is no picture: expected a PNG, JPEG or WebP file", path=path)
    return data
