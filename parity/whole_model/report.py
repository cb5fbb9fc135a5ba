# SPDX-License-Identifier: Apache-2.0
"""usage: report.py FOLDER CHECKPOINT...: compares what the engines wrote (records.py).

Prints Markdown and writes FOLDER/report.json, which also has every first
disagreement by itself. An ulp is the distance of neighbouring bf16 numbers at
the larger of a row's logits. Tokens are counted up to the end of the text.
"""

import itertools
import math
import sys
from pathlib import Path

import records

ENGINES = ("gdn", "transformers-bf16", "vllm-cpu", "transformers-f32")
MANTISSA_BITS = 7


def ulp_at(value):
    return math.ldexp(1, math.frexp(value)[1] - 1 - MANTISSA_BITS)


def generated(output, eos):
    """The ids before the first that ends a text."""
    return list(itertools.takewhile(lambda token: token not in eos, output["ids"]))


def side(output, step, other):
    """One engine's two best at a step, and how far its own choice leads the other's."""
    if step >= len(output["top"]):
        return None
    row = output["top"][step]
    (_, best), (_, second) = row[:2]
    logits = dict(row)
    lead = best - logits[other] if other in logits else None
    return {"id": output["ids"][step], "best": best, "second": second, "gap": best - second,
            "gap_ulp": (best - second) / ulp_at(best), "lead_over_other": lead}


def id_at(output, step):
    return output["ids"][step] if step < len(output["ids"]) else None


def distances(left, right, steps):
    """Of the chosen token's logit at the steps before the first disagreement, in ulp."""
    for token, a, b in list(zip(left["ids"], left["top"], right["top"]))[:steps]:
        a, b = dict(a)[token], dict(b)[token]
        yield (a - b) / ulp_at(b)


def compare(left, right, eos):
    result = {"left": left["engine"], "right": right["engine"], "prompts": len(left["outputs"]),
              "prompts_equal": 0, "tokens": 0, "tokens_agreeing": 0, "first_disagreements": []}
    errors = []
    for prompt, (a, b) in enumerate(zip(left["outputs"], right["outputs"])):
        ids_a, ids_b = generated(a, eos), generated(b, eos)
        same = sum(1 for _ in itertools.takewhile(lambda p: p[0] == p[1], zip(ids_a, ids_b)))
        result["tokens"] += max(len(ids_a), len(ids_b))
        result["tokens_agreeing"] += same
        errors += distances(a, b, same)
        if ids_a == ids_b:
            result["prompts_equal"] += 1
            continue
        result["first_disagreements"].append({
            "prompt": prompt, "step": same, "left": side(a, same, id_at(b, same)),
            "right": side(b, same, id_at(a, same))})
    result["rms_ulp"] = math.sqrt(sum(e * e for e in errors) / len(errors)) if errors else None
    result["max_ulp"] = max(map(abs, errors)) if errors else None
    return result


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def gap(one):
    return "?" if one is None else number(one["gap_ulp"])


def key(disagreement):
    sides = (disagreement["left"], disagreement["right"])
    return max(math.inf if one is None else one["gap_ulp"] for one in sides)


def row(result):
    gaps = sorted(result["first_disagreements"], key=key)
    cells = (f"{result['left']}, {result['right']}",
             f"{result['prompts_equal']} of {result['prompts']}",
             f"{result['tokens_agreeing']} of {result['tokens']}",
             "-" if result["rms_ulp"] is None else f"{result['rms_ulp']:.2f}",
             ", ".join(f"{gap(d['left'])}/{gap(d['right'])}" for d in gaps) or "none")
    return "| " + " | ".join(cells) + " |"


def report(folder, name):
    task = records.read(folder / f"{name}.task.json")
    found = {engine: records.read(folder / f"{name}.{engine}.json") for engine in ENGINES}
    lengths = [len(prompt) for prompt in task["prompts"]]
    lines = [f"### {name}", "",
             f"{len(lengths)} prompts of {min(lengths)} to {max(lengths)} tokens, each with "
             f"{task['new_tokens']} greedy tokens.", ""]
    able = [engine for engine in ENGINES if "outputs" in found[engine]]
    for engine in ENGINES:
        record = found[engine]
        if engine in able:
            versions = ", ".join(f"{k} {v}" for k, v in record["versions"].items())
            lines.append(f"- {engine}: {versions}")
        else:
            lines.append(f"- **{engine} cannot run on this CPU: {record['cannot_run']}**")
    pairs = [compare(found[a], found[b], task["eos"]) for a, b in itertools.combinations(able, 2)]
    lines += ["", "| pair | prompts all equal | tokens before the first disagreement | best logit "
              "while they agree, rms ulp | gap of the two best at each first disagreement, "
              "ulp, left/right |",
              "|---|---|---|---|---|", *map(row, pairs), ""]
    return "\n".join(lines), {
        "prompt_lengths": lengths, "new_tokens": task["new_tokens"], "pairs": pairs,
        "engines": {engine: {k: v for k, v in record.items() if k != "outputs"}
                    for engine, record in found.items()}}


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    figures = {}
    for name in names:
        text, figures[name] = report(folder, name)
        print(text)
    records.write(folder / "report.json", figures)


main()
