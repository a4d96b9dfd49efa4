"""Small networks that tests make."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench", "recipes"))

from onnx_fields import field, integers, model, node, number, tensor, value_info


def ramps(classes, height, width, channels=3, seed=5, channels_last=False):
    """A network that knows where in its window a pixel lies: y[k] = sum over c of w[k, c] x[c], plus a ramp of its own.

    Returns its bytes, and the same as a function of a window in float32.
    """
    random = np.random.default_rng(seed)
    weights = random.normal(size=(classes, channels, 1, 1)).astype(np.float32)
    ramp = random.normal(size=(1, classes, height, width)).astype(np.float32)
    nodes = [node("Conv", "mix", ["x", "weights"], "mixed"), node("Add", "ramp", ["mixed", "places"], "y")]
    sides_in, sides_out = [channels, height, width], [classes, height, width]
    if channels_last:
        sides_in, sides_out = [height, width, channels], [height, width, classes]
        nodes = [node("Transpose", "first", ["x"], "planes", integers("perm", [0, 3, 1, 2])),
                 node("Conv", "mix", ["planes", "weights"], "mixed"), node("Add", "ramp", ["mixed", "places"], "sum"),
                 node("Transpose", "last", ["sum"], "y", integers("perm", [0, 2, 3, 1]))]
    made = model(nodes, [tensor("weights", weights), tensor("places", ramp)],
                 [value_info("x", [None, *sides_in])], [value_info("y", [None, *sides_out])])

    def run(window):
        return np.einsum("kc,chw->khw", weights[:, :, 0, 0].astype(np.float64), window.astype(np.float64)) + ramp[0]

    return made, run


def color(weights, bias, height, width):
    """y[k] = bias[k] + the sum over c of weights[k][c] x[c]: what it finds are colours, wherever they are."""
    weights = np.asarray(weights, np.float32)[:, :, None, None]
    ramp = np.broadcast_to(np.asarray(bias, np.float32)[None, :, None, None], (1, len(bias), height, width)).copy()
    nodes = [node("Conv", "mix", ["x", "weights"], "mixed"), node("Add", "ramp", ["mixed", "places"], "y")]
    return model(nodes, [tensor("weights", weights), tensor("places", ramp)],
                 [value_info("x", [None, weights.shape[1], height, width])],
                 [value_info("y", [None, len(bias), height, width])])


def external(location):
    """A network whose numbers lie in another file."""
    far = (number(1, 4) + number(2, 1) + field(8, "far") + field(13, field(1, "location") + field(2, location))
           + number(14, 1))
    return model([node("Mul", "scale", ["x", "far"], "y")], [far], [value_info("x", [1, 3, None, None])],
                 [value_info("y", [1, 3, None, None])])


def heads(height, width, seed=5, channels=3):
    """A network of several outputs, each a mix of the input's channels: `mask` of 3 channels, with ramps of their own;
    `coarse`, 1 at half the resolution; `spots`, 2 at a quarter of it; `grade`, 3 numbers of the window; `age`, one.

    Returns its bytes, and the same as a function of a window that gives them by name."""
    random = np.random.default_rng(seed)
    counts = {"mask": 3, "coarse": 1, "spots": 2, "grade": 3, "age": 1}
    weights = {name: random.normal(size=(k, channels, 1, 1)).astype(np.float32) for name, k in counts.items()}
    ramp = random.normal(size=(1, 3, height, width)).astype(np.float32)
    pool = {"coarse": 2, "spots": 4}
    nodes, outputs = [], []
    for name, k in counts.items():
        nodes.append(node("Conv", f"mix {name}", ["x", f"w {name}"], f"{name} mixed"))
        if name == "mask":
            nodes.append(node("Add", "ramp", [f"{name} mixed", "ramp"], name))
        elif name in pool:
            side = [pool[name]] * 2
            nodes.append(node("AveragePool", f"shrink {name}", [f"{name} mixed"], name,
                              integers("kernel_shape", side) + integers("strides", side)))
        else:
            nodes += [node("GlobalAveragePool", f"mean {name}", [f"{name} mixed"], f"{name} mean"),
                      node("Flatten", f"flat {name}", [f"{name} mean"], name)]
        step = pool.get(name, 1)
        outputs.append(value_info(name, [None, k] if name in ("grade", "age") else [None, k, height // step, width // step]))
    made = model(nodes, [tensor(f"w {name}", each) for name, each in weights.items()] + [tensor("ramp", ramp)],
                 [value_info("x", [None, channels, height, width])], outputs)

    def run(window):
        out = {name: np.einsum("kc,chw->khw", w[:, :, 0, 0].astype(np.float64), window.astype(np.float64))
               for name, w in weights.items()}
        out["mask"] = out["mask"] + ramp[0]
        for name, step in pool.items():
            k = out[name].shape[0]
            out[name] = out[name].reshape(k, height // step, step, width // step, step).mean((2, 4))
        for name in ("grade", "age"):
            out[name] = out[name].mean((1, 2))
        return out

    return made, run


def endless(height, width, turns=2**62):
    """A network that adds a number to its input so many times."""
    def info(name, kind, sides):
        dims = b"".join(field(1, number(1, side)) for side in sides)
        return field(1, name) + field(2, field(1, number(1, kind) + field(2, dims)))

    sides = [1, 1, height, width]
    int64, boolean, float32 = 7, 9, 1
    turn = (field(1, node("Identity", "still", ["go"], "goes"))
            + field(1, node("Add", "grow", ["value", "step"], "grown")) + field(2, "turn")
            + field(11, info("k", int64, [])) + field(11, info("go", boolean, [])) + field(11, info("value", float32, sides))
            + field(12, info("goes", boolean, [])) + field(12, info("grown", float32, sides)))
    body = field(5, field(1, "body") + number(20, 5) + field(6, turn))
    weights = np.full((1, 3, 1, 1), 0.1, np.float32)
    nodes = [node("Conv", "mix", ["x", "weights"], "mixed"), node("Loop", "loop", ["turns", "true", "mixed"], "y", body)]
    many = number(2, int64) + field(8, "turns") + field(9, np.int64(turns).tobytes())
    true = number(2, boolean) + field(8, "true") + field(9, b"\x01")
    return model(nodes, [tensor("weights", weights), tensor("step", np.ones((1, 1, 1, 1), np.float32)), many, true],
                 [value_info("x", [1, 3, height, width])], [value_info("y", [1, 1, height, width])])
