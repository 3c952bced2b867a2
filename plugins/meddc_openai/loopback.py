"""An OpenAI-compatible chat server on the loopback, to try endpoints without a model: `python -m meddc_openai.loopback`.

It plays every role, told by the model's name (`doctor`, `patient`, `reader` or `judge` occurs in it), by plain matching
of characters over the prompt it gets; the same messages always get the same reply. It can fail as servers do:

    429  500  slow  reset  truncated  html  blank  badjson

each with a probability, drawn from the seed, the request and how often it was seen, so that a run's faults do not
depend on the order of its requests. `GET /stats` counts requests, and those made again after they were answered.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

ROLES = ("doctor", "patient", "reader", "judge")
FAULTS = ("429", "500", "slow", "reset", "truncated", "html", "blank", "badjson")

QUESTIONS = (
    "您好，这种不舒服是什么时候开始的？是突然出现的还是慢慢加重的？",
    "具体在哪个位置？是怎样的感觉，疼得厉害吗？",
    "除了刚才说的，有没有发热、咳嗽、恶心、呕吐，大小便有没有变化？",
    "以前得过什么病，做过手术吗？平时在吃什么药，对什么药过敏吗？",
    "家里人有没有类似的毛病？平时抽烟喝酒吗？",
)
_GUESSES = (
    ("咳", "急性支气管炎"), ("腹|肚子", "急性胃肠炎"), ("胸", "冠状动脉粥样硬化性心脏病"), ("头", "偏头痛"),
    ("尿", "尿路感染"), ("疹|痒", "湿疹"), ("关节|膝|腰", "骨关节炎"),
)  # fmt: skip
_BLOCK = re.compile(r"^\[([\w-]+)\][^\n]*\n<(\w+)>\n(.*?)\n</\2>", re.MULTILINE | re.DOTALL)
_FACT = re.compile(r"^\[([\w-]+)\]（(有|无)[^）]*）\n<fact>\n(.*?)\n</fact>", re.MULTILINE | re.DOTALL)
_TURN = re.compile(r"^\[话轮 (\d+)\]\n<(\w+)>\n(.*?)\n</\2>", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"<(\w+)>\n(.*?)\n</\1>", re.DOTALL)


# ── what each role says ──────────────────────────────────────────────────────────────────────────


def _guess(text: str) -> list[str]:
    return [name for pattern, name in _GUESSES if re.search(pattern, text)][:2] or ["上呼吸道感染"]


def _alike(one: str, other: str) -> float:
    pairs = {one[at : at + 2] for at in range(len(one) - 1)}
    return sum(pair in other for pair in pairs) / len(pairs) if pairs else 0.0


def _words(content: Any) -> str:
    """Return the text of a message's content, which may be a list of parts."""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def _doctor(messages: Sequence[Mapping[str, Any]]) -> list[str] | str:
    asked = sum(one["role"] == "assistant" for one in messages)
    if asked < len(QUESTIONS) and "已用完" not in _words(messages[-1]["content"]):
        return QUESTIONS[asked]
    return _guess(" ".join(_words(one["content"]) for one in messages[1:] if one["role"] == "user"))


