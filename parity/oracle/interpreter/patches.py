# SPDX-License-Identifier: Apache-2.0
"""Makes Triton's interpreter compute what the hardware computes: its primitives are replaced, the kernels are not.

As it comes it multiplies bf16 bit patterns as integers, truncates float32 to bf16, scans linearly, takes TF32 as
float32, and leaves the order of a dot to BLAS. README.md has the list with the reasons."""

import ast
import types

import numpy as np
import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.runtime import interpreter

import exact_math

KKT_OPERANDS = ("tf32", "ieee")
_kkt_operand = "tf32"


def set_kkt_operand(option: str) -> None:
    """How a float32 operand enters a dot that allows TF32: truncated to it, or whole."""
    global _kkt_operand
    assert option in KKT_OPERANDS, option
    _kkt_operand = option


def _is_bf16(handle) -> bool:
    return handle.dtype.scalar == tl.bfloat16


def _widened(handle) -> np.ndarray:
    return exact_math.widen_bf16(handle.data) if _is_bf16(handle) else handle.data


def _cast(self, source, target_type):
    old, new = source.dtype.scalar, target_type.scalar
    if old == new:
        return interpreter.TensorHandle(source.data, new)
    data = _widened(source)
    if new == tl.bfloat16:
        wide = data.astype(np.float32)
        assert (wide == data).all() or data.dtype == np.float32, f"{old} to bf16 would round twice"
        return interpreter.TensorHandle(exact_math.round_bf16(wide), new)
    with np.errstate(over="ignore"):
        return interpreter.TensorHandle(data.astype(interpreter._get_np_dtype(new)), new)


def _cast_rounding(self, source, target_type, rounding):
    assert rounding in (None, ir.ROUNDING_MODE.RTNE), rounding
    return _cast(self, source, target_type)


def _binary(self, left, right, operation):
    """A bf16 result is the exact one rounded once: two bf16 have at most 16 bits of product."""
    with np.errstate(invalid="ignore", over="ignore"):  # exp is taken of a whole tile, and then selected from
        data = operation(_widened(left), _widened(right))
    scalar = left.dtype.scalar
    if _is_bf16(left) and data.dtype == np.float32:
        data = exact_math.round_bf16(data)
    elif not interpreter._validate_np_data_size(data, scalar):
        data = data.astype(interpreter._get_np_dtype(scalar))
    return interpreter.TensorHandle(data, scalar)


def _dot(self, a, b, accumulator, input_precision, max_num_imprecise_acc):
    left, right = _widened(a), _widened(b)
    if input_precision == ir.INPUT_PRECISION.TF32 and _kkt_operand == "tf32":
        left, right = (exact_math.truncate_tf32(x) if x.dtype == np.float32 else x for x in (left, right))
    else:
        assert input_precision in (ir.INPUT_PRECISION.TF32, ir.INPUT_PRECISION.IEEE), input_precision
    return interpreter.TensorHandle(exact_math.dot(left, right) + accumulator.data, accumulator.dtype.scalar)


def _float32_function(function):
    def evaluate(self, argument):
        assert argument.data.dtype == np.float32, argument.dtype
        return interpreter.TensorHandle(function(argument.data), argument.dtype.scalar)
    return evaluate


def _refuse(self, *arguments):
    raise NotImplementedError("no kernel of ours needs it, so it was not made exact")


def _sum(self, value):
    data = value.handle.data
    axis = 0 if self.axis is None else self.axis
    if self.axis is None:
        data = data.reshape(-1)
    assert data.dtype == np.float32, value.dtype
    result = exact_math.total(data, axis)
    return self.to_tensor(np.expand_dims(result, axis) if self.keep_dims else result, value.dtype)


def _cumsum(self, value):
    assert value.handle.data.dtype == np.float32, value.dtype
    return [self.to_tensor(exact_math.tree_cumsum(value.handle.data, self.axis), dtype=value.dtype)]


class _LoopIndex(interpreter.ASTTransformer):
    """`for i in range(..)` binds a Triton scalar, as in compiled code: kernels write `i.to(tl.int64)`."""

    def visit_For(self, node):
        self.generic_visit(node)
        call = node.iter
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range":
            wrap = f"{node.target.id} = interpreter_semantic.to_tensor({node.target.id}, False)"
            node.body.insert(0, ast.copy_location(ast.parse(wrap).body[0], node))
        return node


class FixedTriton:
    """The `triton` that the ops import: with one fixed configuration where they would autotune."""

    def __getattr__(self, name: str):
        return getattr(triton, name)

    @staticmethod
    def autotune(configs, key, **options):
        """The first configuration. BK, BV and warps only regroup exact dots, so any would do."""
        constants = configs[0].kwargs

        def decorate(kernel):
            class Fixed:
                def __getitem__(self, grid):
                    return lambda *args, **kwargs: kernel[grid](*args, **constants, **kwargs)

                # Triton's heuristics wrap this as they wrap its own autotuner.
                arg_names, fn = kernel.arg_names, kernel

                def run(self, *args, **kwargs):
                    return kernel.run(*args, **constants, **kwargs)
            return Fixed()
        return decorate


def apply() -> None:
    builder = interpreter.InterpreterBuilder
    builder.cast_impl = _cast
    builder.create_fp_to_fp = _cast_rounding
    builder.binary_op = _binary
    builder.create_dot = _dot
    builder.create_exp = _float32_function(exact_math.exp)
    builder.create_log = _float32_function(exact_math.log)
    for name in ("create_fma", "create_exp2", "create_log2", "create_sin", "create_cos", "create_erf"):
        setattr(builder, name, _refuse)
    interpreter.ReduceOps.sum = _sum
    interpreter.ScanOps.cumsum = _cumsum
    interpreter.FunctionRewriter.ast_transformer = _LoopIndex()
    # The interpreter swaps the builtins of triton.language around every call. Done once and for good it also
    # reaches the ops that keep one by value (`exp = tl.exp`), and is much faster.
    interpreter._patch_lang(types.SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
    interpreter._patch_lang = lambda function: interpreter._LangPatchScope()
