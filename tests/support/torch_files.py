"""Files of tensors as PyTorch, NumPy and safetensors write them, without any of these: real pickles of stand-ins that
bear the names of PyTorch's own classes and functions, in zip archives and in what was written before PyTorch 1.6.

torch_files.py FOLDER writes one of each kind, and beside it NAME.truth: a line a tensor, `name|type|shape|hex of its
numbers, row after row`."""

import collections
import gzip
import io
import json
import pathlib
import pickle
import random
import struct
import sys
import types
import zipfile

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001

# type: bytes of an element, storage class, safetensors' name, NumPy's.
TYPES = {
    "float16": (2, "HalfStorage", "F16", "<f2"), "bfloat16": (2, "BFloat16Storage", "BF16", None),
    "float32": (4, "FloatStorage", "F32", "<f4"), "float64": (8, "DoubleStorage", "F64", "<f8"),
    "int8": (1, "CharStorage", "I8", "|i1"), "uint8": (1, "ByteStorage", "U8", "|u1"),
    "int16": (2, "ShortStorage", "I16", "<i2"), "int32": (4, "IntStorage", "I32", "<i4"),
    "int64": (8, "LongStorage", "I64", "<i8"), "bool": (1, "BoolStorage", "BOOL", "|b1"),
    "uint16": (2, None, "U16", "<u2"), "uint32": (4, None, "U32", "<u4"), "uint64": (8, None, "U64", "<u8"),
}


class Torch:
    """Things that pickle as PyTorch's names. They can be imported while something is pickled and at no other time: other
    libraries look for PyTorch, too."""

    def __init__(self):
        self.known, self.modules = {}, {}

    def __call__(self, module, name, kind="function"):
        if (module, name) not in self.known:
            self.known[module, name] = self.stand_in(module, name, kind)
        return self.known[module, name]

    def stand_in(self, module, name, kind):
        if kind == "function":
            def out(*_):
                raise AssertionError("nothing is called")
        else:
            out = type(name, (), {})
        out.__module__, out.__name__, out.__qualname__ = module, name, name
        parts = module.split(".")
        for end in range(1, len(parts) + 1):
            path = ".".join(parts[:end])
            # Of Python's own the real one serves.
            here = sys.modules.get(path) or self.modules.setdefault(path, types.ModuleType(path))
            if end > 1:
                setattr(self.modules[".".join(parts[:end - 1])], parts[end - 1], here)
        setattr(here, name, out)
        if self.pickling:
            sys.modules.update(self.modules)
        return out

    pickling = False

    def __enter__(self):
        self.pickling = True
        sys.modules.update(self.modules)

    def __exit__(self, *_):
        self.pickling = False
        for name in self.modules:
            sys.modules.pop(name, None)


TORCH = Torch()


class Storage:
    """Numbers that tensors share. `untyped`: its elements are bytes, as of types without a storage class."""

    def __init__(self, kind, data, view=None):
        self.kind, self.data, self.view = kind, data, view
        self.untyped = TYPES[kind][1] is None

    def count(self):
        return len(self.data) // (1 if self.untyped else TYPES[self.kind][0])


class Size:
    def __init__(self, sides):
        self.sides = tuple(sides)

    def __reduce__(self):
        return TORCH("torch", "Size"), (self.sides,)


class Device:
    def __reduce__(self):
        return TORCH("torch", "device"), ("cuda", 0)


class Dtype:
    def __init__(self, name):
        self.name = name


class Tensor:
    def __init__(self, storage, shape, strides=None, offset=0, metadata=None):
        self.storage, self.shape, self.offset, self.metadata = storage, tuple(shape), offset, metadata
        self.strides = tuple(strides) if strides is not None else row_after_row(shape)

    def __reduce_ex__(self, protocol):
        arguments = (self.storage, self.offset, self.shape, self.strides, False, collections.OrderedDict())
        if self.storage.untyped:
            return TORCH("torch._utils", "_rebuild_tensor_v3"), arguments + (Dtype(self.storage.kind),)
        if self.metadata is not None:
            arguments += (self.metadata,)
        return TORCH("torch._utils", "_rebuild_tensor_v2"), arguments

    def numbers(self):
        """As bytes, row after row."""
        size = TYPES[self.storage.kind][0]
        places = [self.offset]
        for side, stride in zip(self.shape, self.strides):
            places = [place + i * stride for place in places for i in range(side)]
        return b"".join(self.storage.data[place * size:(place + 1) * size] for place in places)


