#!/usr/bin/env python3
"""Lists the comments of the C++ code that begin without a subject: with a bare What, Of, Whether, Nothing, As and so on.

A comment's first word is a noun, a verb in the third person or a symbol ("Rows that no run has claimed", "Returns ..."). Exit
code 1 where there is one that is not."""

import re
import subprocess
import sys

NO_SUBJECT = re.compile(r"(What|Of|Whether|Whom|Nothing|As|Where|One|All|How)\b")
LABEL = re.compile(r"(Input|Output|Never|Guarantees): *")


def first_words(lines):
    """The number and text of the first line of each comment block, and of each comment behind code."""
    inside = False
    for number, line in enumerate(lines, 1):
        whole = re.match(r"\s*//+ ?(.*)", line)
        behind = None if whole else re.search(r"\S\s+// (.*)", line)
        if whole and not inside:
            yield number, whole.group(1)
        elif behind:
            yield number, behind.group(1)
        inside = bool(whole)


def main():
    names = subprocess.run(["git", "ls-files", "*.cc", "*.h", "*.inc", "*.cu"], capture_output=True, text=True, check=True)
    found = 0
    for name in names.stdout.split():
        with open(name, encoding="utf-8") as file:
            for number, text in first_words(file):
                if NO_SUBJECT.match(LABEL.sub("", text)):
                    print(f"{name}:{number}: {text.strip()}")
                    found += 1
    if found:
        print(f"lint: {found} comments begin without a subject")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
