#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/server-venv with the clients of requirements.txt, and prints its python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

requirements=tests/server/requirements.txt
folder=build/server-venv
if ! cmp -s "$requirements" "$folder/requirements.txt"; then
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install -q --disable-pip-version-check -r "$requirements" >&2
  cp "$requirements" "$folder/requirements.txt"
fi
printf '%s\n' "$PWD/$folder/bin/python"
