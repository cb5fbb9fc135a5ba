# SPDX-License-Identifier: Apache-2.0
"""usage: run_gdn.py GDN TASK OUT: greedy tokens of `gdn run`, one process a prompt."""

import json
import subprocess
import sys
import tempfile

import records


def complete(gdn, task, prompt):
    with tempfile.NamedTemporaryFile("w", suffix=".ids") as ids:
        ids.write(" ".join(map(str, prompt)))
        ids.flush()
        done = subprocess.run([gdn, "run", "-m", task["checkpoint"], "--ids", ids.name,
                               "-n", str(task["new_tokens"]), "--temp", "0", "--json",
                               "--top-logits", str(records.TOP)], check=True, capture_output=True)
    answer = json.loads(done.stdout)
    if answer["prompt_tokens"] != prompt:
        raise SystemExit("gdn ran another prompt")
    return answer


def main():
    gdn, task_path, out = sys.argv[1:]
    task = records.read(task_path)
    answers = [complete(gdn, task, prompt) for prompt in task["prompts"]]
    version = subprocess.run([gdn, "--version"], check=True, capture_output=True, encoding="utf-8")
    records.write(out, {
        "engine": "gdn", "versions": {"gdn": version.stdout.strip().removeprefix("gdn ")},
        "kernels": answers[0]["kernels"],
        "outputs": [{"ids": a["tokens"], "top": a["top_logits"]} for a in answers]})


main()
