#!/usr/bin/env python3
"""The duplicates of a folder as a table: a row a picture of a group, with the one to keep and why.

    python examples/duplicates_to_pandas.py ~/Pictures --csv duplicates.csv

Nothing in the folder is changed. Needs pandas.
"""

import argparse
import sys

import millrace


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", help="pictures, and folders of them")
    parser.add_argument("--csv", help="write the table there as well")
    arguments = parser.parse_args()

    found = millrace.dedupe(arguments.folders, orientations=True, progress=True)
    table = found.to_pandas()

    print("\n".join(found.summary))
    if not table.empty:
        print(table.groupby("kind").agg(groups=("group", "nunique"), pictures=("path", "size"), bytes=("bytes", "sum")))
        print(table.loc[~table.keep, ["path", "why"]].to_string(index=False))
    if arguments.csv:
        table.to_csv(arguments.csv, index=False)


if __name__ == "__main__":
    try:
        main()
    except millrace.Error as error:
        sys.exit(str(error))
