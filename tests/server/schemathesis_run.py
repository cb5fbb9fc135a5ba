# SPDX-License-Identifier: Apache-2.0
"""usage: schemathesis_run.py SECONDS SEED GDN: for schemathesis.sh, which says what it does."""

import pathlib
import subprocess
import sys
import tempfile

import serving

SLOWEST_ANSWER_S = 30
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_headers_conformance", "response_schema_conformance")


def main():
    seconds, seed, gdn = sys.argv[1:]
    program = pathlib.Path(sys.executable).parent / "schemathesis"
    with (serving.Server(binary=gdn) as server,
          tempfile.TemporaryDirectory() as folder):  # it keeps what it found where it runs
        done = subprocess.run(
            [program, "run", server.url + "/openapi.json", "--checks", ",".join(CHECKS),
             "--max-time", seconds, "--seed", seed, "--continue-on-failure",
             "--request-timeout", str(SLOWEST_ANSWER_S),
             "--output-sanitize", "false",  # max_tokens is no secret
             "--suppress-health-check", "all", "--generation-database", "none", "--no-color"],
            check=False, cwd=folder)
        server.wait_idle()
        if server.status("/health") != 200:
            print("the server is not healthy afterwards")
            return 1
    return done.returncode


sys.exit(main())
