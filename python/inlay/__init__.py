"""inlay: copy and multiply tensors on GPUs at the speed of the hardware, and explain how.

Tensors are anything on a CUDA GPU that speaks DLPack or has a __cuda_array_interface__: those of torch, CuPy, JAX, Numba. Functions
launch on `stream`, an integer, or on the current stream of torch or CuPy, or else on the legacy default stream. They do not synchronise,
and can be captured in a CUDA graph. Wrong input raises ValueError or TypeError before anything is launched. They know nothing of
derivatives: inlay.torch has operators that do.

Importing needs no GPU, makes no CUDA context and imports no framework. kernels(), explain(), layout() and bank_grid() work without a GPU.
"""
from __future__ import annotations

from ._lab import BankGrid, bank_grid, explain, kernels, layout
from ._version import __version__

try:
    from . import _inlay
except ImportError as error:  # built without nvcc, or on a system without what it needs
    _inlay, _why_no_gpu_functions = None, error

__all__ = ["Array", "BankGrid", "PackedB", "bank_grid", "contiguous", "copy", "copy_list", "explain", "grouped_matmul", "kernels", "layout",
           "matmul", "pack_b", "permute", "redistribute", "transpose", "why"]

_COMPUTE = {"fp32": 0, "fp32_blocked": 1, "split_safe": 2, "split_fast": 3}
_ACTIVATION = {None: 0, "relu": 1, "gelu_tanh": 2, "gelu_erf": 3, "silu": 4}


def _extension():
    if _inlay is None:
        raise RuntimeError(f"this installation of inlay has no GPU functions: {_why_no_gpu_functions}")
    return _inlay


class Array:
    """A row-major result for tensors of frameworks other than torch and CuPy: they take it by DLPack.

    Its memory comes from CUDA's pool. Giving it back waits for the device, because consumers may still read it. While a graph is captured,
    an Array must neither be made nor taken nor dropped. It is ordered behind the call that made it, on that call's stream, which must
    live as long as the Array is taken.
    """

    def __init__(self, like, shape, stream):
        self.shape = tuple(shape)
        self._memory, self._address, self._code, self._bits, self._device = _extension().allocate(like, shape, stream)

    def __dlpack_device__(self):
        return 2, self._device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"an Array stays on device {self._device}, and is not copied")
        return _extension().dlpack(self._memory, self.shape, self._code, self._bits, self._device, stream)


def _empty(like, shape, stream):
    """A row-major tensor of this shape with the type, device and framework of `like`."""
    if hasattr(like, "new_empty"):  # torch; memory of another stream than the current one would be used again too early
        if stream is None:
            return like.new_empty(shape)
        import torch

        legacy = stream in (0, 1)
        with torch.cuda.stream(torch.cuda.default_stream(like.device) if legacy else torch.cuda.ExternalStream(stream, like.device)):
            return like.new_empty(shape)
    if type(like).__module__.partition(".")[0] == "cupy":
        import cupy

        with like.device:
            if stream is None:
                return cupy.empty(shape, like.dtype)
            with cupy.cuda.ExternalStream(stream):
                return cupy.empty(shape, like.dtype)
    return Array(like, shape, stream)


def _stream_of(tensor):
    """The current stream of the tensor's framework, an integer; None: it is not known."""
    module = type(tensor).__module__.partition(".")[0]
    if module == "cupy":
        import cupy

        return cupy.cuda.get_current_stream(tensor.device.id).ptr
    if module == "torch":  # before version 2.10
        import torch

        return torch.cuda.current_stream(tensor.device).cuda_stream
    return None


if _inlay is not None:
    _inlay.set_stream_of(_stream_of)


def _allocator(like, stream):
    """A function from bytes to a tensor of the framework of `like`; None: the stream's pool."""
    if stream is None and hasattr(like, "new_empty"):
        import torch

        return lambda count: torch.empty(count, dtype=torch.uint8, device=like.device)
    return None


def copy(dst, src, *, stream=None):
    """dst[i] = src[i], for two tensors of one shape and type in any layouts. Returns dst. A copy does not convert."""
    return _extension().copy(dst, src, stream)


def copy_list(dsts, srcs, *, stream=None):
    """copy() for each pair of two lists. Pairs with one layout share a launch. Returns dsts."""
    return _extension().copy_list(dsts, srcs, stream)


def permute(x, axes, out=None, *, stream=None):
    """The modes of x in another order, row-major or in `out`: mode k of the result is mode axes[k] of x.

    The same as x.permute(axes).contiguous() of torch.
    """
    if isinstance(axes, int):
        raise TypeError(f"axes is {axes}; it is a sequence, such as (1, 0)")
    if out is None:
        try:
            shape = [x.shape[a] for a in axes]
        except IndexError:
            raise ValueError(f"axes is {tuple(axes)}, and x has {len(x.shape)} modes") from None
        out = _empty(x, shape, stream)
    return _extension().permute(out, x, axes, stream)


def transpose(x, out=None, *, stream=None):
    """x with its last two modes exchanged, row-major or in `out`."""
    rank = len(x.shape)
    if rank < 2:
        raise ValueError(f"transpose takes tensors with two modes and more, this one has {rank}")
    return permute(x, (*range(rank - 2), rank - 1, rank - 2), out, stream=stream)


