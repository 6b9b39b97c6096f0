"""A version of the ladder as a PyTorch operator.

    import hopper_ladder            # builds the operator the first time
    c = hopper_ladder.matmul(a, b)  # a [M, K], b [N, K], c = a @ b.T [M, N], fp16 on a Hopper GPU
"""
import pathlib

import torch
from torch.utils import cpp_extension

VERSION = "v9_aligned_blocks"  # a directory of the ladder

_HERE = pathlib.Path(__file__).resolve().parent
_LADDER = _HERE.parents[1]

cpp_extension.load(
    name=f"hopper_ladder_{VERSION}",
    sources=[str(_HERE / "binding.cpp"), str(_LADDER / VERSION / "kernel.cu"),
             str(_LADDER / "common/matmul.cpp"), str(_LADDER / "common/stream_memory.cpp"),
             str(_LADDER / "common/tensor_map.cpp")],
    extra_include_paths=[str(_LADDER / "common")],
    extra_cflags=["-O2", "-std=c++17", f"-DLADDER_VERSION={VERSION}"],
    # torch adds no architecture to one that stands here, whatever TORCH_CUDA_ARCH_LIST says.
    extra_cuda_cflags=["-std=c++17", "-gencode=arch=compute_90a,code=sm_90a"],
    is_python_module=False)


def matmul(a, b):
    """a @ b.T for a [M, K] and b [N, K] in fp16, accumulated in fp32, on the current stream."""
    return torch.ops.hopper_ladder.matmul.default(a, b)


@torch.library.register_fake("hopper_ladder::matmul")
def _fake(a, b):
    """The result's shape, for tracing. What else can be wrong the operator says when it runs."""
    torch._check_value(a.dim() == 2 and b.dim() == 2 and a.shape[1] == b.shape[1],
                       lambda: f"A is {list(a.shape)}, B is {list(b.shape)}; the product is "
                               "A · Bᵀ: pass [M, K] and [N, K]")
    return a.new_empty(a.shape[0], b.shape[0])


def _readable(matrix):
    """A copy that TMA can read: rows of adjacent elements, their pitch a multiple of 16 bytes."""
    rows, columns = matrix.shape
    padded = matrix.new_empty(rows, (columns + 7) // 8 * 8)
    return padded[:, :columns].copy_(matrix)


def _setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward(ctx, grad_c):
    a, b = ctx.saved_tensors
    grad_a = grad_b = None
    if ctx.needs_input_grad[0]:  # dA = dC · B, and the operator takes the transpose of B
        grad_a = matmul(_readable(grad_c), _readable(b.t()))
    if ctx.needs_input_grad[1]:  # dB = dCᵀ · A
        grad_b = matmul(_readable(grad_c.t()), _readable(a.t()))
    return grad_a, grad_b


torch.library.register_autograd("hopper_ladder::matmul", _backward, setup_context=_setup_context)
