#!/usr/bin/env python3
"""The vessels of a retina: a mask, an overlay and what share of it they are, of a photograph and a model that you name.

    python examples/vessels.py retina.jpg --model vessels.onnx -o masks

`./dev demo` leaves both, a filter that is no network in build/demo/vessels.onnx and a photograph in build/demo/retina; the
model card beside a network of your own says how it wants its pictures (docs/segment.md). Needs OpenVINO, which `./dev` puts
where the library finds it. No physician should look at what a filter finds.
"""

import argparse
import csv
import pathlib
import sys

import millrace


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photographs", nargs="+", help="photographs, or folders of them")
    parser.add_argument("--model", required=True, help="an ONNX network, with its card beside it")
    parser.add_argument("-o", "--output", required=True, help="a folder for the results")
    parser.add_argument("--size", type=int, default=1408, help="of the field of view that the model sees, in pixels")
    arguments = parser.parse_args()

    try:
        # The field of view is found and brought to that size first; results lie on the photograph's own pixels.
        done = millrace.segment(arguments.photographs, model=arguments.model, output=arguments.output, write=["mask", "overlay"],
                                preprocess="fundus", size=arguments.size, tta="w", progress=True)
    except millrace.Error as error:
        sys.exit(f"{error.code}: {error}")
    print("\n".join(done.summary))
    with open(pathlib.Path(arguments.output) / "pictures.csv", newline="") as table:
        for row in csv.DictReader(table):
            print(f"{row['path']}: {row['class']} {100 * float(row['share']):.1f} % of the pixels")
    sys.exit(done.exit_code)


if __name__ == "__main__":
    main()
