# SPDX-License-Identifier: Apache-2.0
"""Shape, chunk rule, export and scoring of the tiny checkpoint."""

import json
import math
import os
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig
from transformers.models.qwen3_5 import modeling_qwen3_5

from data import write_json

LENGTH = 512
F32_SUFFIXES = ("linear_attn.A_log", "linear_attn.norm.weight")


def make_config(tok):
    return Qwen3_5TextConfig(
        architectures=["Qwen3_5ForCausalLM"],
        attention_bias=False,
        attention_dropout=0.0,
        attn_output_gate=True,
        dtype="bfloat16",
        eos_token_id=tok.token_to_id("<|endoftext|>"),
        full_attention_interval=4,
        head_dim=128,
        hidden_act="silu",
        hidden_size=128,
        intermediate_size=320,
        linear_conv_kernel_dim=4,
        linear_key_head_dim=128,
        linear_num_key_heads=2,
        linear_num_value_heads=6,
        linear_value_head_dim=128,
        mamba_ssm_dtype="float32",
        max_position_embeddings=2048,
        num_attention_heads=2,
        num_hidden_layers=4,
        num_key_value_heads=1,
        rms_norm_eps=1e-6,
        rope_parameters={
            "mrope_interleaved": True,
            "mrope_section": [6, 5, 5],
            "partial_rotary_factor": 0.25,
            "rope_theta": 10000,
            "rope_type": "default",
        },
        tie_word_embeddings=True,
        vocab_size=tok.get_vocab_size(),
    )


def l2norm(x):
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)


def chunk_rule(query, key, value, g, beta, chunk_size=64, initial_state=None,
               output_final_state=False, use_qk_l2norm_in_kernel=False, **_):
    """The gated delta rule over whole windows, for training on a CPU.

    The value heads of one key head are laid side by side, so that each read
    and each write of the state is one wide product per key head, and only the
    inverse of the small triangular system is per value head.
    """
    if initial_state is not None or output_final_state:
        raise ValueError("only whole windows without a cache")
    batch, length, heads, dim = key.shape
    ratio, vdim = value.shape[2] // heads, value.shape[3]
    if use_qk_l2norm_in_kernel:
        query, key = l2norm(query), l2norm(key)
    pad = -length % chunk_size

    def chunks(x):
        x = F.pad(x, (0,) * (2 * (x.dim() - 2)) + (0, pad))
        x = x.view(batch, -1, chunk_size, heads, *x.shape[3:])
        return x.movedim(3, 1).contiguous()

    query, key = chunks(query * dim**-0.5), chunks(key)
    value = chunks(value.reshape(batch, length, heads, ratio * vdim))
    # Gates become (batch, heads, chunks, ratio, chunk).
    log_decay, beta = (
        chunks(x.reshape(batch, length, heads, ratio)).transpose(-1, -2)
        for x in (g, beta))
    total = log_decay.cumsum(-1)
    above = torch.ones(chunk_size, chunk_size, dtype=torch.bool).triu(1)
    decay = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(
        above, -math.inf).exp()
    transposed = key.transpose(-1, -2)
    system = (key @ transposed).unsqueeze(3) * decay * beta.unsqueeze(-1)
    # The step size is folded into the columns of the inverse.
    inverse = torch.linalg.solve_triangular(
        system, torch.eye(chunk_size).expand_as(system), upper=False,
        unitriangular=True) * beta.unsqueeze(-2)
    local = (query @ transposed).unsqueeze(3) * decay

    def per_value_head(x):
        return x.view(*x.shape[:-1], ratio, vdim).transpose(-2, -3)

    value = per_value_head(value)
    from_start = total.exp().unsqueeze(-1)
    to_end = (total[..., -1:] - total).exp().unsqueeze(-1)
    whole = total[..., -1].exp().repeat_interleave(vdim, -1).unsqueeze(-2)
    state = value.new_zeros(batch, heads, dim, ratio * vdim)
    outputs = []
    parts = (query, key, transposed, value, inverse, local, from_start,
             to_end, whole)
    for q, k, kt, v, inv, loc, start, end, all_ in zip(
            *(p.unbind(2) for p in parts)):
        fresh = inv @ (v - start * per_value_head(k @ state))
        outputs.append(start * per_value_head(q @ state) + loc @ fresh)
        written = (end * fresh).transpose(-2, -3).flatten(-2)
        state = state * all_ + kt @ written
    out = torch.stack(outputs, 2).permute(0, 2, 4, 1, 3, 5)
    return out.reshape(batch, -1, heads * ratio, vdim)[:, :length], None


