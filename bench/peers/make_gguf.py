# SPDX-License-Identifier: Apache-2.0
"""usage: make_gguf.py LLAMA_CPP CHECKPOINT OUT: a BF16 GGUF by llama.cpp's own converter.

The converter knows a pre-tokenizer by a hash of the ids that the whole vocabulary gives, and so
refuses the small vocabulary beside our random weights, whose pre-tokenizer is Qwen3.5's. It is told
that name; all the rest, every weight included, is the converter's doing.
"""

import runpy
import sys
from pathlib import Path


def main():
    llama_cpp, checkpoint, out = sys.argv[1:]
    sys.path[:0] = [llama_cpp, str(Path(llama_cpp) / "gguf-py")]
    from conversion.base import TextModel
    TextModel.get_vocab_base_pre = lambda self, tokenizer: "qwen35"
    sys.argv = ["convert_hf_to_gguf.py", checkpoint, "--outfile", out, "--outtype", "bf16",
                "--no-mtp"]
    runpy.run_path(str(Path(llama_cpp) / "convert_hf_to_gguf.py"), run_name="__main__")


main()
