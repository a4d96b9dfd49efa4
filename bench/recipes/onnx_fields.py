"""ONNX models, field by field: what protocol buffers are on the wire, and the few of ONNX's messages that small networks
take. Fields by their numbers in onnx.proto."""

import numpy as np


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def field(key, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(key << 3 | 2) + varint(len(value)) + value


def value_info(name, sides, kind=1):
    shape = b"".join(field(1, field(2, "any") if side is None else number(1, side)) for side in sides)
    return field(1, name) + field(2, field(1, number(1, kind) + field(2, shape)))


def node(kind, name, inputs, output, attributes=b""):
    return (b"".join(field(1, each) for each in inputs) + field(2, output) + field(3, name) + field(4, kind) + attributes)


def integer(name, value):
    return field(5, field(1, name) + number(3, value) + number(20, 2))


def integers(name, values):
    return field(5, field(1, name) + b"".join(number(8, value) for value in values) + number(20, 7))


def text(name, value):
    return field(5, field(1, name) + field(4, value) + number(20, 3))


def tensor(name, array):
    array = np.ascontiguousarray(array)
    kind = {"float32": 1, "int64": 7}[str(array.dtype)]
    return (b"".join(number(1, side) for side in array.shape) + number(2, kind) + field(8, name)
            + field(9, array.tobytes()))


def model(nodes, initializers, inputs, outputs, opset=13):
    graph = (b"".join(field(1, each) for each in nodes) + field(2, "graph") + b"".join(field(5, each) for each in initializers)
             + b"".join(field(11, each) for each in inputs) + b"".join(field(12, each) for each in outputs))
    return number(1, 8) + field(2, "millrace") + field(7, graph) + field(8, field(1, "") + number(2, opset))