def check_chunk_rule():
    """Values and gradients of chunk_rule against those of transformers."""
    rng = torch.Generator().manual_seed(1)
    shapes = [(2, 150, 2, 128), (2, 150, 2, 128), (2, 150, 6, 128),
              (2, 150, 6), (2, 150, 6)]
    raw = [torch.randn(s, generator=rng) for s in shapes]
    weight = torch.randn(shapes[2], generator=rng)
    results = []
    for rule in (chunk_rule, modeling_qwen3_5.torch_chunk_gated_delta_rule):
        leaves = [x.clone().requires_grad_() for x in raw]
        q, k, v, a, b = leaves
        out, _ = rule(q, k, v, g=-F.softplus(a), beta=b.sigmoid(),
                      use_qk_l2norm_in_kernel=True)
        grads = torch.autograd.grad((out * weight).sum(), leaves)
        results.append((out, *grads))
    for ours, theirs in zip(*results):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def use_chunk_rule():
    check_chunk_rule()
    modeling_qwen3_5.torch_chunk_gated_delta_rule = chunk_rule


def rounded(model):
    """The tensors of the checkpoint: BF16 but for the few kept in F32."""
    out = {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        keep = name.endswith(F32_SUFFIXES)
        dtype = torch.float32 if keep else torch.bfloat16
        out[name] = tensor.detach().to(dtype).contiguous().clone()
    return out


def export(tensors, config, folder):
    folder = Path(folder)
    # A reader never sees a half-written file.
    part = folder / "model.safetensors.part"
    save_file(tensors, part, metadata={"format": "pt"})
    part.chmod(0o644)
    os.replace(part, folder / "model.safetensors")
    # The library derives layer_types from the interval and drops it; the
    # published configurations name both.
    content = json.loads(config.to_json_string())
    content["full_attention_interval"] = 4
    write_json(dict(sorted(content.items())), folder / "config.json")
    end = config.eos_token_id
    write_json({"do_sample": True, "eos_token_id": [end + 2, end],
                "pad_token_id": end, "temperature": 0.8, "top_k": 40,
                "top_p": 0.95}, folder / "generation_config.json")


def load(folder):
    """The exported checkpoint, its weights widened to F32."""
    return Qwen3_5ForCausalLM.from_pretrained(
        folder, dtype=torch.float32).eval()


@torch.no_grad()
def bits_per_byte(model, tok, chapters):
    """Bits a byte of text over whole chapters, each scored on its own.

    A chapter starts after the end-of-text token, is cut into windows of at
    most LENGTH tokens, and its bytes are the verses with their line feeds;
    the cost of the end-of-text token that ends it is counted, its bytes are
    not.
    """
    end = tok.token_to_id("<|endoftext|>")
    nats, size, rows = 0.0, 0, []
    for chapter in chapters:
        text = "\n".join(chapter) + "\n"
        size += len(text.encode())
        ids = [end] + tok.encode(text).ids + [end]
        rows += [ids[i: i + LENGTH + 1]
                 for i in range(0, len(ids) - 1, LENGTH)]
    rows.sort(key=len)
    for i in range(0, len(rows), 8):
        part = rows[i: i + 8]
        width = max(len(r) for r in part)
        ids = torch.tensor([r + [end] * (width - len(r)) for r in part])
        want = torch.tensor([r[1:] + [-100] * (width - len(r)) for r in part])
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
        nats += F.cross_entropy(logits.flatten(0, 1), want.flatten(),
                                reduction="sum").item()
    return nats / math.log(2) / size
