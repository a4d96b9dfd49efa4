#!/usr/bin/python3
"""A helper that was taken over: the real one, behind somebody who changes what it says. Lies in a folder of its own under the name
of a helper, with the files `real` (the real helpers' folder) and `seed`. Once it has lied and nothing more comes it ends, so that
whoever waits for bytes that it has promised does not wait for a minute."""

import array
import os
import pathlib
import random
import select
import socket
import sys

HERE = pathlib.Path(sys.argv[0]).parent
PROGRAM = 3
IDLE = 0.4


def receive(from_):
    data, ancillary, _, _ = from_.recvmsg(1 << 16, socket.CMSG_SPACE(4 * 16))
    fds = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
    return data, list(fds)


def send(to, data, fds):
    if fds:
        sent = socket.send_fds(to, [data], fds)
        for fd in fds:
            os.close(fd)
        data = data[sent:]
    to.sendall(data)


def main():
    name = pathlib.Path(sys.argv[0]).name
    chance = random.Random(f"{name} {(HERE / 'seed').read_text()}")
    program = socket.socket(fileno=os.dup(PROGRAM))
    ours, theirs = socket.socketpair()
    given = [fd for fd in range(PROGRAM + 1, 10) if os.path.exists(f"/proc/self/fd/{fd}") and fd not in (program.fileno(), ours.fileno(), theirs.fileno())]
    os.set_inheritable(theirs.fileno(), True)
    actions = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), PROGRAM)]
    for fd in given:
        os.set_inheritable(fd, True)
    os.posix_spawn(str(pathlib.Path((HERE / "real").read_text()) / name), [name, *sys.argv[1:]], os.environ, file_actions=actions)
    theirs.close()
    os.close(PROGRAM)
    honest = chance.choice([0, 0, 16, 100, 1000, 20000])  # bytes that are passed on as they are
    lied = False
    while True:
        ready = select.select([program, ours], [], [], IDLE if lied else None)[0]
        if not ready:
            return
        if program in ready:
            data, fds = receive(program)
            if not data:
                return
            send(ours, data, fds)
        if ours in ready:
            data, fds = receive(ours)
            if not data:
                return
            data = bytearray(data)
            for _ in range(chance.choice([1, 1, 3, 20])):
                at = chance.randrange(len(data))
                if at >= honest:
                    data[at] = chance.choice([data[at] ^ 1 << chance.randrange(8), 0, 255, 128, chance.randrange(256)])
                    lied = True
            honest = max(0, honest - len(data))
            send(program, bytes(data), fds)


try:
    main()
except OSError:
    pass
