"""Reads the state of a PyTorch network without PyTorch, in the form of before version 1.6.

Such a file is five pickles, one after the other: a magic number, the version of the form, facts
about the machine, the tensors as views of storages, and the storages' names; then the storages,
each its length as 8 bytes, and its numbers.
"""
import pickle
from collections import OrderedDict

import numpy as np

MAGIC = 0x1950A86A20F9469CFC6C
KINDS = {"FloatStorage": "<f4", "LongStorage": "<i8"}


class _Views(pickle.Unpickler):
    """Makes (storage, offset, shape, strides) of each tensor, and no other object than those listed."""

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name in KINDS:
            return KINDS[name]
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
        raise pickle.UnpicklingError(f"this is not the state of a network alone: it holds a {module}.{name}")

    def persistent_load(self, pid):
        _, kind, key, *_ = pid
        return kind, key


def read_pth(file):
    """The tensors of an open file by their names."""
    if pickle.load(file) != MAGIC:
        raise ValueError("this is not the state of a PyTorch network in the form of before version 1.6")
    pickle.load(file), pickle.load(file)
    views = _Views(file).load()
    kinds = {key: kind for (kind, key), *_ in views.values()}
    storages = {}
    for key in pickle.load(file):
        count = int.from_bytes(file.read(8), "little")
        kind = np.dtype(kinds[key])
        storages[key] = np.frombuffer(file.read(count * kind.itemsize), kind)
    return {name: _tensor(storages[key], offset, shape, strides) for name, ((_, key), offset, shape, strides) in views.items()}


def _tensor(storage, offset, shape, strides):
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, [stride * storage.itemsize for stride in strides])
