"""`millrace dedupe review` as the tests drive it: the program, and a client that speaks to it as its page does."""

import http.client
import json
import os
import re
import signal
import subprocess

from program import PROGRAM


class Review:
    """A review that serves; ends with its `with`."""

    def __init__(self, result, *arguments, env=None, **options):
        environment = dict(os.environ) | (env or {})
        self.process = subprocess.Popen([PROGRAM, "dedupe", "review", result, *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment, **options)
        self.address = self.process.stdout.readline().decode().strip()
        found = re.fullmatch(r"http://([0-9a-f]{32}\.localhost:(\d+))/#([0-9a-f]{32})", self.address)
        assert found, (self.address, self.process.stderr.read().decode() if not self.address else "")
        self.host, port, self.token = found.groups()
        self.port = int(port)
        self.cookie = self.key = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, wanted=signal.SIGINT):
        """The exit code, and what was said to a person."""
        if self.process.poll() is None:
            self.process.send_signal(wanted)
        out, err = self.process.communicate(timeout=60)
        self.said = (out + err).decode()
        return self.process.returncode

    def request(self, method, path, body=None, headers=None, own=True):
        """(status, headers, body); with `own` as the page asks, else with these headers alone."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Host": self.host}
        if own:
            sent |= {"Cookie": self.cookie or "", "X-Millrace-Key": self.key or ""}
            if method == "POST":
                sent["Origin"] = f"http://{self.host}"
        connection.request(method, path, body=body, headers=sent | (headers or {}))
        answer = connection.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return result

    def enter(self):
        status, headers, body = self.request("POST", "/enter", self.token)
        assert status == 200, body
        self.cookie = headers["Set-Cookie"].split(";")[0]
        self.key = json.loads(body)["key"]
        return headers

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, value):
        status, _, body = self.request("POST", path, json.dumps(value))
        return status, json.loads(body)

    def data(self):
        """(header, end, groups, the numbers of their files)"""
        status, _, body = self.get("/data")
        assert status == 200, body
        lines = [json.loads(line) for line in body.decode().splitlines()]
        return lines[0], lines[1], lines[2::2], lines[3::2]
