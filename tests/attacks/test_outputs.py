"""Outputs whose names are taken: by files of people, by links, pipes, devices and folders."""

import json
import os
import re
import signal
import socket
import subprocess
import threading

import pytest
from attacks import as_user, needs_root, state
from outputs import STORES, UNMARKED, Inputs, every_output, lookalikes, with_output
from program import PROGRAM


def test_no_output_replaces_what_a_person_made(scene):
    for name, words in every_output(Inputs(scene)).items():
        for what, text in lookalikes(name).items():
            out = scene.file(scene.home / "taken", text)
            before = state(scene.home)["taken"]
            done = scene.run(*with_output(words, out))
            assert done.code in (1, 2) and b"taken" in done.err, (name, what, done.code, done.words)
            assert state(scene.home)["taken"] == before, (name, what)


def test_an_output_that_this_program_wrote_is_replaced(scene):
    """And an empty file, such as mktemp makes; and with --overwrite whatever is no input."""
    for name, words in every_output(Inputs(scene)).items():
        out = scene.home / "result"
        run = with_output(words, out)
        scene.run(*run).fine(0, 3)
        if name not in STORES:
            again = scene.run(*run)
            assert again.code in ((1,) if name in UNMARKED else (0, 3)), (name, again.words)
            fresh = scene.file(scene.home / "fresh", b"", mode=0o600)
            scene.run(*with_output(words, fresh)).fine(0, 3)
            assert fresh.stat().st_size > 0, name
            fresh.write_text("my notes\n")
            scene.run(*with_output(words, fresh), "--overwrite").fine(0, 3)
            assert fresh.read_bytes()[:8] != b"my notes", name
        for path in scene.home.glob("result*"):
            subprocess.run(["rm", "-r", path], check=True)


# What these wrote before they wrote more, the mark apart.
EARLIER_KEYS = {
    "dedupe --json": ["millrace", "groups", "related", "unreadable", "totals"],
    "render --json": ["millrace", "charts", "drawn", "gaps", "bytes", "unusable"],
}


def test_results_of_earlier_versions_are_replaced(scene):
    inputs = Inputs(scene)
    for name, words in every_output(inputs).items():
        out = scene.home / "result"
        run = with_output(words, out)
        # Traces of earlier versions had other keys first.
        if name in (*UNMARKED, *STORES, "render --sample") or name.endswith("--trace"):
            continue
        scene.run(*run).fine(0, 3)
        text = out.read_text()
        # What the earlier ones did not write.
        old = text
        if name in EARLIER_KEYS:
            old = json.dumps({key: value for key, value in json.loads(text).items() if key in EARLIER_KEYS[name]})
        old = re.sub(r'\s*"millrace": ?"\w+",', "", old, count=1) if text.startswith("{") else text
        old = old.replace('<meta name="generator" content="Millrace dedupe">\n', "")
        assert old != text or name == "dedupe --csv"
        out.write_text(old)
        scene.run(*run).fine(0, 3)
        assert out.read_text().startswith(text[:12]), name
        out.unlink()


@pytest.mark.parametrize("target", ["precious.txt", "nothing", "photos/1.png", "result"])
def test_no_output_goes_through_a_link(scene, target):
    inputs = Inputs(scene)
    scene.dedupe(inputs.photos, "--json", scene.home / "result").fine()
    link = scene.home / "link"
    link.symlink_to(scene.home / target)
    before = state(scene.home)
    for name, words in every_output(inputs).items():
        done = scene.run(*with_output(words, link), "--overwrite")
        assert done.code in (1, 2) and b"link" in done.err, (name, done.code, done.words)
        after = state(scene.home)
        assert {p: after.get(p) for p in ("link", target)} == {p: before.get(p) for p in ("link", target)}, name


def test_a_pipe_without_a_reader_holds_up_no_start(scene):
    inputs = Inputs(scene)
    pipe = scene.home / "pipe"
    os.mkfifo(pipe)
    scene.mine(pipe)
    for name, words in every_output(inputs).items():
        # A plan is written where --json says, and then waits for whoever reads it.
        if name not in STORES and not name.startswith(("doctor", "render --sample", "join --output")) and "--json" not in name:
            scene.run(*with_output(words, pipe), "--plan", seconds=10).fine(0, 3)
    scene.dedupe(scene.home / "none", "--json", pipe, "--report", scene.top / "none" / "x", seconds=10).refused("none")
    assert pipe.is_fifo()


