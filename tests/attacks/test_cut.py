"""Files that somebody cuts short while they are read."""

import os

from attacks import ATTACKER, attacker
from outputs import codes_text


def test_codes_that_are_cut_while_they_are_joined(scene):
    text = codes_text(400_000)
    codes = scene.file(scene.shared / "codes.npy", text)
    os.chmod(codes, 0o666)

    def act():
        with open(codes, "r+b") as file:
            file.truncate(len(text) // 2)
            file.truncate(128)
            file.seek(0)
            file.write(text)

    with attacker(ATTACKER, act):
        for _ in range(12):
            # Refused, or read whole; never a death by a signal.
            scene.run("join", codes, "--radius", "3").fine(0, 1)
