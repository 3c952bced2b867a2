"""What a model is, where it is a folder: a digest of the files an engine reads, so that its path does not count.

Small files count byte for byte. Weights of more than 16 MiB count by name, size and samples: the head, where safetensors
keep names, types and shapes of the tensors, and blocks evenly spaced over the file. Two checkpoints of one training
differ in those, and a folder of any size need not be read whole.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from meddc_bench.fingerprint import digest

WHOLE = 16 << 20
"""Bytes up to which a file is read whole."""
HEAD, BLOCK, BLOCKS = 1 << 20, 64 << 10, 64
"""What is read of a larger one: so many bytes of its head, and so many blocks of so many bytes."""

_SETTINGS = (".json", ".jinja", ".model", ".tiktoken", ".txt")
_WEIGHTS = (".bin", ".pt", ".pth", ".gguf")
_OF_THE_TRAINING = ("optimizer", "scheduler", "scaler", "rng_state", "trainer_state", "training_args", "latest")
_OF_THE_READER = ("license", "notice", "readme", "requirements")


def model_digest(path: Path) -> str:
    """Digest a model: a folder, or one file of weights such as a GGUF.

    Raises:
        OSError: a file cannot be read.
    """
    files = sorted(_files(path)) if path.is_dir() else [path]
    return _digest(tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files))


def _files(folder: Path) -> Iterator[Path]:
    """Find what an engine reads: settings, tokenizer, templates, and safetensors or else other weights."""
    inside = [*folder.iterdir(), *folder.glob("additional_chat_templates/*.jinja")]
    files = [one for one in inside if one.is_file() and not one.name.startswith((".", *_OF_THE_TRAINING))]
    safe = [one for one in files if one.suffix == ".safetensors"]
    yield from safe or (one for one in files if one.suffix in _WEIGHTS)
    settings = (one for one in files if one.suffix in _SETTINGS)
    yield from (one for one in settings if not one.name.lower().startswith(_OF_THE_READER))


@functools.lru_cache(maxsize=32)
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    parts = [b"%s\0%d\0%s" % (path.name.encode(), size, _content(path, size).encode()) for path, size, _ in files]
    return digest(b"\n".join(parts))


def _content(path: Path, size: int) -> str:
    with open(path, "rb") as file:
        if size <= WHOLE:
            return hashlib.file_digest(file, "sha256").hexdigest()
        sampled = hashlib.sha256(file.read(HEAD))
        for index in range(1, BLOCKS + 1):
            file.seek((size - BLOCK) * index // BLOCKS)
            sampled.update(file.read(BLOCK))
        return sampled.hexdigest()