def contiguous(x, *, stream=None):
    """x if it is row-major already, or else a row-major copy."""
    if _extension().is_row_major(x):
        return x
    return copy(_empty(x, list(x.shape), stream), x, stream=stream)


def _gemm_shape(a, b):
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise ValueError(f"matmul takes matrices and batches of them, not {tuple(a.shape)} and {tuple(b.shape)}")
    left, right = list(a.shape[:-2]), list(b.shape[:-2])
    more = len(left) - len(right)
    left, right = [1] * -more + left, [1] * more + right
    for m, n in zip(left, right):
        if m != n and 1 not in (m, n):
            raise ValueError(f"the batches of {tuple(a.shape)} and {tuple(b.shape)} do not go together")
    return [n if m == 1 else m for m, n in zip(left, right)] + [a.shape[-2], b.shape[-1]]


def _compute(compute):
    if compute not in _COMPUTE:
        raise ValueError(f"there is no compute mode {compute!r}: {' or '.join(map(repr, _COMPUTE))}")
    return _COMPUTE[compute]


def _activation(name):
    if name not in _ACTIVATION:
        raise ValueError(f"there is no activation {name!r}: {' or '.join(map(repr, _ACTIVATION))}")
    return _ACTIVATION[name]


class PackedB:
    """What pack_b() made of a b, for matmul(a, b, packed_b=...) with the same compute mode, as long as b keeps its elements."""

    def __init__(self, storage, compute, shape):
        self.storage, self.compute, self.shape = storage, compute, tuple(shape)


def pack_b(b, compute="split_fast", *, stream=None):
    """Packs a matrix b of float32 once for many calls of matmul with "split_safe" or "split_fast", which would pack it each time."""
    mode = _compute(compute)
    storage = _empty(b, [_extension().packed_b_bytes(b, mode) // 4], stream)
    return PackedB(_extension().pack_b(b, storage, mode, stream), compute, b.shape)


def matmul(a, b, out=None, *, alpha=1.0, beta=None, c=None, activation=None, compute="fp32", packed_b=None, stream=None):
    """activation(alpha * a @ b + beta * c), for matrices or batches of them in any layout, of one type: float32, bfloat16 or float16.

    Batch modes are broadcast as in NumPy; an `out` has the batch modes of the product, and may be float32 for 16-bit operands.
    c is broadcast to the result, so that a vector is a bias; without one it is `out`. beta is 1 with a c, and else 0, with which
    neither is read. activation: "relu", "gelu_tanh", "gelu_erf" or "silu", in fp32. compute, of float32: "fp32", each sum in one
    register, or "fp32_blocked", which adds blocks of sums; "split_safe" and "split_fast" multiply 16-bit slices on tensor cores, as
    accurately as "fp32" (inlay/types.h says of which data). packed_b: what pack_b() made of b for this compute mode.
    """
    beta = float(c is not None) if beta is None else beta
    if out is None:
        if beta and c is None:
            raise ValueError(f"beta is {beta}, and there is no out that it scales")
        out = _empty(a, _gemm_shape(a, b), stream)
    if not isinstance(packed_b, PackedB | None):
        raise TypeError(f"packed_b is a {type(packed_b).__name__}, not what pack_b() returned")
    packed = packed_b and (packed_b.storage, _compute(packed_b.compute), *packed_b.shape)
    return _extension().gemm(a, b, out, alpha, beta, _compute(compute), c, _activation(activation), packed,
                             _allocator(out, stream), stream)


def grouped_matmul(a, b, group_ends, out=None, *, alpha=1.0, beta=0.0, activation=None, stream=None):
    """Rows group_ends[i - 1] (0 for i = 0) to group_ends[i] of the result are those of activation(alpha * a @ b[i] + beta * out).

    a: (M, K), of bfloat16 or float16; b: (G, K, N) of that type; group_ends: G int32 on the GPU, in ascending order, which the kernel
    reads when it runs: a captured call can be replayed with others. Rows from the last end on are not written. An `out` may be float32.
    """
    if out is None:
        if beta:
            raise ValueError(f"beta is {beta}, and there is no out that it scales")
        if len(a.shape) != 2 or len(b.shape) != 3:
            raise ValueError(f"grouped_matmul takes a matrix and a batch of them, not {tuple(a.shape)} and {tuple(b.shape)}")
        out = _empty(a, [a.shape[0], b.shape[2]], stream)
    return _extension().grouped_gemm(a, b, out, group_ends, alpha, beta, _activation(activation), stream)


def redistribute(x, from_dim, to_dim, permute=None, group=None, out=None, *, size=None):
    """inlay.distributed.redistribute: a tensor that is cut over GPUs along one mode, cut along another. Needs torch."""
    from .distributed import redistribute as function

    return function(x, from_dim, to_dim, permute, group, out, size=size)


def why(*tensors, alpha=1.0, beta=None, c=None, activation=None, compute="fp32"):
    """Which kernel copy(dst, src) or matmul(a, b, out) would run, and why: why(dst, src) or why(a, b, out)."""
    if len(tensors) == 2:
        return _extension().why_copy(*tensors)
    if len(tensors) == 3:
        beta = float(c is not None) if beta is None else beta
        return _extension().why_gemm(*tensors, alpha, beta, _compute(compute), c, _activation(activation))
    raise TypeError(f"why takes dst and src, or a, b and out, not {len(tensors)} tensors")
