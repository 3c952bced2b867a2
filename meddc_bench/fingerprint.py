"""Digests of what a result depends on, and the seeds drawn from them."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def canonical(value: Any) -> bytes:
    """Encode plain data as JSON with sorted keys: the same value gives the same bytes everywhere."""
    return _encoder.encode(value)


def digest(value: Any) -> str:
    """Return the first 128 bits of the SHA-256 of `canonical(value)`, in hex.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    data = value if isinstance(value, bytes) else canonical(value)
    return hashlib.sha256(data).hexdigest()[:32]


def chain(*parts: str) -> str:
    """Digest texts of fixed form one after another: 128 bits in hex, quick enough for every record of a large run."""
    return hashlib.blake2b("|".join(parts).encode(), digest_size=16).hexdigest()


def derive_seed(run_seed: int, *parts: str | int) -> int:
    """Draw a 63-bit seed from the run's seed and what it is for (task, case, repeat, role); never from a label.

    >>> derive_seed(0, "meddc_record", "rec-001", 0, "policy") == derive_seed(0, "meddc_record", "rec-001", 0, "policy")
    True
    """
    return int.from_bytes(hashlib.sha256(canonical([run_seed, *parts])).digest()[:8]) >> 1
