#!/usr/bin/env python3
"""A network that finds a colour: y = sigmoid of weights times red, green and blue, plus a bias.

  color_model.py OUT.onnx [SIDE]

What is red, and neither gray nor another colour; its card beside it says so. For the demo of `video`, and to try it.
"""

import json
import pathlib
import sys

import numpy as np

from onnx_fields import model, node, tensor, value_info

WEIGHTS, BIAS = (24.0, -20.0, -20.0), -7.0


def main():
    out = pathlib.Path(sys.argv[1])
    side = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    weights = np.array(WEIGHTS, np.float32).reshape(1, 3, 1, 1)
    nodes = [node("Conv", "mix", ["x", "weights", "bias"], "mixed"), node("Sigmoid", "sure", ["mixed"], "y")]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(model(nodes, [tensor("weights", weights), tensor("bias", np.array([BIAS], np.float32))],
                          [value_info("x", [1, 3, side, side])], [value_info("y", [1, 1, side, side])]))
    out.with_suffix(".json").write_text(json.dumps(
        {"input": "rgb", "range": [0, 1], "activation": "none", "classes": [{"name": "red", "color": "#0072b2"}]}) + "\n")


if __name__ == "__main__":
    main()
