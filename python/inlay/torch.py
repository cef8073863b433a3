"""inlay's functions as operators of torch: torch.ops.inlay.permute, .copy_ and .matmul, after `import inlay.torch`.

They go through torch.compile(fullgraph=True) and torch.export. permute has a derivative in x, matmul in a, b and c. The forms that write
into a tensor raise its version counter, refuse tensors that require a gradient, and return nothing, as torch's functionalisation wants it:

    torch.ops.inlay.permute(x, axes)                      torch.ops.inlay.permute.out(x, axes, out=out)
    torch.ops.inlay.matmul(a, b, c, alpha=1, compute="fp32")    torch.ops.inlay.matmul.out(a, b, c, out=out, alpha=1, beta=0, ...)
    torch.ops.inlay.copy_(dst, src)
"""
from __future__ import annotations

import torch

import inlay

_library = torch.library.Library("inlay", "DEF")
_library.define("permute(Tensor x, int[] axes) -> Tensor")
_library.define("permute.out(Tensor x, int[] axes, *, Tensor(a!) out) -> ()")
_library.define("copy_(Tensor(a!) dst, Tensor src) -> ()")
_library.define("matmul(Tensor a, Tensor b, Tensor? c=None, *, float alpha=1, float? beta=None, str? activation=None, "
                "str compute='fp32') -> Tensor")
_library.define("matmul.out(Tensor a, Tensor b, Tensor? c=None, *, Tensor(a!) out, float alpha=1, float? beta=None, "
                "str? activation=None, str compute='fp32') -> ()")


# ---- on the GPU

def _permute(x, axes):
    return inlay.permute(x, axes)


def _permute_out(x, axes, *, out):
    inlay.permute(x, axes, out)


def _copy_(dst, src):
    inlay.copy(dst, src)


def _matmul(a, b, c=None, *, alpha=1.0, beta=None, activation=None, compute="fp32"):
    return inlay.matmul(a, b, alpha=alpha, beta=beta, c=c, activation=activation, compute=compute)


def _matmul_out(a, b, c=None, *, out, alpha=1.0, beta=None, activation=None, compute="fp32"):
    inlay.matmul(a, b, out, alpha=alpha, beta=beta, c=c, activation=activation, compute=compute)


# ---- without data: what the operators above would return, or refuse

def _check(condition, sentence):
    torch._check_value(condition, lambda: sentence)


def _check_devices(*tensors):
    devices = {t.device for t in tensors}
    _check(len(devices) == 1, f"the tensors are on devices {', '.join(sorted(map(str, devices)))}")


def _fake_permute(x, axes):
    _check(sorted(a % x.dim() for a in axes) == list(range(x.dim())), f"axes is {axes}, no order of {x.dim()} modes")
    return x.new_empty([x.shape[a] for a in axes])


def _fake_permute_out(x, axes, *, out):
    _fake_copy_(out, _fake_permute(x, axes))


def _fake_copy_(dst, src):
    _check_devices(dst, src)
    _check(dst.shape == src.shape, f"the destination has shape {tuple(dst.shape)}, the source {tuple(src.shape)}")
    _check(dst.element_size() == src.element_size(),
           f"the destination has elements of {dst.element_size()} bytes, the source of {src.element_size()}")
    to, of = _number_type(dst.dtype), _number_type(src.dtype)
    _check(None in (to, of) or to == of, f"the destination is of {dst.dtype}, the source of {src.dtype}: a copy does not convert")


def _number_type(dtype):
    """What a copy would convert between; None: its elements are bits to the library."""
    if dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
        return dtype
    return None if dtype.is_complex or dtype.is_floating_point or dtype == torch.bool else "integer"


def _fake_matmul(a, b, c=None, *, alpha=1.0, beta=None, activation=None, compute="fp32"):
    _check(c is not None or not beta, f"beta is {beta}, and there is no out that it scales")
    result = _product(a, b, activation, compute)
    _check_addend(c, result)
    return result


def _fake_matmul_out(a, b, c=None, *, out, alpha=1.0, beta=None, activation=None, compute="fp32"):
    result = _product(a, b, activation, compute)
    _check_devices(a, out)
    _check(out.shape == result.shape, f"out has shape {tuple(out.shape)}, the result {tuple(result.shape)}")
    _check(out.dtype in (a.dtype, torch.float32), f"out is of type {out.dtype}, the operands of {a.dtype}")
    if beta != 0:
        _check_addend(c, out)


def _product(a, b, activation, compute):
    inlay._compute(compute), inlay._activation(activation)
    _check_devices(a, b)
    _check(a.dtype == b.dtype and a.dtype in (torch.float32, torch.bfloat16, torch.float16),
           f"the operands are of type {a.dtype} and {b.dtype}; matmul takes two of float32, bfloat16 or float16")
    _check(a.dtype == torch.float32 or not compute.startswith("split"), f"{compute} slices float32, and the operands are of {a.dtype}")
    shape = inlay._gemm_shape(a, b)
    _check(a.shape[-1] == b.shape[-2], f"K is {a.shape[-1]} in A and {b.shape[-2]} in B")
    return a.new_empty(shape)


def _check_addend(c, result):
    if c is None:
        return
    _check_devices(c, result)
    _check(c.dtype == result.dtype, f"c is of type {c.dtype}, the result of {result.dtype}")
    more = result.dim() - c.dim()
    _check(more >= 0 and all(n == 1 or n == result.shape[k + more] for k, n in enumerate(c.shape)),
           f"c of shape {tuple(c.shape)} cannot be repeated to the shape {tuple(result.shape)} of the result")


