"""The patient's part of a NEJM row of AgentClinic: instructions to an actor, told as facts in the first person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from meddc_importers.agentclinic_actor import CHILD, YEARS, Actor
from meddc_importers.english_facts import atomic, says_nothing
from meddc_importers.lines import Line


def nejm_actor(info: str, line: Line) -> Actor:
    """Read the patient_info of a NEJM row: instructions to an actor in the second person, told in the first."""
    actor = Actor()
    said = [_told(one) for one in _statements(info)]
    said = [one for one in said if one and not says_nothing(one)]
    if not said:
        line.reject("nothing of it is a fact that the patient could tell; the case is left out", "patient_info")
    who = next((one for one in said if YEARS.search(one) or CHILD.search(one)), None)
    if who is not None:
        match = re.search(
            r"(?:\d+|\w+)[- ](?:year|month|week|day)s?[- ]old(?: (?:man|woman|boy|girl|male|female|infant))?",
            who,
            re.IGNORECASE,
        )
        actor.take("demographics", match.group() if match else who)
    complaint = next(
        (one for text in said for one in atomic(text) if not one.denied and (text is not who or len(one.text) > 60)),
        None,
    )
    if complaint is None:
        line.reject("states no complaint; the case is left out", "patient_info")
    actor.complain(complaint.text)
    for text in said:
        actor.take("history_of_present_illness", text)
    return actor


_INSTRUCTION = re.compile(
    r"\b(?:remember|your (?:role|character|knowledge)|as a patient|patient actor|you need to (?:convey|know)|"
    r"you are (?:not )?aware|"
    r"not aware of|haven['’]t (?:been told|seen)|portray|test readings|you don['’]t know|technical details|"
    r"symptoms and discomfort)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^\W*(?:\d{1,2}[.)]\s*)?(?:\*\*)?[A-Z][\w ’'/&()-]{2,60}?(?:\*\*)?\s*:\s*(?:\*\*)?")
_ROLE = re.compile(
    r"^(?:for your role as a patient|as a patient actor|in your role as a patient)[^:,]*[:,]\s*(?:here['’]s[^:]*:|"
    r"you need to[^:]*:)?\s*",
    re.IGNORECASE,
)
_SECOND = (
    (re.compile(r"\byou(?:['’]ve| have)\b", re.IGNORECASE), "I have"),
    (re.compile(r"\byou(?:['’]re| are)\b", re.IGNORECASE), "I am"),
    (re.compile(r"\byou were\b", re.IGNORECASE), "I was"),
    (
        re.compile(
            r"\b(for|to|of|with|from|around|give|gives|let|lets|makes?|made|told|tell|helps?|causes?|caus(?:ing|ed)) you\b",
            re.IGNORECASE,
        ),
        r"\1 me",
    ),
    (re.compile(r"\byourself\b", re.IGNORECASE), "myself"),
    (re.compile(r"\byour\b"), "my"),
    (re.compile(r"\bYour\b"), "My"),
    (re.compile(r"\byou\b", re.IGNORECASE), "I"),
)


def _statements(info: str) -> Iterator[str]:
    """Cut the instructions at bullets, numbers and sentences."""
    for part in re.split(r"\n+|(?:^|\s)-\s+(?=\S)|\s\d{1,2}\.\s+(?=\*\*|[A-Z])", _ROLE.sub("", info.strip())):
        for sentence in re.split(r"(?<=[.!?])\s+", part.strip()):
            if sentence:
                yield sentence


def _told(sentence: str) -> str:
    """Turn one instruction into what the patient says; empty where it tells the actor how to act."""
    if _INSTRUCTION.search(sentence):
        return ""
    text = _LABEL.sub("", sentence).replace("**", "")
    for pattern, plainly in _SECOND:
        text = pattern.sub(plainly, text)
    return text.strip()
