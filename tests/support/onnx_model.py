"""ONNX models that tests make, field by field: what protocol buffers are on the wire, and the few of ONNX's messages that
small networks take."""

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


def tensor(name, array):
    array = np.ascontiguousarray(array)
    kind = {"float32": 1, "int64": 7}[str(array.dtype)]
    return (b"".join(number(1, side) for side in array.shape) + number(2, kind) + field(8, name)
            + field(9, array.tobytes()))


def model(nodes, initializers, inputs, outputs, opset=13):
    graph = (b"".join(field(1, each) for each in nodes) + field(2, "graph") + b"".join(field(5, each) for each in initializers)
             + b"".join(field(11, each) for each in inputs) + b"".join(field(12, each) for each in outputs))
    return number(1, 8) + field(2, "millrace-tests") + field(7, graph) + field(8, field(1, "") + number(2, opset))


def ramps(classes, height, width, channels=3, seed=5):
    """A network that knows where in its window a pixel lies: y[k] = sum over c of w[k, c] x[c], plus a ramp of its own.

    Returns its bytes, and the same as a function of a window in float32.
    """
    random = np.random.default_rng(seed)
    weights = random.normal(size=(classes, channels, 1, 1)).astype(np.float32)
    ramp = random.normal(size=(1, classes, height, width)).astype(np.float32)
    made = model(
        [node("Conv", "mix", ["x", "weights"], "mixed"), node("Add", "ramp", ["mixed", "places"], "y")],
        [tensor("weights", weights), tensor("places", ramp)],
        [value_info("x", [None, channels, height, width])], [value_info("y", [None, classes, height, width])])

    def run(window):
        return np.einsum("kc,chw->khw", weights[:, :, 0, 0].astype(np.float64), window.astype(np.float64)) + ramp[0]

    return made, run


def external(location):
    """A network whose numbers lie in another file."""
    far = (number(1, 4) + number(2, 1) + field(8, "far") + field(13, field(1, "location") + field(2, location))
           + number(14, 1))
    return model([node("Mul", "scale", ["x", "far"], "y")], [far], [value_info("x", [1, 3, None, None])],
                 [value_info("y", [1, 3, None, None])])