def test_a_pipe_gets_all_and_stays(scene):
    inputs = Inputs(scene)
    pipe = scene.home / "pipe"
    os.mkfifo(pipe)
    scene.mine(pipe)
    for name, words in every_output(inputs).items():
        if name in STORES:
            scene.run(*with_output(words, pipe), seconds=10).refused("pipe")
            continue
        got = []
        reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
        reader.start()
        done = scene.run(*with_output(words, pipe), seconds=20)
        if done.code in (1, 2):  # one that cannot be written from front to back
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        reader.join()
        done.fine(0, 3)
        assert got[0], name
        assert pipe.is_fifo(), name


def test_a_run_that_waits_for_a_reader_can_be_interrupted(scene):
    scene.library()
    pipe, first = scene.home / "pipe", scene.home / "found.csv"
    os.mkfifo(pipe)
    scene.mine(pipe)
    arguments = [
        PROGRAM,
        "dedupe",
        scene.photos,
        "--catalog",
        scene.home / "c.sqlite",
        "--csv",
        first,
        "--json",
        pipe,
        "-q",
    ]
    child = subprocess.Popen(
        arguments,
        env=scene.environment(),
        cwd=scene.home,
        stderr=subprocess.DEVNULL,
        **as_user(scene.uid),
    )
    # The table is written before the pipe is opened: then it waits, or is just about to.
    while not first.exists() and child.poll() is None:
        os.sched_yield()
    for _ in range(2000):
        if child.poll() is not None:
            break
        child.send_signal(signal.SIGINT)
        try:
            child.wait(0.01)
        except subprocess.TimeoutExpired:
            continue
    assert child.poll() == 130
    assert first.read_text().startswith("group,kind,path") and pipe.is_fifo()


def test_devices_and_sockets(scene):
    inputs = Inputs(scene)
    gate = scene.home / "socket"
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(gate))
    for name, words in every_output(inputs).items():
        if name in STORES:
            scene.run(*with_output(words, "/dev/null")).refused("/dev/null")
        else:
            scene.run(*with_output(words, "/dev/null")).fine(0, 3)
            scene.run(*with_output(words, "/dev/full")).refused("/dev/full")
        scene.run(*with_output(words, gate)).refused("socket")
        scene.run(*with_output(words, scene.photos)).refused("photos")
        assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null") and gate.is_socket()
    server.close()
    scene.dedupe(inputs.photos, "--json", "/dev/null", "--csv", "/dev/null", "--report", "/dev/null").fine()


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_stdout_that_is_a_file_keeps_what_was_written_before(scene, name):
    scene.library()
    log = scene.file(scene.home / "log", "before\n")
    with open(log, "ab") as end:
        scene.dedupe(scene.photos, "--json", name, "-q", stdout=end).fine()
    text = log.read_text()
    assert text.startswith("before\n") and json.loads(text.removeprefix("before\n"))["groups"]


def test_a_folder_that_cannot_be_written_is_told_before_the_work(scene):
    inputs = Inputs(scene)
    closed = scene.folder(scene.home / "closed", 0o555)
    folders = [scene.home / "none", scene.precious] + ([closed] if scene.uid != 0 else [])
    for name, words in every_output(inputs).items():
        for folder in folders:
            catalog = scene.home / "fresh.sqlite"
            more = ["--catalog", catalog] if words[:2] == ["dedupe", inputs.photos] else []
            scene.run(*with_output(words, folder / "out"), *more).refused(folder.name)
            assert not catalog.exists(), (name, "the work was done before")
            assert not list(scene.home.glob("charts*")), name


def test_a_file_of_somebody_else_where_all_may_write_is_left(scene):
    needs_root("be attacked by somebody else")
    inputs = Inputs(scene)
    shared = scene.top / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    for name, words in every_output(inputs).items():
        for text in ("", "my notes\n", '{"millrace": "dedupe"}'):
            out = scene.theirs(scene.file(shared / "out", text, mode=0o666))
            before = out.stat().st_ino
            done = scene.run(*with_output(words, out))
            if done.code in (1, 2):
                assert out.read_text() == text and out.stat().st_ino == before, name
            else:  # root may replace what this program could have written: with a file of its own
                assert scene.uid == 0 and out.stat().st_ino != before and out.stat().st_uid == 0, name
                assert out.stat().st_mode & 0o022 == 0
            out.unlink()


def test_an_output_without_a_name_is_no_file(scene):
    inputs = Inputs(scene)

    def names():
        return {path for path in state(scene.home) if not path.startswith(("data", "charts"))}

    before = names()
    for words in every_output(inputs).values():
        scene.run(*with_output(words, ""))
        assert names() == before, words