def _patient(messages: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    asked = _FENCED.findall(messages[-1]["content"])
    question = next((text for tag, text in reversed(asked) if tag == "doctor"), "")
    facts = _FACT.findall(messages[0]["content"])
    told = [(name, kind, text) for name, kind, text in facts if _alike(text, question) > 0.12][:4]
    if not told:
        return {"text": "这个不清楚，没注意过。", "fact_ids": [], "status": "not recorded", "unknown": [question[:20]]}
    status = "stated" if any(kind == "有" for _, kind, _ in told) else "denied"
    words = "；".join(text for _, _, text in told)
    return {"text": f"{words}。", "fact_ids": [name for name, _, _ in told], "status": status, "unknown": []}


def _judge(prompt: str) -> dict[str, Any]:
    blocks, turns = _BLOCK.findall(prompt), _TURN.findall(prompt)
    if "六个维度" in prompt:
        text = next((text for tag, text in _FENCED.findall(prompt) if tag == "conclusion"), "")
        return {"items": [{"text": name, "dimension": "diagnosis"} for name in _guess(text)]}
    if "摘出他向患者问了哪些问题" in prompt:
        asked = [(index, part) for index, _, text in turns for part in re.findall(r"[^？?。]+[？?]", text)]
        return {"questions": [{"text": part, "turn": int(index), "quote": part} for index, part in asked]}
    if "不等医生问" in prompt:
        return {"matches": []}
    named = "target" if "问诊目标" in prompt else "reference"
    predictions = [(name, text) for name, tag, text in blocks if tag in ("prediction", "question")]
    references = [(name, text) for name, tag, text in blocks if tag == named]
    if "是在哪一轮问的" in prompt:
        references = [(index, text) for index, _, text in turns]
    floor = 0.34 if named == "target" else 0.5
    graded = "定对应等级" in prompt
    found = [
        {
            "prediction": one, "reference": other, "reason": "字面相近",
            **({"level": "full" if text == wanted else "core"} if graded else {}),
        }
        for one, text in predictions for other, wanted in references if _alike(wanted, text) >= floor
    ]  # fmt: skip
    return {"matches": found}


def reply(role: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message of a role: the same messages get the same reply."""
    messages = body["messages"]
    if role == "doctor" and "独立给出最可能的诊断" in messages[0]["content"]:
        role = "reader"  # the condition `own`
    if role == "doctor":
        said = _doctor(messages)
        if isinstance(said, str):
            return {"role": "assistant", "content": said}
        plan = json.dumps({"diagnoses": said}, ensure_ascii=False)
        if body.get("tools"):
            call = {"id": "call_0", "type": "function", "function": {"name": "diagnose", "arguments": plan}}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"role": "assistant", "content": f"<diagnose>{plan}</diagnose>"}
    if role == "patient":
        answer: Any = _patient(messages)
    elif role == "reader":
        answer = {"diagnoses": _guess(messages[-1]["content"]), "reason": "依据问诊记录。"}
    else:
        answer = _judge(messages[-1]["content"])
    return {"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)}


# ── the server ───────────────────────────────────────────────────────────────────────────────────


@dataclass
class Loopback:
    """The server's state: what it was asked, how it fails, and replies scripted ahead.

    A scripted reply is a text (the message's content), a message (a mapping), an aiohttp response, or a function that
    makes one of these of the request's body, or None; a role's are used up in order before it answers by itself.
    """

    faults: dict[str, float] = field(default_factory=dict)
    seed: int = 1
    latency: float = 0.0
    slow: float = 1.0
    retry_after: str = "0"
    refuses: frozenset[str] = frozenset()
    """Fields that are answered with status 400 and their name."""
    key: str | None = None
    """Where given, any other key is answered with status 401."""
    model: str | None = None
    """The model name reported; the one asked for where not given."""
    counts: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keep_bodies: bool = False
    scripted: dict[str, deque[Any]] = field(default_factory=dict)
    url: str = ""
    _seen: Counter[bytes] = field(default_factory=Counter)
    _answered: set[bytes] = field(default_factory=set)

    def script(self, role: str, *replies: Any) -> None:
        """Queue replies of a role."""
        self.scripted.setdefault(role, deque()).extend(replies)

    def application(self) -> web.Application:
        """Build the aiohttp application."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/stats", self._stats)
        return app

    async def _stats(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(dict(self.counts))

    async def _models(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in ROLES]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        role = next((one for one in ROLES if one in body["model"]), "doctor")
        name = hashlib.blake2b(raw, digest_size=8).digest()
        self.counts["requests"] += 1
        self.counts[role] += 1
        self.counts["made again"] += name in self._answered
        if self.keep_bodies:
            self.bodies.append(body)
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(
                401, f"Incorrect API key provided: {request.headers.get('Authorization', '')}", "invalid_api_key"
            )
        refused = sorted(self.refuses & _fields(body))
        if refused:
            return _error(400, f"Unsupported parameter: {refused[0]!r} is not supported with this model", "unsupported")
        fault = self._draw(name)
        if self.latency:
            await asyncio.sleep(self.latency)
        if fault:
            self.counts[f"fault {fault}"] += 1
        queue = self.scripted.get(role)
        said = queue.popleft() if queue else None
        said = said(body) if callable(said) else said
        said = reply(role, body) if said is None else said
        response = said if isinstance(said, web.StreamResponse) else self._completion(body, said)
        if fault:
            return await self._fail(request, fault, response)
        if response.status == 200:
            self._answered.add(name)
        return response

    def _draw(self, name: bytes) -> str:
        self._seen[name] += 1
        drawn = hashlib.blake2b(name + bytes(f"{self._seen[name]} {self.seed}", "ascii"), digest_size=8).digest()
        left = int.from_bytes(drawn, "big") / 2**64
        for fault, probability in self.faults.items():
            left -= probability
            if left < 0:
                return fault
        return ""

    def _completion(self, body: Mapping[str, Any], said: Any) -> web.Response:
        message = {"role": "assistant", "content": said} if isinstance(said, str) else dict(said)
        finish = message.pop("finish_reason", "tool_calls" if message.get("tool_calls") else "stop")
        prompt = sum(len(str(one["content"])) for one in body["messages"])
        completion = len(str(message.get("content") or ""))
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        choice = {"index": 0, "finish_reason": finish, "message": message}
        return _json({
            "id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": self.model or body["model"],
            "choices": [choice], "usage": usage,
        })  # fmt: skip

    async def _fail(self, request: web.Request, fault: str, response: web.StreamResponse) -> web.StreamResponse:
        if fault == "429":
            return _error(429, "Rate limit reached", "rate_limit_exceeded", {"Retry-After": self.retry_after})
        if fault == "500":
            return _error(500, "The server had an error", "server_error")
        if fault == "html":
            return web.Response(text="<html><body>502 Bad Gateway</body></html>", content_type="text/html")
        if fault == "slow":
            await asyncio.sleep(self.slow)
            return response
        assert request.transport is not None
        if fault in ("reset", "truncated"):
            if fault == "truncated":
                request.transport.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"
                )
                await asyncio.sleep(0)
            request.transport.close() if fault == "truncated" else request.transport.abort()
            return response
        assert isinstance(response, web.Response)
        data = json.loads(response.body)  # type: ignore[arg-type]
        message = data["choices"][0]["message"]
        text = message.get("content") or ""
        message["content"] = text[: len(text) // 2] if fault == "badjson" and text.startswith("{") else ""
        if fault == "blank":
            message.pop("tool_calls", None)
        elif not text.startswith("{"):
            return response
        return _json(data)

    @contextmanager
    def serving(self, port: int = 0) -> Iterator[Loopback]:
        """Serve on a thread of its own; `url` is the base URL for clients."""
        loop = asyncio.new_event_loop()
        runner = web.AppRunner(self.application(), access_log=None, shutdown_timeout=0.1)

        async def start() -> None:
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", port, backlog=2048)
            await site.start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

        loop.run_until_complete(start())
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.run_until_complete(runner.cleanup())
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()


def _fields(body: Mapping[str, Any]) -> frozenset[str]:
    schema = body.get("response_format", {}).get("type") == "json_schema"
    return frozenset(body) | (frozenset({"json_schema"}) if schema else frozenset())


def _json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    body = json.dumps(data, ensure_ascii=False).encode()
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def _error(status: int, message: str, code: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return _json({"error": {"message": message, "type": code, "code": code}}, status, headers)


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m meddc_openai.loopback", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, default=8399)
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=P", help=f"one of {', '.join(FAULTS)}")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    faults = {kind: float(chance) for kind, _, chance in (one.partition("=") for one in given.fault)}
    unknown = set(faults) - set(FAULTS)
    if unknown or sum(faults.values()) > 1:
        parser.error(f"faults are {', '.join(FAULTS)}, with probabilities that sum to at most 1")
    server = Loopback(faults=faults, seed=given.seed, latency=given.latency_ms / 1000)
    print(f"http://127.0.0.1:{given.port}/v1", flush=True)
    web.run_app(server.application(), host="127.0.0.1", port=given.port, print=None, access_log=None, backlog=2048)


if __name__ == "__main__":
    main()
