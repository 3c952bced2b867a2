"""Every way an HTTP endpoint can refuse has its kind: what may pass is tried again, what cannot is said at once."""

from __future__ import annotations

import datetime
import email.utils

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.errors import EndpointError
from meddc_bench.llm.endpoint import status_fault

KINDS = [
    (401, "Incorrect API key provided (invalid_api_key)", "auth"),
    (403, "You do not have access to model m-1", "auth"),
    (402, "Payment Required", "quota"),
    (429, "You exceeded your current quota, please check your plan (insufficient_quota)", "quota"),
    (403, "账户余额不足", "quota"),
    (400, "Arrearage: Access denied, please make sure your account is in good standing.", "quota"),
    (400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", "context"),
    (400, "'max_tokens' is too large: 1024. This model's maximum context length is 2048 tokens", "context"),
    (400, "Range of input length should be [1, 30720]", "context"),
    (413, "prompt is too long: 210000 tokens > 200000 maximum", "context"),
    (422, "输入过长，超过模型上下文", "context"),
    (
        400,
        "The response was filtered due to the prompt triggering content management policy (content_filter)",
        "refusal",
    ),
    (400, "Output data may contain inappropriate content. (data_inspection_failed)", "refusal"),
    (451, "内容安全审核未通过：敏感", "refusal"),
    (400, "Unknown field", "permanent"),
    (404, "The model `m-9` does not exist", "permanent"),
    (405, "Method Not Allowed", "permanent"),
    (413, "Request Entity Too Large", "permanent"),
    (422, "Extra inputs are not permitted", "permanent"),
    (408, "Request Timeout", "transient"),
    (409, "Conflict", "transient"),
    (425, "Too Early", "transient"),
    (429, "Rate limit reached", "transient"),
    (500, "The server had an error", "transient"),
    (502, "Bad Gateway", "transient"),
    (503, "Overloaded", "transient"),
    (504, "Gateway Timeout", "transient"),
    (529, "overloaded_error", "transient"),
]


@pytest.mark.parametrize(("status", "words", "kind"), KINDS)
def test_a_refusal_has_its_kind_and_keeps_the_servers_words(status: int, words: str, kind: str) -> None:
    fault = status_fault(status, words, {})
    assert fault.kind == kind
    assert str(fault) == f"{kind}: HTTP {status}: {words}"


def test_each_kind_of_failure_is_among_those_tried() -> None:
    assert {kind for *_, kind in KINDS} == {"auth", "quota", "permanent", "transient", "context", "refusal"}


def wait(value: str) -> float | None:
    return status_fault(429, "slow down", {"retry-after": value}).retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0), ("30", 30.0), ("1.5", 1.5), ("7200", 7200.0), ("-1", None), ("nan", None), ("soon", None), ("", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("Mon, 99 Foo 99999 99:99:99 GMT", None),
        ("Mon, 01 Jan 2024 00:00:00 +99999999", None), ("inf", float("inf")),
    ],
)  # fmt: skip
def test_retry_after_is_read_in_seconds_or_passed_over(value: str, seconds: float | None) -> None:
    assert wait(value) == seconds


@pytest.mark.parametrize("zone", [datetime.UTC, datetime.timezone(datetime.timedelta(hours=8))])
def test_retry_after_may_be_a_date(zone: datetime.timezone) -> None:
    later = datetime.datetime.now(zone) + datetime.timedelta(seconds=90)
    seconds = wait(email.utils.format_datetime(later))
    assert seconds is not None
    assert 85 < seconds <= 90


@given(st.integers(400, 599), st.text(max_size=40), st.text(max_size=30))
def test_no_words_of_a_server_break_the_run(status: int, words: str, after: str) -> None:
    fault = status_fault(status, words, {"retry-after": after})
    assert isinstance(fault, EndpointError)
    assert fault.retry_after is None or fault.retry_after >= 0
