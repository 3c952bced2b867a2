"""How a modality shows tissue: greys and colours, blur, grain, the field of view, and the stamp."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pictures import tissue
from pictures.shapes import Plane, Shape, shapes

SIZE = 192
Grey = dict[str, int]

_CT: Grey = {
    "fat": 78,
    "soft": 122,
    "organ": 146,
    "fluid": 96,
    "bone": 246,
    "air": 6,
    "lung": 26,
    "vessel": 190,
    "contrast": 214,
    "brain": 128,
    "marrow": 208,
}
_MRI: Grey = {
    "fat": 176,
    "soft": 84,
    "organ": 118,
    "fluid": 244,
    "bone": 22,
    "air": 4,
    "lung": 8,
    "vessel": 14,
    "contrast": 132,
    "brain": 146,
    "marrow": 158,
}
_XRAY: Grey = {
    "fat": 78,
    "soft": 108,
    "organ": 142,
    "fluid": 124,
    "bone": 226,
    "air": 34,
    "lung": 48,
    "vessel": 120,
    "contrast": 150,
    "brain": 132,
    "marrow": 182,
}
_NUCLEAR: Grey = {"soft": 218, "bone": 122, "contrast": 30, "organ": 150}
_ANGIO: Grey = {"soft": 176, "bone": 148, "vessel": 30}
_ECHO: Grey = {"soft": 120, "organ": 96, "vessel": 10, "fluid": 8, "bright": 236, "air": 30}
_BODY: Mapping[str, tuple[int, int, int]] = {
    "soft": (226, 178, 148),
    "mark": (152, 96, 84),
    "hair": (48, 38, 34),
    "bone": (214, 166, 136),
    "fat": (226, 178, 148),
    "marrow": (214, 166, 136),
}
_EYE: Mapping[str, tuple[int, int, int]] = {
    "white": (236, 232, 228), "iris": (112, 74, 44), "pupil": (12, 10, 10),
    "retina": (196, 84, 36), "vessel": (128, 26, 20), "disc": (248, 214, 140), "macula": (150, 54, 26),
}  # fmt: skip

_FONT: Mapping[str, tuple[int, ...]] = {
    "A": (14, 17, 17, 31, 17, 17, 17),
    "C": (15, 16, 16, 16, 16, 16, 15),
    "E": (31, 16, 16, 30, 16, 16, 31),
    "H": (17, 17, 17, 31, 17, 17, 17),
    "I": (14, 4, 4, 4, 4, 4, 14),
    "L": (16, 16, 16, 16, 16, 16, 31),
    "M": (17, 27, 21, 17, 17, 17, 17),
    "N": (17, 25, 21, 19, 17, 17, 17),
    "R": (30, 17, 17, 30, 20, 18, 17),
    "S": (15, 16, 16, 14, 1, 1, 30),
    "T": (31, 4, 4, 4, 4, 4, 4),
    "Y": (17, 17, 10, 4, 4, 4, 4),
    " ": (0,) * 7,
}
"""Letters of five by seven points, a row a number."""


@dataclass(frozen=True)
class Seen:
    """What a picture shows."""

    modality: str
    anatomy: str
    view: str | None = None
    laterality: str | None = None
    stain: str | None = None


def draw(seen: Seen, name: str) -> np.ndarray:
    """Draw a picture; of equal attributes each name has one of its own.

    Returns:
        Array of shape (192, 192, 3), 8-bit red, green and blue.
    """
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    x, y = _field()
    if seen.modality in ("光学显微镜", "荧光显微镜", "电子显微镜"):
        image = tissue.slide(seen.modality, seen.anatomy, seen.view, seen.stain, x, y, rng)
    elif seen.modality == "内镜":
        image = tissue.lumen(seen.anatomy, x, y, rng)
    else:
        image = _body(seen, x, y, rng)
    return _stamped(image, seen.laterality)


def _field() -> tuple[np.ndarray, np.ndarray]:
    line = (np.arange(SIZE) + 0.5) / SIZE * 2 - 1
    x, y = np.meshgrid(line, line)
    return x, y


def _body(seen: Seen, x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    modality = seen.modality
    if modality == "超声":
        return _echo(shapes("echo", seen.anatomy), x, y, rng)
    drawn = _jittered(shapes(_plane(seen), seen.anatomy), rng)
    if seen.laterality == "right":
        x = -x
    if modality == "眼科照相":
        return _coloured(drawn, _EYE, (30, 18, 14) if seen.anatomy == "眼底" else (214, 164, 140), x, y)
    if modality == "体表照相":
        return _coloured(drawn, _BODY, (86, 118, 148), x, y)
    greys, ground, blur, grain = {
        "CT": (_CT, 0, 1, 4), "MRI": (_MRI, 2, 1, 5), "X线平片": (_XRAY, 18, 3, 3),
        "核医学": (_NUCLEAR, 246, 7, 12), "血管造影": (_ANGIO, 196, 2, 4),
    }[modality]  # fmt: skip
    image = np.full(x.shape, float(ground))
    for one in drawn:
        if str(one[0]) in greys:
            image[_inside(one, x, y)] = greys[str(one[0])]
    image = _blurred(image, blur) + rng.integers(-grain, grain + 1, x.shape) * (image > 3)
    return np.repeat(_levels(image)[:, :, None], 3, axis=2)


def _plane(seen: Seen) -> Plane:
    if seen.modality == "血管造影":
        return "vessels"
    if seen.view in ("矢状位", "侧位"):
        return "lateral"
    return "axial" if seen.modality in ("CT", "MRI") and seen.view != "冠状位" else "frontal"


def _echo(drawn: Iterable[Shape], x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    image = np.full(x.shape, 58.0)
    for one in _jittered(drawn, rng):
        image[_inside(one, x, y * 1.05)] = _ECHO[str(one[0])]
    image = _blurred(image, 1) * rng.choice((0.35, 0.75, 1.0, 1.35), x.shape) * (1 - 0.22 * (y + 1) / 2)
    depth, angle = np.hypot(x, y + 1.6), np.arctan2(x, y + 1.6)
    image[(depth < 0.72) | (depth > 2.5) | (np.abs(angle) > 0.62)] = 0
    return np.repeat(_levels(image)[:, :, None], 3, axis=2)


def _coloured(
    drawn: Iterable[Shape], colours: Mapping[str, tuple[int, int, int]], ground: tuple[int, int, int],
    x: np.ndarray, y: np.ndarray,
) -> np.ndarray:  # fmt: skip
    image = np.empty((*x.shape, 3))
    image[:] = ground
    for one in drawn:
        if str(one[0]) in colours:
            image[_inside(one, x, y)] = colours[str(one[0])]
    shade = (1 - 0.16 * np.hypot(x, y))[:, :, None]
    return _levels(np.stack([_blurred(image[:, :, n], 1) for n in range(3)], axis=2) * shade)


def _jittered(drawn: Iterable[Shape], rng: np.random.Generator) -> list[Shape]:
    """Move and stretch a whole drawing a little: two pictures of one kind are two."""
    dx, dy = rng.uniform(-0.04, 0.04, 2)
    scale = rng.uniform(0.93, 1.02)
    out: list[Shape] = []
    for tissue_, kind, *rest in drawn:
        n = [float(one) for one in rest]
        if kind == "e":
            n[:4] = [n[0] * scale + dx, n[1] * scale + dy, n[2] * scale, n[3] * scale]
        else:
            n = [n[0] * scale + dx, n[1] * scale + dy, n[2] * scale + dx, n[3] * scale + dy, n[4] * scale]
        out.append((tissue_, kind, *n))
    return out


def _inside(one: Shape, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    numbers = [float(part) for part in one[2:]]
    if one[1] == "e":
        cx, cy, w, h, *turn = numbers
        angle = np.deg2rad(turn[0]) if turn else 0.0
        u, v = x - cx, y - cy
        u, v = u * np.cos(angle) + v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)
        inside: np.ndarray = (u / w) ** 2 + (v / h) ** 2 <= 1
        return inside
    ax, ay, bx, by, radius = numbers
    length = (bx - ax) ** 2 + (by - ay) ** 2
    along = np.clip(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length if length else 0.0, 0, 1)
    near: np.ndarray = np.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay)) <= radius
    return near


def _blurred(image: np.ndarray, times: int) -> np.ndarray:
    for _ in range(times):
        padded = np.pad(image, 1, mode="edge")
        image = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] + 2 * image) / 6
    return image


def _levels(image: np.ndarray) -> np.ndarray:
    """Keep thirty-two levels: a small file."""
    kept: np.ndarray = (np.clip(image, 0, 255) // 8 * 8 + 4).astype(np.uint8)
    return kept


def _stamped(image: np.ndarray, laterality: str | None) -> np.ndarray:
    image = image.copy()
    image[-13:] = 4
    _write(image, "SYNTHETIC SCHEMATIC", SIZE - 10, (SIZE - 19 * 6) // 2)
    if laterality in ("left", "right"):
        image[2:15, 2:13] = 4
        _write(image, "L" if laterality == "left" else "R", 5, 5)
    return image


def _write(image: np.ndarray, words: str, top: int, left: int) -> None:
    for place, letter in enumerate(words):
        for row, bits in enumerate(_FONT[letter]):
            for column in range(5):
                if bits >> (4 - column) & 1:
                    image[top + row, left + 6 * place + column] = 252
