"""No library runs because it lies in the folder that a person happens to be in."""

import os
import pathlib
import re
import subprocess

import attacks
import pytest
from program import BUILD, PROGRAM

# Says that it was loaded, and by whom.
PLANTED = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void run(void) {
  int fd = open("%s", O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd >= 0) { char name[4096]; ssize_t n = readlink("/proc/self/exe", name, sizeof name); if (n > 0) write(fd, name, n); close(fd); }
}
"""


def elf_files(folder):
    """Programs and shared libraries, each once."""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_symlink() or not path.is_file() or path.suffix in (".o", ".a"):
            continue
        with path.open("rb") as file:
            head = file.read(18)
        if head[:4] == b"\x7fELF" and head[16] in (2, 3):
            yield path


def dynamic(path):
    return subprocess.run(["readelf", "-dW", path], capture_output=True, check=True, text=True).stdout


def searched(path):
    """The elements of what a file says of where its libraries lie."""
    return [element for found in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic(path)) for element in found.split(":")]


def unsafe(folder):
    files = list(elf_files(folder))
    assert len(files) > 2
    return [f"{path}: {searched(path)}" for path in files if any(not element.startswith(("/", "$ORIGIN")) for element in searched(path))]


def test_the_build_names_no_folder_that_moves():
    assert unsafe(BUILD) == []


def test_an_installation_names_none(tmp_path):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path], check=True, capture_output=True)
    assert unsafe(tmp_path) == []
    assert not [path for path in elf_files(tmp_path) if searched(path) and "openvino" not in path.name]


def test_programs_are_hardened():
    """What is parsed in them comes from strangers."""
    if BUILD.name != "release":
        pytest.skip("a build for sanitizers")
    for name in ("millrace", "millrace-decoder", "millrace-film", "millrace-hdf5", "libmillrace.so"):
        path = (BUILD / name).resolve()
        symbols = subprocess.run(["readelf", "-sW", "--dyn-syms", path], capture_output=True, check=True, text=True).stdout
        assert "__stack_chk_fail" in symbols, name
        assert re.search(r"__\w+_chk\b", symbols.replace("__stack_chk_fail", "")), name
        assert "BIND_NOW" in dynamic(path) or "NOW" in dynamic(path), name
        headers = subprocess.run(["readelf", "-lW", path], capture_output=True, check=True, text=True).stdout
        assert "GNU_RELRO" in headers, name
        assert re.search(r"GNU_STACK.*\bRW\b", headers), name


def wanted_names(folder):
    """Libraries that the programs are linked to, with those of their libraries, and those that they open while they run."""
    names = {"libcuda.so.1", "libOpenCL.so.1", "libmillrace.so.0.1", "libmillrace-openvino.so"}
    for path in elf_files(BUILD):
        names.update(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic(path)))
    for program in ("millrace", "millrace-decoder", "millrace-film", "millrace-hdf5"):
        traced = subprocess.run([BUILD / program], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True).stdout
        names.update(re.findall(r"^\s*(lib\S+) =>", traced, re.M))
    for command in (["doctor"], ["--version"]):
        opened = subprocess.run([PROGRAM, *command], env={"LD_DEBUG": "libs", "HOME": str(folder)}, capture_output=True, text=True, cwd=folder)
        names.update(name for name in re.findall(r"find library=(\S+)", opened.stderr) if "/" not in name)
    return sorted(names)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    mark = folder / "PWNED"
    (folder / "planted.c").write_text(PLANTED % "PWNED")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", folder / "planted.so", folder / "planted.c"], check=True)
    # It works: where the loader is told to take it, it says so.
    subprocess.run(["/bin/true"], env={"LD_PRELOAD": str(folder / "planted.so")}, cwd=folder, check=True)
    assert mark.exists()
    return (folder / "planted.so").read_bytes(), wanted_names(folder)


def test_libraries_beside_the_photographs_do_not_run(scene, planted):
    library, names = planted
    assert len(names) > 30
    folder = pathlib.Path(scene.home) / "photographs"
    folder.mkdir()
    attacks.picture(folder / "a.png", 1)
    attacks.picture(folder / "b.jpg", 2)
    attacks.picture(folder / "c.webp", 3)
    (folder / "prices.csv").write_text("date,close\n" + "".join(f"2020-01-{d:02},{d}\n" for d in range(1, 31)))
    for name in names:
        (folder / name).write_bytes(library)
        (folder / name).chmod(0o755)
    os.chmod(folder, 0o777)
    for words in (["hash", "."], ["doctor"], ["dedupe", ".", "--catalog", "../catalog.sqlite"], ["render", "prices.csv", "--window", "9", "-o", "charts.h5"],
                  ["inventory", ".", "-o", "../list.jsonl"], ["segment", "a.png", "--model", "nothing.onnx", "-o", "masks"],
                  ["video", "a.mp4", "--model", "nothing.onnx", "-o", "b.mp4"]):
        scene.run(*words, cwd=folder)
        assert not (folder / "PWNED").exists(), (words, (folder / "PWNED").read_text())
