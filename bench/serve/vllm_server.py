# SPDX-License-Identifier: Apache-2.0
"""usage: vllm_server.py CHECKPOINT PORT LONGEST CONCURRENCY: vLLM's own OpenAI server on the CPU.

As `vllm serve`, but that the text model's config is taken, as in bench/peers/model_vllm.py: no option
of the command line says so.
"""

import os
import sys

os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_NO_USAGE_STATS="1",
                  VLLM_CPU_OMP_THREADS_BIND="nobind", CUDA_VISIBLE_DEVICES="",
                  TORCHDYNAMO_DISABLE="1")

import uvloop
from vllm.entrypoints.launchers.api_server.entry import run_server
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser


def text_only(config):
    """The text model's config: with the whole one vLLM wants what belongs to images, too."""
    text = config.get_text_config()
    text.architectures = ["Qwen3_5ForCausalLM"]
    return text


def main():
    checkpoint, port, longest, concurrency = sys.argv[1:]
    parser = make_arg_parser(FlexibleArgumentParser())
    args = parser.parse_args([
        "--model", checkpoint, "--host", "127.0.0.1", "--port", port, "--dtype", "bfloat16",
        "--enforce-eager", "--generation-config", "vllm", "--max-model-len", longest,
        "--max-num-seqs", concurrency, "--kv-cache-memory-bytes", str(1 << 30)])
    args.hf_overrides = text_only
    validate_parsed_serve_args(args)
    uvloop.run(run_server(args))


if __name__ == "__main__":
    main()
