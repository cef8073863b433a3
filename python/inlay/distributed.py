"""A tensor that is cut over GPUs along one mode, cut along another: on torch.distributed.

    # sequence to heads of attention: (S / P, H, D) -> (S, H / P, D), or heads first
    y = redistribute(x, from_dim=0, to_dim=1)
    y = redistribute(x, from_dim=0, to_dim=0, permute=(1, 0, 2))      # (H / P, S, D)
    # pencils of an FFT in three dimensions: cut along x, (X / P, Y, Z), to cut along y, with x contiguous: (Y / P, Z, X)
    y = redistribute(x, from_dim=0, to_dim=0, permute=(1, 2, 0))
    # resharding of a matrix from rows to columns: (M / P, N) -> (M, N / P)
    y = redistribute(w, from_dim=0, to_dim=1)

If `out` comes from symmetric_empty(), each GPU copies its blocks into the memory of the other GPUs, between two barriers; blocks of
one layout share a launch. Any other `out` is filled by packing the blocks, exchanging them by all_to_all, and unpacking them. The
results are the same.
"""
from __future__ import annotations

import math

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric
from torch.multiprocessing.reductions import StorageWeakRef

import inlay

_symmetric = {}  # storage address of what symmetric_empty() returned -> the storage, weakly, its handle and its group's name


