#!/usr/bin/env python3
"""Words that the glossary has retired, in the names of the code; ends with 1 if there are any.

The last column of docs/design/glossary.md has them set in `code`. A name is taken apart at underscores and capitals.
"""
import re
import subprocess
import sys
from pathlib import Path

SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
NAME = re.compile(r"[A-Za-z_]\w*")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")


def retired() -> dict[str, str]:
    """The retired words, each with the term that takes its place."""
    out = {}
    for line in Path("docs/design/glossary.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 3:
            continue
        for word in re.findall(r"`([^`]+)`", cells[-1]):
            out[word.rstrip("…")] = cells[0]
    return out


def main() -> int:
    """Prints each retired name once a file, with its line."""
    words = retired()
    prefixes = tuple(word for word in words if word.startswith("k") and word[1:2].isupper())
    files = subprocess.run(
        ["git", "ls-files", "src/*.cc", "src/*.h", "src/*.inc", "include/*.h", "python/src/*", "tests/*.cc", "tests/*.h", "bench/*.cc"],
        capture_output=True, text=True, check=True,
    ).stdout.split()
    found = 0
    for path in files:
        text = SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), Path(path).read_text(encoding="utf-8"))
        seen = set()
        for match in NAME.finditer(text):
            name = match.group(0)
            if name in seen:
                continue
            seen.add(name)
            bad = [w.lower() for w in WORD.findall(name) if w.lower() in words]
            if name.startswith(prefixes):
                bad += [p for p in prefixes if re.match(p + "[A-Z0-9]|" + p + "$", name)]
            if bad:
                found += 1
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path}:{line}: {name}: the glossary says {', '.join(words[b] for b in bad)}")
        folder = [p for p in re.split(r"[/_.]", path) if p in words]
        if folder:
            found += 1
            print(f"{path}: the glossary says {', '.join(words[p] for p in folder)}")
    if found:
        print(f"names: {found} names with words that docs/design/glossary.md has retired")
    return 1 if found else 0


sys.exit(main())
