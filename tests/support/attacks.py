"""What the attacks share: a scratch folder, who runs the program and who is against them, and runs with bounds."""

import contextlib
import ctypes
import json
import os
import pathlib
import random
import resource
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import traceback

import pytest
from PIL import Image, ImageDraw
from program import BUILD, PROGRAM

USER, ATTACKER = 60101, 60102  # in no list of users; only root can run as them
SECONDS = 30
MEMORY = 1 << 30
MARGIN = 1 << 20
# A run that would fill the machine ends here; what it may use is MEMORY. Sanitizers map far more than they use.
MOST_ADDRESSES = resource.RLIM_INFINITY if BUILD.name in ("asan", "tsan") else 6 << 30
ROOT = os.geteuid() == 0
LIBC, AT_HERE, EXCHANGE = ctypes.CDLL(None, use_errno=True), -100, 2
MOMENT = 10**18 + 123456789  # of last change, of every picture


def needs_root(what):
    if not ROOT:
        pytest.skip(f"only root can {what}")


def as_user(uid):
    """What a child is started with, to be this user for good and in no other group."""
    return {"user": uid, "group": uid, "extra_groups": []} if ROOT and uid != 0 else {}


def become(uid):
    """The same in a child that has started already."""
    if ROOT and uid != 0:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)


def picture(path, seed, size=(120, 90)):
    """A picture of its own for every seed."""
    rng = random.Random(seed)
    image = Image.new("RGB", (120, 90), tuple(rng.randrange(256) for _ in range(3)))
    draw = ImageDraw.Draw(image)
    for _ in range(12):
        x, y = rng.randrange(100), rng.randrange(70)
        colour = tuple(rng.randrange(256) for _ in range(3))
        draw.rectangle([x, y, x + rng.randrange(10, 60), y + rng.randrange(10, 50)], fill=colour)
    image.resize(size).save(path)
    os.utime(path, ns=(MOMENT, MOMENT))
    return pathlib.Path(path)


def copied(source, target):
    shutil.copy(source, target)
    os.utime(target, ns=(MOMENT, MOMENT))
    return pathlib.Path(target)


def access_list(rights):
    """A POSIX access list by which somebody else has these rights, and the owner all."""
    nobody = 2**32 - 1
    entries = [
        (0x01, 7, nobody),
        (0x02, rights, ATTACKER),
        (0x04, 0, nobody),
        (0x10, rights, nobody),
        (0x20, 0, nobody),
    ]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def state(folder):
    """Everything in a folder: what it is, whose, with what mode, time and bytes."""
    found = {}
    for path in [pathlib.Path(folder), *pathlib.Path(folder).rglob("*")]:
        info = path.lstat()
        row = [info.st_mode, info.st_uid, info.st_gid, info.st_nlink if path.is_file() else 0]
        if path.is_symlink():
            row.append(os.readlink(path))
        elif path.is_file():
            row += [info.st_mtime_ns, info.st_ino, path.read_bytes()]
        found[str(path.relative_to(folder))] = row
    return found


class Done:
    """A run that ended within its bounds."""

    def __init__(self, code, out, err, peak):
        self.code, self.out, self.err, self.peak = code, out, err, peak
        self.words = out + err

    def refused(self, *words):
        """It failed, and said why; nothing of the program itself broke."""
        assert self.code in (1, 2), (self.code, self.words)
        for word in words:
            assert os.fsencode(word) in self.err, (word, self.err)
        return self

    def fine(self, *codes):
        assert self.code in (codes or (0,)), (self.code, self.words)
        return self


@contextlib.contextmanager
def inherited_limits():
    """For what is started in the body: no more addresses than are good for the machine."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES if hard == resource.RLIM_INFINITY else soft, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def own_peak():
    """The most memory of these tests themselves from now on; a child is counted with it until it is another program."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def bounded(arguments, uid, seconds=SECONDS, memory=MEMORY, umask=0o022, stdout=None, before=None, **options):
    """Runs a program as a user, after `before`. It fails the test when it takes more than it may, and says of what."""
    arguments = [os.fspath(a) for a in arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with inherited_limits():
            memory = max(memory, own_peak() + MARGIN)
            child = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=stdout or out,
                stderr=err,
                umask=umask,
                preexec_fn=before,
                start_new_session=True,
                **as_user(uid),
                **options,
            )
        ending = os.pidfd_open(child.pid)
        late = not select.select([ending], [], [], seconds)[0]
        os.close(ending)
        if late:
            os.killpg(child.pid, signal.SIGKILL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        done = Done(child.returncode, out.read(), err.read(), usage.ru_maxrss * 1024)
    assert not late, f"the bound in time: it was not done after {seconds} s; it had said {done.words!r}"
    assert done.peak <= memory, f"the bound in memory: it took {done.peak} bytes, of {memory}"
    assert done.code >= 0, f"it was ended by signal {-done.code}; it had said {done.words!r}"
    return done


@contextlib.contextmanager
def attacker(uid, act):
    """While the body runs, a child of that user repeats an act."""
    child = os.fork()
    if child == 0:
        try:
            become(uid)
            while True:
                with contextlib.suppress(OSError):
                    act()
        except BaseException:  # noqa: B902: nothing of the tests goes on in the child
            traceback.print_exc()
        finally:
            os._exit(1)
    try:
        yield
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the attacker gave up"
    finally:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def exchange(a, b):
    """Two names change places at once, links as they are."""
    if LIBC.renameat2(AT_HERE, os.fsencode(a), AT_HERE, os.fsencode(b), EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), os.fspath(a))


