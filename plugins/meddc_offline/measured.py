"""Findings that stated numbers amount to: a blood pressure of 160/100, 39.2度, a fasting glucose of 8.9."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PRESSURE = re.compile(r"(?<![\d/.])(?P<high>[6-9]\d|1\d\d|2[0-5]\d)/(?P<low>[3-9]\d|1[0-4]\d)(?![\d/])")
_TEMPERATURE = re.compile(r"(?<![\d.])(?P<whole>3[5-9]|4[0-2])(?:[.点](?P<a>\d)|度(?P<b>\d)(?!\d)|度|℃)(?:度|℃)?")
_VALUES = (
    ("血糖高", re.compile(r"(?:空腹(?:血糖)?|血糖)[^,，。;；\d]{0,8}(?P<n>\d{1,2}(?:\.\d)?)(?![\d%])"), 7.0, 40.0),
    ("血红蛋白低", re.compile(r"(?:血红蛋白|血色素)[^,，。;；\d]{0,8}(?P<n>\d{2,3})(?!\d)"), 20.0, 109.0),
    ("血尿酸升高", re.compile(r"尿酸[^,，。;；\d]{0,8}(?P<n>\d{3})(?!\d)"), 421.0, 1500.0),
)


def measured(text: str) -> Iterator[str]:
    """Name the findings that the numbers of a normalised text amount to, by the usual limits for adults."""
    for match in _PRESSURE.finditer(text):
        if int(match["high"]) >= 140 or (int(match["low"]) >= 90 and int(match["high"]) >= 100):
            yield "血压升高"
    for match in _TEMPERATURE.finditer(text):
        degrees = int(match["whole"]) + int(match["a"] or match["b"] or 0) / 10
        if degrees >= 37.3:
            yield "高热" if degrees >= 39.1 else "发热" if degrees > 38.0 else "低热"
    for name, pattern, least, most in _VALUES:
        if any(least <= float(match["n"]) <= most for match in pattern.finditer(text)):
            yield name
