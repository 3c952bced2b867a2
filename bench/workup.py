"""Speed and memory of the workup environment: consultations of about 25 actions, with nobody thinking between them.

    python bench/workup.py [--rules]      --rules: also the rule-based policy `workup` with the patient `grounded`, stored

The doctor is a fixed script that asks, examines, orders, consults, makes mistakes and concludes; the patient answers with
one fixed sentence. At least 100 consultations a second on one core; the peak of 4,000 is that of 400.

The rule-based policy holds no plan from one consultation to the next, but what it and the patient make of a text is kept.
Hence three figures: the cases of the task once more under other seeds; with other facts recorded each time, so that questions
and answers differ; and with every fact in other words as well, so that no text of the patient was met before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from meddc_bench.adapters import Caller
from meddc_bench.contracts import Answer, Call, PatientView, PolicyView, Reply
from meddc_bench.environments.workup import WorkupEnvironment, WorkupOptions
from meddc_bench.pipeline.rollout import Rollout, roll_out
from meddc_bench.task import TaskIndex

SMALL, LARGE, RULES = 400, 4000, 160
_BEFORE = ("嗯", "哦", "唉", "那个", "这个", "反正", "其实", "说实话", "怎么说呢", "我想想")
_AFTER = ("", "吧", "呢", "啊", "的", "哈")
_ASKED = (
    "哪里不舒服？",
    "疼多久了？",
    "发烧吗？",
    "有没有呕吐？",
    "以前有什么病？",
    "吃什么药？",
    "抽烟吗？",
    "家里人呢？",
)
_WORKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("physical_examination", {"examinations": ["生命体征", "一般情况", "腹部", "淋巴结"]}),
    ("physical_examination", {"examinations": ["心血管系统", "呼吸系统", "四肢", "神经系统"]}),
    ("order_tests", {"tests": ["血常规", "生化", "尿常规", "心电图"]}),
    ("consult_specialist", {"department": "检验科"}),
    ("consult_specialist", {"department": "心内科"}),
    ("order_tests", {"tests": ["CT", "超声", "磁共振", "胃镜"]}),
    ("consult_specialist", {"department": "影像科"}),
    ("consult_specialist", {"department": "消化内科"}),
    ("order_tests", {"tests": ["水晶球"]}),
    ("order_tests", {"tests": ["组织病理", "免疫组化", "肿瘤标志物", "免疫学"]}),
    ("consult_specialist", {"department": "病理科"}),
    ("consult_specialist", {"department": "检验科"}),
    ("search", {"query": "鉴别诊断"}),
)


class Script:
    """Does what the phase allows, in a fixed order."""

    def start(self, view: PolicyView) -> Script:
        """Begin anew for each consultation."""
        return Script()

    def __init__(self) -> None:
        self._asked = self._worked = 0

    async def act(self, view: PolicyView) -> Reply:
        """Take the next action of the phase."""
        if view.phase == "history" and self._asked < len(_ASKED):
            self._asked += 1
            return Reply(_ASKED[self._asked - 1])
        if view.phase == "history":
            return Reply(calls=(Call("begin_workup", {}),))
        if view.phase == "workup" and self._worked < len(_WORKED):
            name, arguments = _WORKED[self._worked]
            self._worked += 1
            return Reply(calls=(Call(name, arguments),))
        if view.phase in ("workup", "integrity"):
            return Reply(calls=(Call("gate_verdict", {"verdict": "consistent"}),))
        return Reply(calls=(Call("final_diagnosis", {"diagnoses": ["胃癌"]}),))


class Mumbles:
    """Answers every question alike."""

    async def answer(self, view: PatientView) -> Answer:
        """Say nothing of use."""
        return Answer("说不好。", status="not recorded")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", action="store_true", help="also measure the rule-based policy")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=list(KINDS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.kind:
        print(json.dumps(asyncio.run(_ruled(arguments.child, KINDS[arguments.kind]))))
        return
    if arguments.child:
        print(json.dumps(asyncio.run(_measured(arguments.child, Script(), Mumbles()))))
        return
    small, large = _child(SMALL), _child(LARGE)
    _say("consultations a CPU second", f"{large['made'] / large['cpu']:.0f}", "at least 100")
    _say("actions a consultation", f"{large['actions'] / large['made']:.1f}", "about 25")
    _say("CPU a consultation, 4,000 over 400", f"{_each(large) / _each(small):.2f}x", "linear: about 1")
    _say("peak memory, 4,000 over 400", f"{large['peak'] / small['peak']:.2f}x", "flat: at most 1.1x")
    if arguments.rules:
        for kind, wanted in (("same", "at least 100"), ("facts", "no bound"), ("words", "no bound")):
            found = _child(RULES, kind)
            _say(f"rule-based: {KINDS[kind].__doc__}", f"{found['made'] / found['cpu']:.0f}", wanted)


def _same(case: Any, rng: random.Random) -> Any:
    """same cases, other seeds"""
    return case


def _facts(case: Any, rng: random.Random) -> Any:
    """other facts recorded"""
    return case.model_copy(update={"facts": tuple(one for one in case.facts if one.opening or rng.random() > 1 / 6)})


def _words(case: Any, rng: random.Random) -> Any:
    """other facts and words"""
    facts = tuple(one if one.opening else _reworded(one, rng) for one in _facts(case, rng).facts)
    return case.model_copy(update={"facts": facts})


def _reworded(fact: Any, rng: random.Random) -> Any:
    said = f"{rng.choice(_BEFORE)}，{rng.choice(_BEFORE)}，{fact.text.rstrip('。')}{rng.choice(_AFTER)}。"
    return fact.model_copy(update={"text": said})


KINDS = {"same": _same, "facts": _facts, "words": _words}


async def _ruled(number: int, vary: Any) -> dict[str, float]:
    """Roll out the rule-based policy and store the histories, after a first round of the cases."""
    from meddc_offline.grounded import Grounded
    from meddc_offline.workup_policy import WorkupDoctor

    await _measured(16, WorkupDoctor(), Grounded())
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "histories.jsonl").open("wb") as file:
        return await _measured(number, WorkupDoctor(), Grounded(), vary, file, first=16)


async def _measured(
    number: int, policy: Any, patient: Any, vary: Any = _same, file: Any = None, first: int = 0
) -> dict[str, float]:
    (task,) = TaskIndex().resolve("osce_zh")
    options = WorkupOptions.model_validate(task.config.environment.options)
    environment: Any = WorkupEnvironment(options, None)  # type: ignore[arg-type]
    caller, actions = Caller(), 0
    rounds = [divmod(index, len(task.cases)) for index in range(first, first + number)]
    varied = [(vary(task.cases[place], random.Random(f"{repeat}:{place}")), repeat) for repeat, place in rounds]
    begun = time.process_time()
    for case, repeat in varied:
        history = await roll_out(
            policy, Rollout(task, case, environment, patient, repeat=repeat, caller=caller), caller
        )
        actions += sum(turn.role == "doctor" for turn in history.turns)
        if file is not None:
            file.write(msgspec.json.encode(history) + b"\n")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"made": number, "cpu": time.process_time() - begun, "actions": actions, "peak": peak}


def _child(number: int, kind: str = "") -> dict[str, float]:
    words = [sys.executable, __file__, "--child", str(number), *(("--kind", kind) if kind else ())]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def _each(found: dict[str, float]) -> float:
    return found["cpu"] / found["made"]


def _say(what: str, value: str, wanted: str) -> None:
    print(f"{what:<45} {value:>10}   {wanted}")


if __name__ == "__main__":
    main()
