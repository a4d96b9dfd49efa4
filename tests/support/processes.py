"""Watching a program and its helpers while they run."""

import os
import pathlib
import signal
import subprocess
import time


def often(times):
    """How often a run is killed; a quarter of it where the suite is run in minutes."""
    return times if "MILLRACE_ALL" in os.environ else max(3, times // 4)


def helpers_of(pid):
    """Process ids of its children."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            found += [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except OSError:
        pass
    return found


def peak_of(pid):
    """The most memory that was resident, in bytes; 0 when it is gone."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def program_of(pid):
    """What it executes; None when it is gone."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def shared_object(name, path):
    """A source of tests/support, compiled to be preloaded."""
    source = pathlib.Path(__file__).with_name(name)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", path, source], check=True)
    return path


def bytes_read_by(pid):
    """What it has read from files until now, in bytes; also of one that has ended and is not waited for yet."""
    return int(pathlib.Path(f"/proc/{pid}/io").read_text().split("rchar:")[1].split()[0])


def catches(process, which):
    """It has a handler for this signal. Before that it would only end."""
    caught = int(pathlib.Path(f"/proc/{process.pid}/status").read_text().split("SigCgt:")[1].split()[0], 16)
    return bool(caught >> (which - 1) & 1)


def interrupt(process):
    """SIGINT, once it is at work enough to catch it, however slow the machine."""
    while process.poll() is None:
        if catches(process, signal.SIGINT):
            process.send_signal(signal.SIGINT)
            return
        time.sleep(0.001)


def run_and_watch(command):
    """Runs it to its end: the finished process and the summed peaks of it and of every helper it had."""
    process = subprocess.Popen([os.fspath(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    peaks = {}
    while process.poll() is None:
        own = program_of(process.pid)
        # What has not begun to be its helper yet is the program once more, with all that it has.
        helpers = [pid for pid in helpers_of(process.pid) if program_of(pid) not in (own, None)]
        for pid in [process.pid, *helpers]:
            peaks[pid] = max(peaks.get(pid, 0), peak_of(pid))
        time.sleep(0.002)
    out, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err), sum(peaks.values())


def kill_helpers(pid):
    """SIGKILL to every helper that runs now: how many there were."""
    helpers = helpers_of(pid)
    for helper in helpers:
        try:
            os.kill(helper, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(helpers)


def time_used_by(pid):
    """How long its threads have run on a CPU, in nanoseconds."""
    used = 0
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            used += int(task.read_text().split()[0])
        except (OSError, IndexError):
            pass
    return used


def hold_when(process, reached, slice_s=0.0005):
    """Lets a process run in slices, between which it stands still, until `reached()` holds: true then, and it stands. False where
    it ended before; nothing else can happen between the look and whatever is done next, however fast the machine is. However
    slow it is: a slice ends when the process has run, or waits for another one."""
    while True:
        process.send_signal(signal.SIGSTOP)
        how = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code
        if how != os.CLD_STOPPED:
            return False
        if reached():
            return True
        used, latest = time_used_by(process.pid), time.monotonic() + 0.1
        process.send_signal(signal.SIGCONT)
        time.sleep(slice_s)
        # 0: this kernel does not tell.
        while used and time_used_by(process.pid) == used and time.monotonic() < latest:
            time.sleep(slice_s)


def end_held(process, with_signal):
    """Sends a signal to a process that stands, and lets it go on to its end."""
    process.send_signal(with_signal)
    process.send_signal(signal.SIGCONT)
