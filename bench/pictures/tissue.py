"""What a microscope and an endoscope show: cells, glands and stains; the inside of hollow organs."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Colour = tuple[int, int, int]

_STAINS: dict[str | None, tuple[Colour, Colour, Colour]] = {
    "HE": ((238, 196, 214), (216, 140, 176), (84, 48, 132)),
    "PAS": ((240, 214, 226), (214, 92, 150), (104, 64, 140)),
    "免疫组化": ((236, 236, 240), (196, 160, 120), (92, 110, 168)),
    "瑞氏": ((244, 228, 226), (226, 150, 148), (92, 44, 140)),
    "免疫荧光": ((4, 8, 6), (40, 200, 92), (10, 50, 24)),
    None: ((214, 206, 220), (176, 160, 196), (92, 84, 140)),
}
"""Ground, body and nuclei of what is stained."""
_GREYS: tuple[Colour, Colour, Colour] = ((196, 196, 196), (128, 128, 128), (60, 60, 60))

_POWER = {"低倍": 1.0, None: 1.0, "高倍": 1.7, "油镜": 2.3, "超微": 2.6}


def slide(
    modality: str, anatomy: str, view: str | None, stain: str | None, x: Array, y: Array,
    rng: np.random.Generator,
) -> Array:  # fmt: skip
    """Draw a section or a smear."""
    ground, body, nucleus = _GREYS if modality == "电子显微镜" else _STAINS[stain or _usual(modality)]
    zoom = _POWER[view]
    image = np.empty((*x.shape, 3))
    image[:] = ground
    x, y = x / zoom + rng.uniform(-0.1, 0.1), y / zoom + rng.uniform(-0.1, 0.1)
    {"胃": _glands, "结肠": _glands, "皮肤": _skin, "肾": _kidney, "淋巴结": _packed, "骨髓": _smear, "足": _smear,
     "肺": _alveoli, "乳腺": _ducts, "肝": _cords, "甲状腺": _follicles}[anatomy](image, body, nucleus, x, y, rng)  # fmt: skip
    return _levels(image)


def _usual(modality: str) -> str | None:
    return "免疫荧光" if modality == "荧光显微镜" else None


def _disc(image: Array, colour: Colour, x: Array, y: Array, cx: float, cy: float, r: float) -> None:
    image[np.hypot(x - cx, y - cy) <= r] = colour


def _ring(
    image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, cx: float, cy: float, r: float,
    lumen: Colour, count: int = 11,
) -> None:  # fmt: skip
    """Draw a gland cut across: cells in a ring around a lumen, each with its nucleus."""
    _disc(image, body, x, y, cx, cy, r)
    _disc(image, lumen, x, y, cx, cy, 0.42 * r)
    for n in range(count):
        a = 2 * np.pi * n / count
        _disc(image, nucleus, x, y, cx + 0.8 * r * np.cos(a), cy + 0.8 * r * np.sin(a), 0.11 * r)


def _grid(step: float, rng: np.random.Generator, jitter: float) -> list[tuple[float, float]]:
    places = np.arange(-1.1, 1.2, step)
    return [(u + rng.uniform(-jitter, jitter), v + rng.uniform(-jitter, jitter)) for u in places for v in places]


def _glands(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    for u, v in _grid(0.36, rng, 0.03):
        _ring(image, body, nucleus, x, y, u, v, 0.16, (250, 244, 246) if sum(body) > 200 else (0, 0, 0))


def _follicles(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    for u, v in _grid(0.5, rng, 0.05):
        _ring(image, nucleus, nucleus, x, y, u, v, 0.23, body, 16)
        _disc(image, body, x, y, u, v, 0.18)


def _ducts(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    for u, v in _grid(0.62, rng, 0.1):
        for _ in range(5):
            _ring(
                image,
                body,
                nucleus,
                x,
                y,
                u + rng.uniform(-0.17, 0.17),
                v + rng.uniform(-0.17, 0.17),
                0.09,
                (250, 246, 248),
                8,
            )


def _cords(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    image[(np.sin(22 * (x + 0.25 * np.sin(4 * y))) > -0.55)] = body
    for u, v in _grid(0.14, rng, 0.03):
        _disc(image, nucleus, x, y, u, v, 0.022)
    _disc(image, (252, 246, 248), x, y, 0, 0, 0.12)


def _packed(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    for u, v in _grid(0.07, rng, 0.015):
        _disc(image, nucleus, x, y, u, v, 0.024)
    for u, v in ((-0.4, -0.3), (0.4, 0.35)):
        image[np.abs(np.hypot(x - u, y - v) - 0.27) < 0.015] = body


def _smear(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    for u, v in _grid(0.19, rng, 0.05):
        _disc(image, body, x, y, u, v, 0.062)
    for u, v in _grid(0.55, rng, 0.14):
        _disc(image, tuple((one + 255) // 2 for one in nucleus), x, y, u, v, 0.115)
        _disc(image, nucleus, x, y, u + 0.02, v, 0.075)


def _alveoli(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    image[:] = body
    for u, v in _grid(0.31, rng, 0.03):
        _disc(image, (252, 248, 250), x, y, u, v, 0.142)
    for u, v in _grid(0.15, rng, 0.04):
        _disc(image, nucleus, x, y, u, v, 0.014)


def _kidney(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    hole = (250, 246, 248) if sum(body) > 330 and sum(nucleus) > 150 else (0, 0, 0)
    for u, v in _grid(0.23, rng, 0.02):
        _ring(image, body, nucleus, x, y, u, v, 0.1, hole, 7)
    _disc(image, hole, x, y, 0, 0, 0.34)
    for a in np.arange(0, 6.2, 0.42):
        for r in (0.08, 0.17, 0.26):
            image[np.abs(np.hypot(x - r * np.cos(a + r), y - r * np.sin(a + r)) - 0.045) < 0.014] = body
            _disc(image, nucleus, x, y, r * np.cos(a), r * np.sin(a), 0.016)


def _skin(image: Array, body: Colour, nucleus: Colour, x: Array, y: Array, rng: np.random.Generator) -> None:
    edge = -0.05 + 0.12 * np.sin(9 * x)
    image[(y > -0.62) & (y < edge)] = body
    image[(y > -0.74) & (y <= -0.62)] = nucleus
    for u, v in _grid(0.085, rng, 0.02):
        if -0.55 < v < -0.05 + 0.12 * np.sin(9 * u) or (v > 0.2 and rng.random() < 0.12):
            _disc(image, nucleus, x, y, u, v, 0.02)
    image[np.abs(y - edge) < 0.018] = body
    image[y < -0.74] = (250, 248, 250) if sum(body) > 330 and sum(nucleus) > 150 else (0, 0, 0)


# ── endoscopy ────────────────────────────────────────────────────────────────────────────────────

_MUCOSA: dict[str, Colour] = {
    "胃": (214, 104, 84),
    "结肠": (226, 136, 112),
    "食管": (232, 172, 158),
    "支气管": (222, 138, 132),
}


def lumen(anatomy: str, x: Array, y: Array, rng: np.random.Generator) -> Array:
    """Look into a hollow organ: folds of the stomach, rings of the colon, the smooth gullet, the fork of the airways."""
    cx, cy = rng.uniform(-0.12, 0.12, 2)
    radius, angle = np.hypot(x - cx, y - cy), np.arctan2(y - cy, x - cx)
    depth = np.clip(radius / 1.1, 0, 1)
    if anatomy == "支气管":
        radius = np.minimum(np.hypot(x - cx - 0.34, y - cy), np.hypot(x - cx + 0.34, y - cy))
        depth = np.clip(0.12 + radius / 0.75, 0, 1)
        pattern = 0.1 * (np.sin(radius * 34) > 0.5)
    elif anatomy == "胃":
        pattern = 0.17 * np.sin(angle * 9 + 3 * np.sin(radius * 5))
    elif anatomy == "结肠":
        wave = radius * (1 + 0.16 * np.cos(3 * angle))
        pattern = 0.22 * (np.sin(wave * 15) > 0.45)
    else:
        pattern = 0.05 * np.sin(angle * 22)
    light = np.clip(depth * (1 + pattern), 0.04, 1.15)
    image = np.stack([one * light for one in _MUCOSA[anatomy]], axis=2)
    image[np.hypot(x, y) > 0.97] = 0
    return _levels(image)


def _levels(image: Array) -> Array:
    kept: Array = (np.clip(image, 0, 255) // 8 * 8 + 4).astype(np.uint8)
    return kept
