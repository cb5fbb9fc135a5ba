# SPDX-License-Identifier: Apache-2.0
"""report.json, and from it the tables in Markdown. usage: report.py REPORT.JSON"""

import json
import statistics
import sys
from pathlib import Path


def save(folder, result):
    path = Path(folder) / "report.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def number(value, digits=3):
    """3 significant digits or all before the point; a dash for what was not measured."""
    if value is None:
        return "-"
    return f"{value:.{digits}g}" if abs(value) < 10 ** digits else f"{value:.0f}"


def groups(samples):
    """{(test, peer): samples}, in the order of the run"""
    found = {}
    for sample in samples:
        found.setdefault((sample["test"], sample["peer"]), []).append(sample)
    return found


def ratio_cell(samples, form):
    ratios = [s["ratio"][form] for s in samples]
    return f"**{median(ratios):.2f}** ({min(ratios):.2f}-{max(ratios):.2f})"


def share_cell(samples, form, key):
    return number(median(s["gdn"]["machine"][form].get(key) for s in samples))


def table(head, rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def model_table(samples):
    rows = []
    for (test, peer), group in groups(samples).items():
        tokens = int(test[2:])
        rows.append([test, peer, number(tokens / median(s["seconds"] for s in group)),
                     number(tokens / median(s["gdn"]["seconds"]["model"] for s in group)),
                     ratio_cell(group, "model"), share_cell(group, "model", "pct_peak"),
                     share_cell(group, "model", "pct_bw")])
    return table(["test", "peer", "peer, tokens/s", "gdn, tokens/s", "gdn / peer",
                  "gdn, % of FMA peak", "gdn, % of read bandwidth"], rows)


def op_table(samples):
    rows = []
    for (test, peer), group in groups(samples).items():
        row = [f"Hv {test[3:]}", peer, number(1e3 * median(s["seconds"] for s in group))]
        for form in ("chunk", "recurrent"):
            row += [number(1e3 * median(s["gdn"]["seconds"][form] for s in group)),
                    ratio_cell(group, form)]
        rows.append([*row, share_cell(group, "chunk", "pct_peak")])
    return table(["heads", "peer", "peer, ms", "gdn chunk, ms", "peer / chunk",
                  "gdn recurrent, ms", "peer / recurrent", "chunk, % of FMA peak"], rows)


def machine_line(result):
    m, samples = result["machine"], result["samples"]
    speeds = [speed for s in samples for speed in s["gdn"]["machine"].values()]
    return (f"{m['cpu']}, {m['cores']} cores ({' '.join(m['isa'])}), {m['memory_gib']} GiB; "
            f"{result['threads']} threads; measured in this run: f32 FMA peak "
            f"{number(median(s.get('peak_gflops') for s in speeds))} GFLOP/s, read bandwidth "
            f"{number(median(s.get('read_gbytes') for s in speeds))} GB/s; load "
            f"{number(median(s['load'] for s in samples))} before a sample.")


def check_lines(check):
    top = check.get("top", {})
    for name, pairs in top.items():
        yield f"- largest logits after 16 tokens, {name}: " + ", ".join(
            f"{i}: {value:.2f}" for i, value in pairs)
    for name, error in check.items():
        if name != "top":
            yield f"- operator, {name}: RMS error {error:.1e} of the answer's RMS"


def markdown(result):
    models = [s for s in result["samples"] if not s["test"].startswith("gdr")]
    ops = [s for s in result["samples"] if s["test"].startswith("gdr")]
    parts = [f"{result['repetitions']} alternating repetitions; medians, and of the pairs' ratios "
             f"the median (smallest-largest). Over 1: gdn is faster."]
    if result["samples"]:
        parts.append(machine_line(result))
    if models:
        parts += ["Whole model, 0.8B dimensions, bf16 weights:", model_table(models)]
    if ops:
        parts += ["Gated delta rule, T 2048, D 128, 16 key heads:", op_table(ops)]
    if result["cannot_run"]:
        parts.append("\n".join(f"- cannot run: {k}: {v}" for k, v in result["cannot_run"].items()))
    parts.append("\n".join(check_lines(result["check"])))
    parts.append("\n".join(f"- versions, {name}: " + ", ".join(f"{k} {v}" for k, v in found.items())
                           for name, found in result["versions"].items()))
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    print(markdown(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
