"""Bytes that have changed on the disk are found: in shards that a run goes on with, and in finished outputs."""

import json
import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_model  # noqa: E402
from job_inputs import photos, prices  # noqa: E402, F401
from program import content_of, millrace  # noqa: E402
from segmenting import needs_runtime, picture, runtime  # noqa: E402, F401

STORES = ["npy", "zarr", "webdataset", "png", "hdf5", "virtual"]
FOLDERS = ["hash", "npy", "zarr", "webdataset", "png"]


def command(what, photos, prices, output):  # noqa: F811
    if what == "hash":
        return ["hash", photos, "--shard", "2", "-o", output, "--progress", "none"]
    store = ["--virtual"] if what == "virtual" else ["--store", what]
    return ["render", prices, "--window", "20", "--size", "40x30", "--shard", "100", "--labels", "5", *store, "-o", output, "--progress", "none"]


def name_of(what):
    return "out.h5" if what in ("hdf5", "virtual") else "out"


def flip(path, part=0.5):
    data = bytearray(path.read_bytes())
    data[int(len(data) * part)] ^= 1
    path.write_bytes(data)


def largest(folder):
    """The largest file that holds data, not what is said of it."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".json", ".lock", ".live") and path.stat().st_size > 60]
    return max(files, key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("change", ["flip", "cut"])
@pytest.mark.parametrize("what", ["hash", *STORES])
def test_a_damaged_shard_is_made_again(what, change, photos, prices, tmp_path):  # noqa: F811
    (tmp_path / "right").mkdir()
    right = tmp_path / "right" / name_of(what)
    millrace(*command(what, photos, prices, right))
    output = tmp_path / name_of(what)
    shards = pathlib.Path(f"{output}.shards")
    millrace(*command(what, photos, prices, output), "--part", "1/2")
    hurt = largest(shards)
    if change == "flip":
        # In the first shard: where all shards share a file, the second one's place is still empty.
        flip(hurt, 0.1 if what == "npy" else 0.5)
    elif what != "npy":
        os.truncate(hurt, hurt.stat().st_size // 2)
    else:
        os.truncate(hurt, 200)
    # Whoever makes the last shard sees it, and says what is missing; the part that has made it makes it again.
    millrace(*command(what, photos, prices, output), "--part", "2/2")
    millrace(*command(what, photos, prices, output), "--part", "1/2")
    millrace(*command(what, photos, prices, output), "--part", "2/2")
    assert content_of(output) == content_of(right)
    if what == "virtual":
        assert content_of(shards) == content_of(pathlib.Path(f"{right}.shards"))


@pytest.mark.parametrize("what", FOLDERS)
def test_a_finished_output_is_checked(what, photos, prices, tmp_path):  # noqa: F811
    output = tmp_path / "out"
    millrace(*command(what, photos, prices, output))
    good = json.loads(millrace("finish", "--check", output, "--json", "-").stdout)
    # A plan of it verifies nothing, and asks for no unfinished shards.
    assert output.name in millrace("finish", "--check", output, "--plan").stdout.decode()
    assert good["damaged"] == [] and good["checked"] > 0 and good["bytes"] > 0
    whole = shutil.copytree(output, tmp_path / "whole")
    hurt = largest(output)
    for change in ("flip", "cut", "longer", "gone"):
        shutil.rmtree(output)
        shutil.copytree(whole, output)
        if change == "flip":
            flip(hurt)
        elif change == "cut":
            os.truncate(hurt, hurt.stat().st_size - 1)
        elif change == "longer":
            with open(hurt, "ab") as file:
                file.write(b"x")
        else:
            hurt.unlink()
        done = millrace("finish", "--check", output, "--json", "-", check=False)
        assert done.returncode == 1, change
        damaged = json.loads(done.stdout)["damaged"]
        assert len(damaged) == 1 and str(hurt.relative_to(output)).startswith(damaged[0]), (change, damaged)


@pytest.mark.parametrize("what", ["hdf5", "virtual", "virtual file"])
@pytest.mark.parametrize("change", ["flip", "end", "cut", "longer", "gone"])
def test_a_finished_hdf5_file_is_checked(what, change, photos, prices, tmp_path):  # noqa: F811
    """The file and those that it maps end with a line that tells what they hold."""
    output = tmp_path / "out.h5"
    millrace(*command(what.split()[0], photos, prices, output))
    shards = sorted(pathlib.Path(f"{output}.shards").glob("*.h5")) if what != "hdf5" else []
    good = json.loads(millrace("finish", "--check", output, "--json", "-").stdout)
    assert good["damaged"] == [] and good["checked"] == 1 + len(shards) and (what == "hdf5" or len(shards) > 2)
    assert good["bytes"] == sum(path.stat().st_size - 192 for path in [output, *shards])
    os.symlink(output, tmp_path / "link.h5")
    assert json.loads(millrace("finish", "--check", tmp_path / "link.h5", "--json", "-").stdout) == good
    hurt = shards[1] if what == "virtual" else output
    if change == "flip":
        flip(hurt)
    elif change == "end":
        flip(hurt, 1 - 150 / hurt.stat().st_size)
    elif change == "cut":
        os.truncate(hurt, hurt.stat().st_size - 1)
    elif change == "longer":
        with open(hurt, "ab") as file:
            file.write(b"x")
    else:
        hurt.unlink()
    done = millrace("finish", "--check", output, "--json", "-", check=False)
    assert done.returncode == 1
    # A file without its line, which a library cuts off when it changes the file, tells nothing.
    if change == "flip" or hurt != output:
        assert json.loads(done.stdout)["damaged"] == [str(hurt.relative_to(tmp_path))]


@pytest.mark.parametrize("what", ["fundus", pytest.param("segment", marks=needs_runtime), pytest.param("segment zarr", marks=needs_runtime)])
def test_a_folder_of_pictures_is_checked(what, tmp_path):
    """Records beside the files tell what they hold, whatever their names are."""
    for k, name in enumerate(["a.png", "below/b.png", "below/c.png"]):
        picture(tmp_path / "in" / name, 70, 90, seed=k)
    os.rename(tmp_path / "in/below/c.png", os.fsencode(tmp_path / "in/below") + b"/\xff.png")
    output = tmp_path / "out"
    words = ["fundus", tmp_path / "in", "-o", output, "--write", "crop,enhanced"]
    if what != "fundus":
        (tmp_path / "m.onnx").write_bytes(onnx_model.ramps(1, 24, 32)[0])
        words = ["segment", tmp_path / "in", "--model", tmp_path / "m.onnx", "-o", output, "--write", "mask,overlay"]
        words += ["--format", "zarr"] if what == "segment zarr" else []
    millrace(*words)
    good = json.loads(millrace("finish", "--check", output, "--json", "-").stdout)
    assert good["damaged"] == [] and good["checked"] >= 6
    hurt = sorted(path for path in output.rglob("*") if path.is_file() and b"\xff" in os.fsencode(path) and path.suffix != ".json")[0]
    whole = hurt.read_bytes()
    for change in (whole[:-1], whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:], whole + b"x", None):
        hurt.unlink()
        if change is not None:
            hurt.write_bytes(change)
        done = millrace("finish", "--check", output, "--json", "-", check=False)
        assert done.returncode == 1 and len(json.loads(done.stdout)["damaged"]) == 1
        hurt.write_bytes(whole)
    # A run that goes on with the folder leaves the records as they are.
    millrace(*words)
    assert json.loads(millrace("finish", "--check", output, "--json", "-").stdout) == good


def test_shards_that_changed_places_are_found(photos, prices, tmp_path):  # noqa: F811
    """Each is whole by itself."""
    output = tmp_path / "out.h5"
    millrace(*command("virtual", photos, prices, output))
    shards = pathlib.Path(f"{output}.shards")
    second = (shards / "1.h5").read_bytes()
    shutil.copy(shards / "0.h5", shards / "1.h5")
    assert millrace("finish", "--check", output, check=False).returncode == 1
    (shards / "1.h5").write_bytes(second)
    assert millrace("finish", "--check", output).returncode == 0
    # One more, which a reader would take for the next rows.
    shutil.copy(shards / "0.h5", shards / f"{len(list(shards.glob('*.h5')))}.h5")
    assert millrace("finish", "--check", output, check=False).returncode == 1


@pytest.mark.parametrize("parts", ["18446744073709551615", "1e300", "-1", "100000000"])
def test_an_end_line_of_somebody_else_is_not_believed(parts, photos, prices, tmp_path):  # noqa: F811
    output = tmp_path / "out.h5"
    millrace(*command("hdf5", photos, prices, output))
    line = output.read_bytes()[-192:].replace(b'"parts":0', b'"parts":' + parts.encode())
    output.write_bytes(output.read_bytes()[:-192] + line[:191 - (len(parts) - 1)].rstrip().ljust(191) + b"\n")
    done = millrace("finish", "--check", output, check=False, timeout=20)
    assert done.returncode == 1 and b"no checksums" in done.stderr


@pytest.mark.parametrize("what", ["zarr", "npy"])
def test_what_says_what_the_output_is_is_checked_too(what, photos, prices, tmp_path):  # noqa: F811
    output = tmp_path / "out"
    millrace(*command(what, photos, prices, output))
    files = sorted(output.rglob("zarr.json")) if what == "zarr" else [output / "run.json"]
    assert len(files) > 3 or what == "npy"
    for file in files:
        whole = file.read_text()
        file.write_text(whole.replace("{", "{ ", 1))
        done = millrace("finish", "--check", output, "--json", "-", check=False)
        assert done.returncode == 1, file
        # What is told of the whole may have led to nothing.
        if file.parent != output:
            assert json.loads(done.stdout)["damaged"] == [str(file.relative_to(output))]
        file.write_text(whole)
    assert millrace("finish", "--check", output).returncode == 0
    run = output / ("zarr.json" if what == "zarr" else "run.json")
    said = json.loads(run.read_text())
    (said["attributes"] if what == "zarr" else said)["checksums"] = []
    run.write_text(json.dumps(said))
    assert millrace("finish", "--check", output, check=False).returncode == 1


def test_a_finished_output_without_a_file_is_not_done(photos, prices, tmp_path):  # noqa: F811
    output = tmp_path / "out"
    millrace(*command("npy", photos, prices, output))
    assert millrace(*command("npy", photos, prices, output)).returncode == 0
    for change in (lambda path: path.unlink(), lambda path: os.truncate(path, path.stat().st_size - 1)):
        shutil.copytree(output, tmp_path / "copy")
        change(output / "images.npy")
        done = millrace(*command("npy", photos, prices, output), check=False)
        assert done.returncode == 1 and b"images.npy" in done.stderr
        shutil.rmtree(output)
        (tmp_path / "copy").rename(output)


def test_the_end_line_is_behind_what_hdf5_reads(photos, prices, tmp_path):  # noqa: F811
    h5py = pytest.importorskip("h5py")
    output = tmp_path / "out.h5"
    millrace(*command("hdf5", photos, prices, output))
    with h5py.File(output) as file:
        names, first = set(file), file["images"][0].tobytes()
    assert json.loads(output.read_bytes()[-192:])["millrace"] == "checksum"
    # Whoever changes the file by the library takes the line away: what it says would not hold any more.
    with h5py.File(output, "r+") as file:
        file.attrs["mine"] = 1
    with h5py.File(output) as file:
        assert set(file) == names and file["images"][0].tobytes() == first and file.attrs["mine"] == 1
    assert millrace("finish", "--check", output, check=False).returncode == 1


def test_what_has_no_checksums_is_told(photos, prices, tmp_path):  # noqa: F811
    (tmp_path / "lines.csv").write_text("a,b\n" * 100)
    assert millrace("finish", "--check", tmp_path / "lines.csv", check=False).returncode == 1
    (tmp_path / "folder").mkdir()
    assert millrace("finish", "--check", tmp_path / "folder", check=False).returncode == 1
    assert millrace("finish", "--check", tmp_path / "none", check=False).returncode == 1
    millrace(*command("npy", photos, prices, tmp_path / "out"))
    assert millrace("finish", "--check", tmp_path / "out", "--from", tmp_path / "folder", check=False).returncode == 2


@pytest.mark.parametrize("lies", ['[["../x", 0, 4, "0"]]', '[["/etc/passwd", 0, 4, "0"]]', '[["a\\u0000b", 0, 4, "0"]]', '[["x", -1, 4, "0"]]', "7"])
def test_checksums_lead_nowhere_else(lies, photos, prices, tmp_path):  # noqa: F811
    output = tmp_path / "out"
    millrace(*command("npy", photos, prices, output))
    (tmp_path / "x").write_text("else")
    run = json.loads((output / "run.json").read_text())
    run["checksums"] = json.loads(lies)
    (output / "run.json").write_text(json.dumps(run))
    done = millrace("finish", "--check", output, check=False)
    assert done.returncode == 1 and b"no checksums" in done.stderr


def test_a_file_that_was_exchanged_is_another(photos, tmp_path):  # noqa: F811
    """Of the same size and time of change, as `cp -p` or a restored backup may leave it."""
    library = tmp_path / "library"
    shutil.copytree(photos, library)
    names = sorted(library.glob("?.jpg"))
    pad = max(path.stat().st_size for path in names)
    for path in names:  # a JPEG may end with anything
        path.write_bytes(path.read_bytes().ljust(pad, b"\0"))
        os.utime(path, ns=(10**18, 10**18))
    copy = library / "copy.jpg"
    shutil.copy2(names[0], copy)
    options = ["--catalog", tmp_path / "catalog.sqlite", "--json", "-"]

    def groups():
        found = json.loads(millrace("dedupe", library, *options).stdout)["groups"]
        return [{pathlib.Path(member["path"]).name for member in group["members"]} for group in found]

    assert any({names[0].name, "copy.jpg"} <= group for group in groups())
    shutil.copy2(names[1], library / "new")
    os.rename(library / "new", copy)
    assert copy.stat().st_size == pad and copy.stat().st_mtime_ns == 10**18
    now = groups()
    assert not any({names[0].name, "copy.jpg"} <= group for group in now)
    assert any({names[1].name, "copy.jpg"} <= group for group in now)


def test_hashes_of_a_file_that_was_exchanged_are_made_again(photos, tmp_path):  # noqa: F811
    library = tmp_path / "library"
    shutil.copytree(photos, library)
    names = sorted(library.glob("*.jpg"))
    pad = max(path.stat().st_size for path in names)
    for path in names:
        path.write_bytes(path.read_bytes().ljust(pad, b"\0"))
        os.utime(path, ns=(10**18, 10**18))
    output = tmp_path / "out"
    hashing = ["hash", library, "--shard", "2", "-o", output, "--progress", "none"]
    millrace(*hashing, "--part", "1/2")
    shutil.copy2(names[-1], tmp_path / "new")
    os.rename(tmp_path / "new", names[0])
    millrace(*hashing, "--part", "2/2")
    millrace(*hashing, "--part", "1/2")
    millrace("hash", library, "--shard", "2", "-o", tmp_path / "right", "--progress", "none")
    assert content_of(output) == content_of(tmp_path / "right")


def test_a_year_that_does_not_fit_is_late(tmp_path):
    """Nanoseconds since 1970 end in 2262."""
    from PIL import Image

    for name, year in (("old", 2000), ("far", 2300)):
        Image.effect_mandelbrot((64, 48), (-2, -1, 1, 1), 40).save(tmp_path / f"{name}.png")
        seconds = (year - 1970) * 31_556_952
        os.utime(tmp_path / f"{name}.png", (seconds, seconds))
    if (tmp_path / "far.png").stat().st_mtime < 9e9:
        pytest.skip("this file system has no such times")
    found = json.loads(millrace("dedupe", tmp_path, "--catalog", tmp_path / "c.sqlite", "--json", "-").stdout)
    members = {pathlib.Path(member["path"]).name: member for member in found["groups"][0]["members"]}
    assert int(members["far.png"]["mtime_ns"]) == 2**63 - 1
    assert members["old.png"]["keep"] and not members["far.png"]["keep"]


def test_others_hdf5_is_read_by_the_helper_alone(photos, prices, tmp_path):  # noqa: F811
    """An output that is there already may be anybody's."""
    output = tmp_path / "out.h5"
    millrace(*command("hdf5", photos, prices, output))
    nowhere = {"MILLRACE_HELPERS": str(tmp_path / "nowhere")}
    assert millrace(*command("hdf5", photos, prices, output), env=nowhere, check=False).returncode == 4
    assert millrace(*command("hdf5", photos, prices, output)).returncode == 0


@pytest.mark.parametrize("words", [["finish"], ["render", "--window", "20", "-o"]])
def test_a_pipe_is_waited_for_by_nobody(words, prices, tmp_path):  # noqa: F811
    os.mkfifo(tmp_path / "pipe.h5")
    words = [words[0], *([prices] if words[0] == "render" else []), *words[1:], tmp_path / "pipe.h5"]
    assert millrace(*words, check=False, timeout=20).returncode == 1