for name, run, fake in (("permute", _permute, _fake_permute), ("permute.out", _permute_out, _fake_permute_out),
                        ("copy_", _copy_, _fake_copy_), ("matmul", _matmul, _fake_matmul),
                        ("matmul.out", _matmul_out, _fake_matmul_out)):
    _library.impl(name, run, "CUDA")
    torch.library.register_fake(f"inlay::{name}", fake, lib=_library)


# ---- what is written: as torch's own operators that have no formula for a gradient

def _written(name, op, argument):
    """Registers what torch generates for its own in-place operators. argument: of the tensor that is written, a position or a keyword."""

    def destination(args, kwargs):
        return args[argument] if isinstance(argument, int) else kwargs[argument]

    def autograd(keys, *args, **kwargs):
        tensors = [t for t in (*args, *kwargs.values()) if isinstance(t, torch.Tensor)]
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            raise RuntimeError(f"inlay::{name}: functions that write into their arguments don't support automatic differentiation, "
                               "but one of the arguments requires grad.")
        with torch._C._AutoDispatchBelowAutograd():
            op.redispatch(keys & torch._C._after_autograd_keyset, *args, **kwargs)

    def count(keys, *args, **kwargs):
        with torch._C._AutoDispatchBelowADInplaceOrView():
            op.redispatch(keys & torch._C._after_ADInplaceOrView_keyset, *args, **kwargs)
        torch.autograd.graph.increment_version(destination(args, kwargs))

    def resolve(keys, *args, **kwargs):
        for lazy in ("is_conj", "is_neg"):
            if getattr(destination(args, kwargs), lazy)():
                raise ValueError(f"inlay::{name}: the destination is a lazy view, {lazy}(): resolve it first")
        args, kwargs = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.resolve_conj().resolve_neg(), (args, kwargs))
        op(*args, **kwargs)

    _library.impl(name, autograd, "Autograd", with_keyset=True)
    _library.impl(name, count, "ADInplaceOrView", with_keyset=True)
    _library.impl(name, resolve, "Conjugate", with_keyset=True)
    _library.impl(name, resolve, "Negative", with_keyset=True)


_written("permute.out", torch.ops.inlay.permute.out, "out")
_written("copy_", torch.ops.inlay.copy_.default, 0)
_written("matmul.out", torch.ops.inlay.matmul.out, "out")


# ---- derivatives

def _keep_axes(ctx, inputs, output):
    axes = inputs[1]
    ctx.inverse = [0] * len(axes)
    for k, a in enumerate(axes):
        ctx.inverse[a] = k


def _permute_back(ctx, gradient):
    return torch.ops.inlay.permute(gradient, ctx.inverse), None


def _keep_operands(ctx, inputs, keyword_only_inputs, output):
    a, b, c = (*inputs, None)[:3]  # a c that was not given is not among them
    ctx.alpha, ctx.compute, ctx.activation = (keyword_only_inputs[name] for name in ("alpha", "compute", "activation"))
    ctx.beta = float(c is not None) if keyword_only_inputs["beta"] is None else keyword_only_inputs["beta"]
    ctx.shapes = [x.shape for x in inputs[:3] if x is not None]
    ctx.num_inputs = len(inputs)
    # relu's derivative follows from the result; those of GELU and SiLU from what was activated, which is computed again.
    needs_a, needs_b = ctx.needs_input_grad[:2]
    again = ctx.activation not in (None, "relu")
    ctx.save_for_backward(a if needs_b or again else None, b if needs_a or again else None, c if again else None,
                          output if ctx.activation == "relu" else None)


def _matmul_back(ctx, gradient):
    a, b, c, output = ctx.saved_tensors

    def matmul(x, y, *addend, **options):
        return torch.ops.inlay.matmul(x, y, *addend, alpha=ctx.alpha, compute=ctx.compute, **options)

    if ctx.activation == "relu":
        gradient = torch.ops.aten.threshold_backward(gradient, output, 0)
    elif ctx.activation is not None:
        gradient = _through(ctx.activation, gradient, matmul(a, b, c, beta=ctx.beta))
    needs_a, needs_b, needs_c = (*ctx.needs_input_grad, False)[:3]
    of_a = matmul(gradient, b.mT).sum_to_size(ctx.shapes[0]) if needs_a else None
    of_b = matmul(a.mT, gradient).sum_to_size(ctx.shapes[1]) if needs_b else None
    of_c = (ctx.beta * gradient).sum_to_size(ctx.shapes[2]) if needs_c else None
    return (of_a, of_b, of_c)[:ctx.num_inputs]


def _through(activation, gradient, x):
    """The gradient of x, from that of activation(x)."""
    if activation != "silu":
        return torch.ops.aten.gelu_backward(gradient, x, approximate="tanh" if activation == "gelu_tanh" else "none")
    if not torch.is_grad_enabled():
        return torch.ops.aten.silu_backward(gradient, x)
    sigmoid = torch.sigmoid(x)  # silu_backward has no derivative of its own
    return gradient * sigmoid * (1 + x * (1 - sigmoid))


torch.library.register_autograd("inlay::permute", _permute_back, setup_context=_keep_axes, lib=_library)
torch.library.register_autograd("inlay::matmul", _matmul_back, setup_context=_keep_operands, lib=_library)
