"""What environments make of a doctor's words: its own part of a turn, and questions that were asked before."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from meddc_bench.text import question_units, similarity, squash

_MARK = r"[\s*#>\[【（(]{0,9}"
_SAID = r"(?:本人|自述|回答|答|说)?[ \t\u3000*\]】）)]{0,9}[:：]"
_OTHER_SPEAKER = re.compile(
    rf"(?:^{_MARK}(?:患者|病人|家属|家长|patient)|(?<=[。？！?!…]){_MARK}(?:患者|病人|patient)){_SAID}",
    re.MULTILINE | re.IGNORECASE,
)
_PARTICLES = re.compile(
    r"请问一下|请问|麻烦|告诉我|能不能|可不可以|有没有|是不是|会不会|是否|有无|一下|这个|那个"
    r"|[了的地得吗呢啊呀吧嘛么您你那这请有过会还也就都再又是]"
)
_A_NOT_A = re.compile(r"([\u3400-\u9fff]{1,2})[不没]\1")
_ASIDE = frozenset({
    "experienc", "feel", "felt", "notic", "tell", "describ", "explain", "know", "let", "still", "happen", "suffer",
    "bother", "symptom", "problem",
})  # fmt: skip
"""Stems with which English questions ask, whatever they ask about."""
_TOKEN = re.compile(r"[a-z0-9.]+|.", re.DOTALL)
_ALIKE = 0.6


def own_words(text: str, breaches: list[str]) -> str:
    """Cut a doctor's turn where it begins to speak for the patient; that is noted as a breach."""
    other = _OTHER_SPEAKER.search(text)
    if other:
        breaches.append("speaks for the patient")
        text = text[: other.start()]
    return text.strip()


def within(text: str, limit: int, breaches: list[str]) -> str:
    """Cut a doctor's turn to so many characters; that is noted as a breach."""
    if len(text) > limit:
        breaches.append(f"longer than {limit} characters")
        text = text[:limit].strip()
    return text


def question_keys(text: str, language: str = "zh") -> tuple[str, ...]:
    """Return what each question of a turn asks, without particles and forms of address; greetings ask nothing.

    >>> question_keys("请问您发烧吗？") == question_keys("有没有发烧呢")
    True
    >>> question_keys("Have you had any fever?", "en") == question_keys("Is there fever?", "en")
    True
    """
    if language == "en":
        return _english_keys(text)
    units = [unit.quote for unit in question_units(text)] or [text]
    return tuple(key for unit in units if (key := _key(unit)))


def is_repeat(keys: Iterable[str], asked: Iterable[str]) -> bool:
    """Say whether a turn only asks what was asked before.

    Two questions are the same when what is left of them holds the same characters in about the same order: 疼多久了 and
    疼了多久. One character of content more or another (左边疼吗, 右边疼吗) makes another question.
    """
    keys, known = tuple(keys), tuple(asked)
    return bool(keys) and all(any(_same(key, other) for other in known) for key in keys)


@functools.lru_cache(maxsize=4096)
def _key(unit: str) -> str:
    squashed = _A_NOT_A.sub(r"\1", squash(unit))
    return _PARTICLES.sub("", squashed) or squashed


@functools.lru_cache(maxsize=8192)
def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    return _tokens(one) == _tokens(other) and similarity(one, other) >= _ALIKE


def _english_keys(text: str) -> tuple[str, ...]:
    from meddc_bench.text.english import english_questions, words  # a stemmer, for English cases alone

    units = [unit.quote for unit in english_questions(text)] or [text]
    return tuple(key for unit in units if (key := " ".join(one.stem for one in words(unit) if one.stem not in _ASIDE)))


@functools.lru_cache(maxsize=4096)
def _tokens(key: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(key))
