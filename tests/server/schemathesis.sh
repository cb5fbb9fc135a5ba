#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What /openapi.json promises, tried out by schemathesis with requests of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  cat <<'USAGE'
usage: tests/server/schemathesis.sh [--seconds N] [--seed N] [--gdn FILE]

Starts gdn serve with models/tiny and sends requests made from its own description, good and bad ones,
for N seconds (60). Fails on a 5xx other than 503, an answer that takes over 30 s, and an answer
that the description does not allow.
USAGE
}

seconds=60
seed=1
gdn=build/gdn
while [[ $# -gt 0 ]]; do
  case "$1" in
    --seconds) seconds=${2:?--seconds wants a number} ;;
    --seed) seed=${2:?--seed wants a number} ;;
    --gdn) gdn=${2:?--gdn wants a file} ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      printf 'schemathesis.sh: unknown option %q; see --help\n' "$1" >&2
      exit 2
      ;;
  esac
  shift 2
done

python=$(tests/server/venv.sh)
exec "$python" tests/server/schemathesis_run.py "$seconds" "$seed" "$gdn"
