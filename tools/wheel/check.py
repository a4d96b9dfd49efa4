"""check.py WHEEL: fails where a wheel holds a library that was not reviewed (libraries.txt), or whose licence is none that may
be in it, or that is wanted from a system that need not have it; or where it lacks a licence's text."""

import email
import fnmatch
import io
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# Licences under which a library may be part of a wheel that is itself under Apache-2.0. Those under the LGPL are files of
# their own, which can be exchanged.
INSIDE = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "IJG-and-BSD-3-Clause", "libpng-2.0", "WTFPL", "public-domain"}
SHARED = INSIDE | {"LGPL-2.1-or-later", "LGPL-2.1-only"}
# They come with a wheel of their own.
BESIDE = ["libopenvino.so.*"]


# What this project builds.
OWN = ["millrace/libmillrace-openvino.so", "millrace/_core.*.so", "millrace/libmillrace.so*", "millrace/millrace", "millrace/millrace-hdf5", "millrace-*.data/scripts/millrace"]


class Library(NamedTuple):
    name: str
    package: str
    licence: str
    how: str
    read: str = ""  # by-hand: its package's copyright file is in no form that a program reads


def listed(text):
    """Of libraries.txt."""
    return [Library(*line.split()) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def reviewed(file, libraries):
    """The one that a file of auditwheel's is, as libfmt-1a2b3c4d.so.9.1.0 is libfmt.so.9; None where nobody looked at it."""
    found = re.fullmatch(r"(.+)-[0-9a-f]{8}\.(so[.0-9]*)", file)
    name = f"{found[1]}.{found[2]}" if found else file
    return next((one for one in libraries if one.how == "shared" and (name + ".").startswith(one.name + ".")), None)


def of_others(files):
    """Compiled files that are not this project's, wherever in a wheel they lie."""
    return [Path(name).name for name in files if not any(fnmatch.fnmatch(name, own) for own in OWN)]


def main_licence(copyright):
    """What Debian says of `Files: *`; "" where it says it in another form."""
    for paragraph in re.split(r"\n\s*\n", copyright):
        if re.search(r"^Files:\s*\*\s*$", paragraph, re.M):
            found = re.search(r"^License:\s*(.+)$", paragraph, re.M)
            return found[1].strip() if found else ""
    return ""


def wrong_licences(bundled, libraries, copyrights):
    """`bundled` are names of files, `copyrights` the texts of packages by their names."""
    out = []
    for file in bundled:
        if reviewed(file, libraries) is None:
            out.append(f"{file}: nobody looked at its licence: tools/wheel/libraries.txt does not list it")
    for one in libraries:
        if one.licence not in (SHARED if one.how == "shared" else INSIDE):
            out.append(f"{one.name}: {one.licence} may not be in a wheel")
        text = copyrights.get(one.package)
        if text is None:
            out.append(f"{one.name}: the wheel lacks its licence, {one.package}.txt")
        elif re.match(r"A?GPL", main_licence(text)):
            out.append(f"{one.name}: the package {one.package} is under {main_licence(text)}")
        elif main_licence(text) == "" and one.read != "by-hand":
            out.append(f"{one.name}: what the package {one.package} is under must be read by hand, and said to be in tools/wheel/libraries.txt")
    return out


def unmet(needed, in_wheel, of_systems):
    """Libraries that neither the wheel nor every system of its platform has."""
    return sorted(name for name in needed if name not in in_wheel and name not in of_systems and
                  not any(fnmatch.fnmatch(name, pattern) for pattern in BESIDE))


def of_systems(platform):
    from auditwheel import policy

    policies = json.loads((Path(policy.__file__).parent / "manylinux-policy.json").read_text())
    return next(set(one["lib_whitelist"]) for one in policies if platform.startswith(one["name"])) | {"ld-linux-x86-64.so.2"}


def wrong_metadata(text, openvino):
    """Of METADATA: what it wants, and that its models run on what this was built with."""
    wants = email.message_from_string(text).get_all("Requires-Dist", [])
    plain = [one for one in wants if "extra ==" not in one]
    models = [one.split(";")[0].strip() for one in wants if re.search(r"extra == .models.", one)]
    out = [] if plain == ["numpy"] else [f"it wants {plain}, and numpy is all that it needs"]
    if models != openvino:
        out.append(f"models want {models}, and it was built with {openvino} (packages/openvino.txt, pyproject.toml)")
    return out


def searched_elsewhere(searched):
    """Folders of a RUNPATH that are not the wheel's own: an empty one is the folder that a person is in."""
    return [folder for folder in searched if folder != "$ORIGIN" and not folder.startswith("$ORIGIN/")]


def check(path):
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.elffile import ELFFile

    libraries = listed((ROOT / "tools/wheel/libraries.txt").read_text())
    platform = path.stem.rpartition("-")[2].split(".")[0]
    wheel = zipfile.ZipFile(path)
    names = wheel.namelist()
    licences = {Path(name).stem: wheel.read(name).decode() for name in names if ".dist-info/licenses/" in name}
    compiled = {name: content for name in names if (content := wheel.read(name)).startswith(b"\x7fELF")}
    bundled = of_others(compiled)
    wrong = wrong_licences(bundled, libraries, licences)
    unused = [one.name for one in libraries if one.how == "shared" and one not in [reviewed(file, libraries) for file in bundled]]
    wrong += [f"{name}: listed in tools/wheel/libraries.txt, and not in the wheel" for name in unused]
    for text in ("LICENSE", "LGPL-2.1"):
        if text not in licences:
            wrong.append(f"the wheel lacks the text {text}")
    in_wheel = {Path(name).name for name in names}
    for name, content in compiled.items():
        dynamic = ELFFile(io.BytesIO(content)).get_section_by_name(".dynamic")
        tags = list(dynamic.iter_tags()) if isinstance(dynamic, DynamicSection) else []
        needed = [tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"]
        paths = [getattr(tag, "runpath", None) or getattr(tag, "rpath", "") for tag in tags if tag.entry.d_tag in ("DT_RUNPATH", "DT_RPATH")]
        searched = [folder for one in paths for folder in one.split(":")]
        wrong += [f"{name}: libraries are searched in '{one}'" for one in searched_elsewhere(searched)]
        wrong += [f"{name}: {one} is nowhere" for one in unmet(needed, in_wheel, of_systems(platform))]
        if "millrace-decoder" in name or "millrace-film" in name:
            wrong.append(f"{name}: it links what a wheel must not hold")
    metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
    pinned = [line for line in (ROOT / "packages/openvino.txt").read_text().splitlines() if line and not line.startswith("#")]
    return bundled, wrong + wrong_metadata(wheel.read(metadata).decode(), pinned)


if __name__ == "__main__":
    bundled, wrong = check(Path(sys.argv[1]))
    for one in wrong:
        print(f"wheel: {one}", file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"wheel: {len(bundled)} libraries are bundled, each with a reviewed licence; all others come with every Debian 12")
