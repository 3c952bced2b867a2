"""A row in the formats of others: Every Eval Ever (schema 0.3.0) and Hugging Face's `.eval_results`."""

from __future__ import annotations

from typing import Any

import yaml

from meddc_bench.errors import UsageError
from meddc_bench.headline import headline
from meddc_bench.publish.row import MeasuredRow, ScorePart

EEE_VERSION = "0.3.0"
"""The version of the Every Eval Ever schema that is written."""


def every_eval_ever(row: MeasuredRow) -> dict[str, Any]:
    """Write a row as one aggregate record of Every Eval Ever; a metric without a value is left out."""
    stamp = str(int(row.provenance.created.timestamp()))
    model = row.policy.model or row.policy.label
    return {
        "schema_version": EEE_VERSION,
        "evaluation_id": f"meddc-bench.{row.task.name}/{model.replace('/', '_')}/{stamp}",
        "evaluation_timestamp": row.provenance.created.isoformat(),
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "MedDDC-Bench", "source_type": "documentation",
            "source_organization_name": row.policy.by or "unknown", "evaluator_relationship": "other",
            **({"source_organization_url": row.policy.url} if row.policy.url else {}),
            "additional_details": {"seal": row.seal, "evidence_sha256": row.provenance.evidence},
        },
        "eval_library": {"name": "meddc-bench", "version": row.provenance.program, "additional_details": _setup(row)},
        "model_info": {
            "name": row.policy.title, "id": model,
            "additional_details": {
                "deployment_type": "unknown", "model_availability": "unknown", "policy": row.policy.label,
                "plugin": f"{row.policy.distribution} {row.policy.plugin} {row.policy.name}",
                "served": ", ".join(row.policy.served),
            },
        },
        "evaluation_results": [
            _result(row, name, score) for name, score in row.scores.items() if score.mean is not None
        ],
    }  # fmt: skip


def _setup(row: MeasuredRow) -> dict[str, str]:
    one = row.instrument
    return {
        "instrument": one.name, "standard": str(one.standard).lower(), "condition": one.condition,
        "patient": one.patient.model or one.patient.name, "reader": one.reader.model or one.reader.name,
        "judge": one.judge.model or one.judge.name,
    }  # fmt: skip


def _result(row: MeasuredRow, name: str, score: ScorePart) -> dict[str, Any]:
    limits = score.lowest is not None and score.highest is not None
    bounds = {"score_type": "continuous", "min_score": score.lowest, "max_score": score.highest} if limits else {}
    arguments = {
        key: row.policy.sampling[key] for key in ("temperature", "top_p", "max_tokens") if key in row.policy.sampling
    }
    return {
        "evaluation_result_id": f"{row.seal}.{name}",
        "evaluation_name": f"{row.task.name}.{name}",
        "source_data": {
            "dataset_name": row.task.name, "source_type": "other",
            "additional_details": {
                "cases": str(row.task.cases), "repeats": str(row.task.repeats), "cases_digest": row.task.cases_digest,
                "private": str(row.task.private).lower(),
            },
        },
        "metric_config": {
            "metric_id": f"meddc_bench.{name}", "metric_name": name,
            "metric_unit": "proportion" if score.unit == "fraction" else score.unit,
            "lower_is_better": not score.higher_is_better, **bounds,
            "additional_details": {"fingerprint": row.fingerprints[name].digest},
        },
        "score_details": {
            "score": score.mean,
            "details": {
                "values_by_repeat": ", ".join("null" if value is None else repr(value) for value in score.values),
                "sd_over_repeats": "null" if score.sd is None else repr(score.sd),
            },
            **_uncertainty(row, score),
        },
        **({"generation_config": {"generation_args": arguments}} if arguments else {}),
    }  # fmt: skip


def _uncertainty(row: MeasuredRow, score: ScorePart) -> dict[str, Any]:
    if score.low is None or score.high is None:
        return {}
    out: dict[str, Any] = {
        "confidence_interval": {
            "lower": score.low, "upper": score.high, "confidence_level": row.uncertainty.level,
            "method": row.uncertainty.method,
        },
        "num_samples": row.task.cases, "num_bootstrap_samples": row.uncertainty.draws,
    }  # fmt: skip
    if score.se is not None:
        out["standard_error"] = {"value": score.se, "method": "bootstrap"}
    return {"uncertainty": out}


def eval_results(row: MeasuredRow, dataset: str | None) -> bytes:
    """Write a row for a model repository's `.eval_results/` folder: the headline metrics in points, an entry each.

    Args:
        dataset: the Hub dataset, OWNER/NAME, whose eval.yaml defines the tasks `<task>_<metric>`.

    Raises:
        UsageError: no dataset, or not of that form.
    """
    if dataset is None or dataset.count("/") != 1 or not all(dataset.split("/")) or dataset != dataset.strip():
        raise UsageError("Hugging Face needs the Hub dataset that hosts the benchmark: --dataset OWNER/NAME")
    entries = []
    names = headline(row.scores)
    for name in sorted(names, key=lambda name: name != "Total"):
        score = row.scores.get(name)
        if score is not None and score.mean is not None:
            entry: dict[str, Any] = {
                "dataset": {"id": dataset, "task_id": f"{row.task.name}_{name}"}, "value": round(100 * score.mean, 2),
                "date": row.provenance.created.date().isoformat(), "evaluation_framework": "meddc-bench",
                "notes": _notes(row, score),
            }  # fmt: skip
            if row.policy.url:
                entry["source"] = {"url": row.policy.url, "name": row.policy.by or "MedDDC-Bench row"}
            entries.append(entry)
    if not entries:
        raise UsageError("the row has none of the headline metrics: D, T, E, Total, Acc, Strict, Acc50, Strict50")
    text: str = yaml.safe_dump(entries, allow_unicode=True, sort_keys=False, width=120)
    return text.encode("utf-8")


def _notes(row: MeasuredRow, score: ScorePart) -> str:
    kind = "standard" if row.instrument.standard else "not standard"
    words = f"points; instrument {row.instrument.name} ({kind}), condition {row.instrument.condition}; "
    words += f"{row.task.cases} cases x {row.task.repeats} repeats"
    if score.low is not None and score.high is not None:
        words += f"; 95 % interval {100 * score.low:.2f} to {100 * score.high:.2f}"
    return f"{words}; seal {row.seal}"
