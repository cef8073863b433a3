"""inlay's functions as operators of torch: torch.ops.inlay.permute, .copy_ and .matmul, after `import inlay.torch`.

They go through torch.compile(fullgraph=True) and torch.export; permute has a derivative. The forms that write into a tensor return
nothing, as torch's functionalisation wants it:

    torch.ops.inlay.permute(x, axes)                      torch.ops.inlay.permute.out(x, axes, out=out)
    torch.ops.inlay.matmul(a, b, alpha=1, accuracy="fp32")    torch.ops.inlay.matmul.out(a, b, out=out, alpha=1, beta=0, ...)
    torch.ops.inlay.copy_(dst, src)
"""
from __future__ import annotations

import torch

import inlay

_library = torch.library.Library("inlay", "DEF")
_library.define("permute(Tensor x, int[] axes) -> Tensor")
_library.define("permute.out(Tensor x, int[] axes, *, Tensor(a!) out) -> ()")
_library.define("copy_(Tensor(a!) dst, Tensor src) -> ()")
_library.define("matmul(Tensor a, Tensor b, *, float alpha=1, float? beta=None, Tensor? c=None, str? activation=None, "
                "str accuracy='fp32') -> Tensor")
_library.define("matmul.out(Tensor a, Tensor b, *, Tensor(a!) out, float alpha=1, float? beta=None, Tensor? c=None, "
                "str? activation=None, str accuracy='fp32') -> ()")


def _permute(x, axes):
    return inlay.permute(x, axes)


def _permute_out(x, axes, *, out):
    inlay.permute(x, axes, out)


def _copy_(dst, src):
    inlay.copy(dst, src)


def _matmul(a, b, *, alpha=1.0, beta=None, c=None, activation=None, accuracy="fp32"):
    return inlay.matmul(a, b, alpha=alpha, beta=beta, c=c, activation=activation, accuracy=accuracy)


def _matmul_out(a, b, *, out, alpha=1.0, beta=None, c=None, activation=None, accuracy="fp32"):
    inlay.matmul(a, b, out, alpha=alpha, beta=beta, c=c, activation=activation, accuracy=accuracy)


def _fake_permute(x, axes):
    torch._check(sorted(a % x.dim() for a in axes) == list(range(x.dim())),
                 lambda: f"axes is {axes}, no order of {x.dim()} modes")
    return x.new_empty([x.shape[a] for a in axes])


def _fake_permute_out(x, axes, *, out):
    _check_result(out, _fake_permute(x, axes))


def _fake_matmul(a, b, *, alpha=1.0, beta=None, c=None, activation=None, accuracy="fp32"):
    inlay._compute(accuracy), inlay._activation(activation)
    torch._check(a.dtype == b.dtype, lambda: f"the operands are of type {a.dtype} and {b.dtype}")
    torch._check(a.shape[-1] == b.shape[-2], lambda: f"K is {a.shape[-1]} in A and {b.shape[-2]} in B")
    return a.new_empty(inlay._gemm_shape(a, b))


def _fake_matmul_out(a, b, *, out, alpha=1.0, beta=None, c=None, activation=None, accuracy="fp32"):
    result = _fake_matmul(a, b, accuracy=accuracy, activation=activation)
    _check_result(out, result.float() if out.dtype == torch.float32 else result)


def _fake_copy_(dst, src):
    torch._check(dst.shape == src.shape, lambda: f"the destination has shape {dst.shape}, the source {src.shape}")


def _check_result(out, result):
    torch._check(out.shape == result.shape and out.dtype == result.dtype,
                 lambda: f"out is {out.dtype} of shape {out.shape}, the result {result.dtype} of shape {result.shape}")


for name, run, fake in (("permute", _permute, _fake_permute), ("permute.out", _permute_out, _fake_permute_out),
                        ("copy_", _copy_, _fake_copy_), ("matmul", _matmul, _fake_matmul),
                        ("matmul.out", _matmul_out, _fake_matmul_out)):
    _library.impl(name, run, "CUDA")
    torch.library.register_fake(f"inlay::{name}", fake, lib=_library)


def _keep_axes(ctx, inputs, output):
    axes = inputs[1]
    ctx.inverse = [0] * len(axes)
    for k, a in enumerate(axes):
        ctx.inverse[a] = k


def _permute_back(ctx, gradient):
    return torch.ops.inlay.permute(gradient, ctx.inverse), None


torch.library.register_autograd("inlay::permute", _permute_back, setup_context=_keep_axes, lib=_library)
