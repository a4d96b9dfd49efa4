"""Batches that a DataLoader's worker makes in memory which the main process reads, and which is used again.

Enters: what a batch's tensors are. Leaves: tensors to fill; sent to the main process they arrive uncopied, as tensors.
Never: writes into memory that a tensor still shows, in either process or in one that was forked from them.

torch shares a new piece of memory for each tensor. For 64 charts of 224 x 224 that costs more than to draw them: pages that
are made, cleared, mapped twice and given back. Here a worker keeps a few pieces. A byte of a piece says that the main
process has a tensor in it; it is set when the tensor is sent, and cleared when the tensor's memory is let go there.
"""

import itertools
import math
import multiprocessing
import os
import weakref
from multiprocessing.reduction import ForkingPickler

import numpy
import torch

#: At the beginning of a piece: a byte a tensor. A page, so that tensors begin at one.
_HEADER = 4096
#: Pieces of a worker, until one came back, and at most: those in the queue and those in use.
_FIRST, _MOST = 4, 16


#: How often this process has forked. What it shows then a child may look at for as long as it likes.
_forks = 0


def _before_fork():
    global _forks
    _forks += 1


os.register_at_fork(before=_before_fork)


class _Lease:
    """Memory of a piece as NumPy takes it, for as long as some tensor shows it. Then the flag is cleared, by the process that
    set up this lease and if it has not forked meanwhile."""

    def __init__(self, memory, offset, size, flag=None):
        self._memory, self._flag, self._lent_at = memory, flag, (os.getpid(), _forks)
        self.__array_interface__ = {"data": (memory.data_ptr() + offset, False), "shape": (size,), "typestr": "|u1", "version": 3}

    def __del__(self):
        if self._flag is not None and self._lent_at == (os.getpid(), _forks):
            self._memory[self._flag] = 0


def _shown(lease, dtype):
    return torch.from_numpy(numpy.asarray(lease)).view(dtype)


class Lent(torch.Tensor):
    """A tensor in a piece, in a worker. What is made of it is a plain tensor."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    # Copies lie elsewhere.
    def __deepcopy__(self, memo):
        return self.as_subclass(torch.Tensor).clone()

    def __reduce_ex__(self, protocol):
        return self.as_subclass(torch.Tensor).clone().__reduce_ex__(protocol)


class _Pieces:
    """Of one worker."""

    def __init__(self):
        self.process, self.name = os.getpid(), os.urandom(8)
        self.numbers, self.kept, self.came_back = itertools.count(), [], False

    def tensors(self, kinds):
        places, end = [], _HEADER
        for shape, dtype in kinds:
            size = math.prod(shape) * dtype.itemsize
            places.append((end, size))
            end += -(-size // 64) * 64
        piece = self._free(end)
        if piece is None:
            return None
        out = []
        for number, ((shape, dtype), (offset, size)) in enumerate(zip(kinds, places)):
            lease = _Lease(piece.memory, offset, size)
            piece.leases.append(weakref.ref(lease))
            tensor = _shown(lease, dtype).view(shape).as_subclass(Lent)
            tensor.lent = (piece, number, offset, size)
            out.append(tensor)
        return out

    def _free(self, size):
        free = [piece for piece in self.kept if piece.free()]
        self.came_back = self.came_back or any(piece.sent for piece in free)
        for piece in free:
            if piece.memory.numel() >= size:
                piece.leases.clear()
                return piece
        # Too small for what is asked for now.
        self.kept = [piece for piece in self.kept if piece not in free]
        if len(self.kept) >= (_MOST if self.came_back else _FIRST):
            return None
        self.kept.append(_Piece((self.name, next(self.numbers)), size))
        return self.kept[-1]


class _Piece:
    def __init__(self, name, size):
        self.name, self.sent, self.leases = name, False, []
        self.memory = torch.empty(0, dtype=torch.uint8).set_(torch.UntypedStorage._new_shared(size))
        self.flags = memoryview(self.memory.numpy())[:_HEADER]
        self.flags[:] = bytes(_HEADER)

    def free(self):
        return not any(lease() is not None or flag for lease, flag in zip(self.leases, self.flags))


def seen(lent, view):
    """A view of all of a tensor that may be lent, which is lent in its place."""
    if not isinstance(lent, Lent) or view.data_ptr() != lent.data_ptr():
        return view
    view = view.as_subclass(Lent)
    view.lent = lent.lent
    del lent.lent
    return view


_pieces = None


def tensors(kinds):
    """Contiguous tensors whose elements are not set, of (shape, dtype) each; None where pieces are all in use."""
    global _pieces
    if not hasattr(torch.UntypedStorage, "_new_shared"):
        return None
    if _pieces is None or _pieces.process != os.getpid():
        _pieces = _Pieces()
    return _pieces.tensors(kinds)


def _send(tensor):
    lent = getattr(tensor, "lent", None)
    if lent is None:
        # Sent before: a flag stands for one tensor.
        return torch.multiprocessing.reductions.reduce_tensor(tensor.clone())
    piece, place, offset, size = lent
    del tensor.lent
    piece.flags[place] = 1
    # The memory itself goes with the first; queues keep their order.
    first, piece.sent = not piece.sent, True
    return _received, (piece.name, os.getpid(), piece.memory if first else None, place, offset, size, tuple(tensor.shape), tensor.stride(), tensor.dtype)


ForkingPickler.register(Lent, _send)
_known = {}


def _received(name, process, memory, place, offset, size, shape, stride, dtype):
    if memory is not None:
        _known[name] = memory
        # For as long as the worker's loader has it.
        for worker in multiprocessing.active_children():
            if worker.pid == process:
                weakref.finalize(worker, _known.pop, name, None).atexit = False
    return _shown(_Lease(_known[name], offset, size, flag=place), dtype).as_strided(shape, stride)
