#!/usr/bin/env python3
"""A filter for vessels of the retina as an ONNX network, and its card: dark lines of two widths and twelve directions.

  vessel_filter.py M.onnx

Matched filters as of Chaudhuri and others (1989): the second derivative of a Gaussian across a line, a Gaussian along it, on
the green channel, which shows vessels best; the strongest answer of all directions. Nothing is learnt: it is for the demo,
and no physician should look at what it finds.
"""

import json
import pathlib
import sys

import numpy as np
from onnx_fields import integer, integers, model, node, tensor, text, value_info

SIDE, DIRECTIONS, WIDTHS, LENGTH = 21, 12, (1.8, 3.2), 5.0


def lines():
    """[filters, 1, SIDE, SIDE]: each of mean 0, so that brightness is nothing to it, and of one strength."""
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    out = []
    for width in WIDTHS:
        for k in range(DIRECTIONS):
            angle = np.pi * k / DIRECTIONS
            along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
            one = (across**2 / width**2 - 1) * np.exp(-(across**2) / (2 * width**2) - along**2 / (2 * LENGTH**2))
            one -= one.mean()
            out.append(one / np.abs(one).sum())
    return np.array(out, np.float32)[:, None]


def network():
    half = SIDE // 2
    around = np.array([0, 0, half, half, 0, 0, half, half], np.int64)
    numbers = [
        tensor("around", around), tensor("lines", lines()),
        tensor("green", np.array([0, 1, 0], np.float32).reshape(1, 3, 1, 1)),
        tensor("steepness", np.float32(260)), tensor("faint", np.float32(0.016)),
        tensor("minus", np.float32(-1)), tensor("dark", np.float32(0.08)), tensor("edge", np.float32(150)),
    ]
    nodes = [
        # What lies outside a window is like what lies inside.
        node("Pad", "mirror", ["image", "around"], "wide", text("mode", "reflect")),
        node("Conv", "green", ["wide", "green"], "greens"),
        node("Conv", "directions", ["greens", "lines"], "answers"),
        node("ReduceMax", "strongest", ["answers"], "answer", integers("axes", [1]) + integer("keepdims", 1)),
        node("Sub", "above", ["answer", "faint"], "above_faint"),
        node("Mul", "steep", ["above_faint", "steepness"], "logit"),
        node("Sigmoid", "likely", ["logit"], "likely_y"),
        # Not at the border of the round image, beyond which all is black.
        node("Mul", "inverted", ["greens", "minus"], "inverted_y"),
        node("MaxPool", "darkest", ["inverted_y"], "darkest_y", integers("kernel_shape", [SIDE, SIDE]) + integers("strides", [1, 1])),
        node("Add", "light", ["darkest_y", "dark"], "light_y"),
        node("Mul", "border", ["light_y", "edge"], "border_y"),
        node("Mul", "inside", ["border_y", "minus"], "inside_y"),
        node("Sigmoid", "retina", ["inside_y"], "retina_y"),
        node("Mul", "vessels", ["likely_y", "retina_y"], "vessel"),
    ]
    return model(nodes, numbers, [value_info("image", [None, 3, None, None])], [value_info("vessel", [None, 1, None, None])])


def main():
    path = pathlib.Path(sys.argv[1])
    path.write_bytes(network())
    card = {"input": "rgb", "range": [0, 1], "activation": "none", "threshold": 0.5, "window": 256,
            "classes": [{"name": "vessel", "color": "#56b4e9"}]}
    path.with_suffix(".json").write_text(json.dumps(card, indent=1) + "\n")


if __name__ == "__main__":
    main()