class Parameter:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce_ex__(self, protocol):
        return TORCH("torch._utils", "_rebuild_parameter"), (self.tensor, True, collections.OrderedDict())


def row_after_row(shape):
    strides, step = [], 1
    for side in reversed(shape):
        strides.append(step)
        step *= max(side, 1)
    return tuple(reversed(strides))


def tensor(kind, shape, seed=1):
    """Any numbers; truth values are 0 and 1."""
    count = 1
    for side in shape:
        count *= side
    data = random.Random(seed).randbytes(count * TYPES[kind][0])
    if kind == "bool":
        data = bytes(byte & 1 for byte in data)
    return Tensor(Storage(kind, data), shape)


class Pickler(pickle._Pickler):  # pylint: disable=protected-access
    """Storages go beside the pickle, and types are names."""

    def __init__(self, file, protocol, legacy):
        super().__init__(file, protocol)
        self.storages, self.legacy = {}, legacy

    def persistent_id(self, obj):
        if not isinstance(obj, Storage):
            return None
        # Storages with the same bytes object are one, as views of before PyTorch 0.4 have it.
        known = [key for key, other in self.storages.items() if other is obj or other.data is obj.data]
        key = known[0] if known else str(len(self.storages))
        self.storages.setdefault(key, obj)
        kind = (TORCH("torch.storage", "UntypedStorage", "class") if obj.untyped
                else TORCH("torch", TYPES[obj.kind][1], "class"))
        return ("storage", kind, key, "cpu", obj.count()) + ((obj.view,) if self.legacy else ())

    def save_dtype(self, obj):
        self.write(pickle.GLOBAL + b"torch\n" + obj.name.encode() + b"\n")
        self.memoize(obj)

    dispatch = dict(pickle._Pickler.dispatch)  # pylint: disable=protected-access
    dispatch[Dtype] = save_dtype


def pickled(value, protocol=2, legacy=False):
    out = io.BytesIO()
    pickler = Pickler(out, protocol, legacy)
    with TORCH:
        pickler.dump(value)
    return out.getvalue(), pickler.storages


def archive(value, protocol=2, folder="archive", byteorder="little", more=(), deflated=False):
    """A zip archive whose members' bytes begin at multiples of 64."""
    data, storages = pickled(value, protocol)
    members = [("data.pkl", data)]
    if byteorder:
        members.append(("byteorder", byteorder.encode()))
    members += [(f"data/{key}", storage.data) for key, storage in storages.items()]
    members += [("version", b"3\n"), *more]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as file:
        for name, contents in members:
            info = zipfile.ZipInfo(f"{folder}/{name}")
            info.compress_type = file.compression
            begin = out.tell() + 30 + len(info.filename) + 4
            info.extra = b"FB" + struct.pack("<H", -begin % 64) + b"Z" * (-begin % 64)
            file.writestr(info, contents)
    return out.getvalue()