class Scene:
    """A scratch folder that all may enter: the home of who runs the program, and a folder of somebody else."""

    def __init__(self, top, uid):
        self.top, self.uid = top, uid
        self.home = self.folder(top / "home", 0o700)
        self.photos = self.folder(self.home / "photos")
        self.shared = self.folder(top / "shared", 0o777)
        self.precious = self.file(self.home / "precious.txt", "the only copy\n")
        self.data = self.home / "data"
        self.attacker = ATTACKER if ROOT else uid  # without root, the user's own other programs
        if ROOT:
            os.chown(self.shared, ATTACKER, ATTACKER)

    def folder(self, path, mode=0o755):
        path.mkdir()
        path.chmod(mode)
        self.mine(path)
        return path

    def file(self, path, text, mode=0o644):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        self.mine(path)
        return path

    def give(self, path, uid):
        for each in [path, *(path.rglob("*") if path.is_dir() and not path.is_symlink() else [])]:
            os.chown(each, uid, uid, follow_symlinks=False)
        return path

    def mine(self, path):
        return self.give(path, self.uid) if ROOT else path

    def theirs(self, path):
        needs_root("give a file to somebody else")
        return self.give(path, ATTACKER)

    def environment(self, **changes):
        env = {k: v for k, v in os.environ.items() if not k.startswith("MILLRACE_")}
        # No device: compiling the kernels of one takes longer than the bound, and nothing here attacks it.
        env |= {"HOME": str(self.home), "XDG_DATA_HOME": str(self.data), "OCL_ICD_VENDORS": "/nonexistent"} | changes
        return {k: v for k, v in env.items() if v is not None}

    def run_other(self, *arguments, env=None, cwd=None, **options):
        env = self.environment(**(env or {}))
        return bounded(arguments, self.uid, env=env, cwd=cwd or self.home, **options)

    def run(self, *arguments, **options):
        return self.run_other(PROGRAM, *arguments, **options)

    def dedupe(self, *arguments, **options):
        return self.run("dedupe", *arguments, **options)

    def library(self, folder=None, pictures=2, copies=1):
        """Pictures with copies; the copies are what a search suggests to remove."""
        folder = folder or self.photos
        for seed in range(1, pictures + 1):
            first = self.mine(picture(folder / f"{seed}.png", seed))
            for k in range(1, copies + 1):
                self.mine(copied(first, folder / f"{seed} copy {k}.png"))
        return folder

    def search(self, *folders, options=()):
        result = self.home / "found.json"
        self.dedupe(*(folders or [self.photos]), "--json", result, *options).fine(0, 3)
        return json.loads(result.read_text())

    def decide(self, found, name="decisions.json"):
        """As the search suggests."""
        entries = []
        for group in found["groups"]:
            for member in group["members"]:
                told = {k: member[k] for k in ("path", "path_base64", "size", "mtime_ns", "hash") if k in member}
                entries.append({"group": group["id"], "action": "keep" if member["keep"] else "remove"} | told)
        return self.write_decisions(entries, name)

    def write_decisions(self, entries, name="decisions.json"):
        return self.file(self.home / name, json.dumps({"millrace_decisions": 1, "decisions": entries}))

    def apply(self, decisions, action, *options, **more):
        return self.dedupe("apply", decisions, "--action", action, *options, **more)

    def applied(self, action, *options, folder=None):
        """Searched, decided and done: the journal."""
        decisions = self.decide(self.search(*([folder] if folder else [])))
        result = self.home / "applied.json"
        self.apply(decisions, action, "--go", "--json", result, *options).fine()
        return pathlib.Path(json.loads(result.read_text())["journal"])

    def journal(self):
        """The newest that was written; a lock lies beside journals."""
        return max((self.data / "millrace" / "journals").glob("*.jsonl"), key=os.path.getmtime)

    def undo(self, journal, *options, **more):
        return self.dedupe("undo", journal, *options, **more)


@contextlib.contextmanager
def scratch():
    """A folder that every user may enter, removed in the end."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="millrace-attacks-"))
    top.chmod(0o755)
    try:
        yield top
    finally:
        shutil.rmtree(top)