def even_extents(extent: int, ranks: int) -> list[int]:
    """The parts of `extent` over ranks: extent / ranks rounded up for each, the last ones the rest or nothing."""
    part = -(-extent // ranks)
    return [max(0, min(part, extent - r * part)) for r in range(ranks)]


def symmetric_empty(shape, dtype, group=None) -> torch.Tensor:
    """A tensor into which all GPUs of the group can store. All ranks call this, with shapes of their own. Synchronises."""
    group = group or dist.group.WORLD
    bytes_ = math.prod(shape) * dtype.itemsize
    most = torch.tensor(bytes_, device="cuda")
    dist.all_reduce(most, dist.ReduceOp.MAX, group)
    memory = symmetric.empty(max(16, int(most)), dtype=torch.uint8, device="cuda")
    for address, (storage, _, _) in list(_symmetric.items()):
        if storage.expired():
            del _symmetric[address]
    handle = symmetric.rendezvous(memory, group.group_name)
    storage = memory.untyped_storage()
    _symmetric[storage.data_ptr()] = StorageWeakRef(storage), handle, group.group_name
    return memory[:bytes_].view(dtype).view(shape)


class _Blocks:
    """Which block goes where. Modes of the result have the axes of the source in another order."""

    def __init__(self, x, from_dim, to_dim, permute, size, group):
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        rank = x.dim()
        order = list(range(rank)) if permute is None else list(permute)
        if sorted(a + rank * (a < 0) for a in order) != list(range(rank)):
            raise ValueError(f"permute is {tuple(order)}, no order of {rank} modes")
        axes = [a % rank for a in order]
        if not (-rank <= from_dim < rank and -rank <= to_dim < rank):
            raise ValueError(f"there are {rank} modes, from_dim is {from_dim} and to_dim {to_dim}")
        from_dim, to_dim = from_dim % rank, to_dim % rank
        self.axes, self.cut_before, self.cut_after = axes, axes.index(from_dim), to_dim  # in the result
        self.source = x.permute(axes)
        extent = size if size is not None else x.shape[from_dim] * self.ranks
        self.before = even_extents(extent, self.ranks)
        if x.shape[from_dim] != self.before[self.rank]:
            raise ValueError(f"rank {self.rank} has {x.shape[from_dim]} of {extent} in mode {from_dim}, "
                             f"and an even cut {self.before[self.rank]}: give size, the extent of all ranks")
        if self.cut_before == self.cut_after:  # the same mode is cut: every block stays
            self.after = self.before
        else:
            self.after = even_extents(self.source.shape[to_dim], self.ranks)

    def result_shape(self, rank):
        shape = list(self.source.shape)
        shape[self.cut_before], shape[self.cut_after] = sum(self.before), self.after[rank]
        return shape

    def block_shape(self, sender, receiver):
        shape = list(self.source.shape)
        shape[self.cut_before], shape[self.cut_after] = self.before[sender], self.after[receiver]
        return shape

    def sent_to(self, rank):
        """The part of the source that `rank` gets."""
        return self.source.narrow(self.cut_after, sum(self.after[:rank]), self.after[rank])

    def place(self, result, sender):
        """Where in the result of a rank the block of `sender` lies."""
        return result.narrow(self.cut_before, sum(self.before[:sender]), self.before[sender])


def redistribute(x, from_dim: int, to_dim: int, permute=None, group=None, out=None, *, size: int | None = None):
    """The tensor of which each rank of the group has a part, cut along mode from_dim, with its modes in another order and cut along to_dim.

    x: this rank's part. permute: mode k of the result is mode permute[k] of x; none: the order stays. to_dim is a mode of the
    result. size: the extent of from_dim over all ranks, which all must give unless their parts are equal; a cut is even_extents(). out: where the
    result goes, row-major; from symmetric_empty(), the direct way. All ranks call this; nothing is synchronised with the host.
    """
    group = group or dist.group.WORLD
    blocks = _Blocks(x, from_dim, to_dim, permute, size, group)
    shape = blocks.result_shape(blocks.rank)
    if out is None:
        out = x.new_empty(shape)
    elif list(out.shape) != shape or out.dtype != x.dtype or not out.is_contiguous():
        raise ValueError(f"out has shape {tuple(out.shape)} and type {out.dtype}, the result {tuple(shape)}, row-major, "
                         f"and {x.dtype}")
    if blocks.cut_before == blocks.cut_after:
        return inlay.copy(out, blocks.source)
    storage, handle, name = _symmetric.get(out.untyped_storage().data_ptr(), (None, None, None))
    if storage is None or storage.expired():
        return _exchange(blocks, out, group)
    if name != group.group_name or out.storage_offset():
        raise ValueError(f"out begins at element {out.storage_offset()} of symmetric memory of the group {name}; it must be all of "
                         f"what symmetric_empty() gave, for the group {group.group_name}")
    return _store(blocks, out, handle)


def _store(blocks, out, handle):
    """Each GPU stores its blocks where they belong."""
    to, what = [], []
    for step in range(1, blocks.ranks + 1):  # the next rank first, so that not all store to one
        rank = (blocks.rank + step) % blocks.ranks
        shape = blocks.result_shape(rank)
        peer = handle.get_buffer(rank, [math.prod(shape) * out.element_size()], torch.uint8).view(out.dtype).view(shape)
        to.append(blocks.place(peer, blocks.rank)), what.append(blocks.sent_to(rank))
    handle.barrier()
    inlay.copy_list(to, what)
    handle.barrier()
    return out


def _exchange(blocks, out, group):
    """Pack, all_to_all, unpack. What is sent has the layout of the result."""
    ranks, me = range(blocks.ranks), blocks.rank
    shapes = [blocks.block_shape(me, r) for r in ranks], [blocks.block_shape(r, me) for r in ranks]
    counts = [[math.prod(s) for s in side] for side in shapes]
    sent, received = (out.new_empty(sum(side)) for side in counts)
    pieces, arrived = (
        [piece.view(shape) for piece, shape in zip(flat.split(side), of)]
        for flat, side, of in zip((sent, received), counts, shapes))
    inlay.copy_list(pieces, [blocks.sent_to(r) for r in ranks])
    width = out.element_size()
    dist.all_to_all_single(received.view(torch.uint8), sent.view(torch.uint8), [n * width for n in counts[1]],
                           [n * width for n in counts[0]], group=group)
    inlay.copy_list([blocks.place(out, r) for r in ranks], arrived)
    return out