def legacy(value, protocol=2, little=True):
    """One pickle after the other, then the storages."""
    data, storages = pickled(value, protocol, legacy=True)
    machine = {"protocol_version": PROTOCOL, "little_endian": little, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    keys = sorted(storages)
    out = [pickle.dumps(each, 2) for each in (MAGIC, PROTOCOL, machine)] + [data, pickle.dumps(keys, 2)]
    return b"".join(out + [struct.pack("<q", storages[key].count()) + storages[key].data for key in keys])


def npy(kind, shape, data):
    text = repr({"descr": kind, "fortran_order": False, "shape": tuple(shape)}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def npy_of(one):
    return npy(TYPES[one.storage.kind][3], one.shape, one.numbers())


def npz(arrays, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file:
        for name, contents in arrays.items():
            file.writestr(zipfile.ZipInfo(name + ".npy"), contents, compression)
    return out.getvalue()


def safetensors(tensors, metadata=None):
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, one in tensors.items():
        numbers = one.numbers()
        header[name] = {"dtype": TYPES[one.storage.kind][2], "shape": one.shape,
                        "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def truth(value, name=""):
    """The lines of what a reader has to find."""
    if isinstance(value, Parameter):
        value = value.tensor
    if isinstance(value, Tensor):
        sides = ",".join(map(str, value.shape))
        return [f"{name}|{value.storage.kind}|{sides}|{value.numbers().hex()}"]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    return [line for key, item in items for line in truth(item, f"{name}.{key}" if name else str(key))]


def values():
    """What is saved, by name."""
    base = tensor("float16", (3, 4, 5))
    shared = base.storage
    whole = Storage("float32", random.Random(5).randbytes(96))
    out = {f"bare_{kind}": tensor(kind, (2, 3)) for kind in TYPES}
    out |= {
        "scalar": tensor("float32", ()),
        "empty": tensor("float16", (0, 7)),
        "permuted": Tensor(shared, (5, 3, 4), (1, 20, 5)),
        "view": Tensor(shared, (2, 2), (20, 10), 23),
        "tail": Tensor(shared, (2, 4), None, 52),
        "expanded": Tensor(shared, (6, 3, 5), (0, 20, 1), 5),
        "parameter": Parameter(base),
        "state": collections.OrderedDict([("layer.weight", base), ("layer.bias", tensor("float32", (4,), 3))]),
        "nested": {
            "latents": tensor("bfloat16", (4, 2), 2), "fps": 24, "prompt": "ein Bär", "none": None, "rate": 1.5,
            "yes": True, "minus": -7, "large": 2**40, "huge": 2**90, "bytes": Size((1, 2)), "where": Device(),
            "kind": Dtype("float16"), "list": [base, (tensor("int64", (1,), 4), "text")], 7: tensor("uint8", (3,), 6),
            "again": base, "view": Tensor(shared, (5,), (1,), 5)},
        "views": [Tensor(whole, (24,)), Tensor(Storage("float32", whole.data), (4,), None, 2)],
        "plain": {"a": [1, 2, "b"]},
        "many": [tensor("int16", (1,), seed) for seed in range(1200)],
    }
    # A state_dict() has its modules' versions as an attribute.
    out["state"]._metadata = collections.OrderedDict([("", {"version": 1})])  # pylint: disable=protected-access
    return out


def files():
    """(name, contents, lines of truth) of one file of each kind."""
    for name, value in values().items():
        for protocol in (2, 3, 4, 5):
            yield f"{name}_{protocol}.pt", archive(value, protocol), truth(value)
        yield f"{name}_old.pt", legacy(value), truth(value)
    nested = values()["nested"]
    yield "deflated.pt", archive(nested, deflated=True), truth(nested)
    yield "no_order.pt", archive(nested, byteorder=None, folder="any thing"), truth(nested)
    yield "nested.pt.gz", gzip.compress(archive(nested)), truth(nested)
    yield "old.pt.gz", gzip.compress(legacy(nested)), truth(nested)
    half = len(archive(nested)) // 2
    yield ("members.pt.gz", gzip.compress(archive(nested)[:half]) + gzip.compress(archive(nested)[half:]) + bytes(512),
           truth(nested))

    arrays = {f"a_{kind}": tensor(kind, (2, 3, 2), 8) for kind in TYPES if TYPES[kind][3]}
    arrays["none"] = tensor("float32", (0, 2))
    arrays["one"] = tensor("float64", ())
    contents = {name: npy_of(one) for name, one in arrays.items()}
    contents["prompt"] = npy("<U2", (), b"a\0\0\0b\0\0\0")
    for word, compression in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        yield f"{word}.npz", npz(contents, compression), truth(arrays)
    for name, one in arrays.items():
        yield f"{name}.npy", npy_of(one), truth(one)
        yield f"{name}.npy.gz", gzip.compress(npy_of(one)), truth(one)
    yield "zeros.npy.gz", gzip.compress(npy("|u1", (100000,), bytes(100000))), [f"|uint8|100000|{bytes(100000).hex()}"]
    all_types = {kind: tensor(kind, (3, 2), 9) for kind in TYPES}
    yield "all.safetensors", safetensors(all_types | {"none": tensor("float32", (0,))}, {"format": "pt"}), truth(
        all_types | {"none": tensor("float32", (0,))})


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, contents, lines in files():
        (folder / name).write_bytes(contents)
        (folder / (name + ".truth")).write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
