"""`millrace dedupe review` against other pages, other programs of this machine, and a result that an enemy wrote."""

import fcntl
import json
import os
import pathlib
import socket
import struct
import sys
import time
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from program import content_of, millrace  # noqa: E402
from reviewing import Review  # noqa: E402

pytest.importorskip("PIL")
from test_review import Library, decisions_of  # noqa: E402


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path)


@pytest.fixture
def review(library):
    with library.review() as review:
        review.enter()
        yield review


def raw(review, sent, wait=5.0):
    """What comes back for these bytes, until the other side closes or is silent."""
    with socket.create_connection(("127.0.0.1", review.port), timeout=wait) as connection:
        try:
            connection.sendall(sent)
        except OSError:
            pass
        got = b""
        try:
            while part := connection.recv(65536):
                got += part
        except OSError:
            pass
        return got


def own(review):
    return {"Cookie": review.cookie, "X-Millrace-Key": review.key}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:{port}", "localhost:{port}", "0123456789abcdef0123456789abcdef.localhost:{port}", "127.0.0.1", "evil.example", "127.0.0.1:1", "[::1]", "127.0.0.1.evil.example", ""])
def test_another_host_is_refused_with_the_key_too(review, host):
    host = host.format(port=review.port)
    named = host if ":" in host or not host.startswith("localhost") else f"{host}:{review.port}"
    for path in ("/", "/page.js", "/data"):
        assert review.request("GET", path, headers={"Host": named})[0] == 403, path
    assert review.request("POST", "/marks", "{}", headers={"Host": named})[0] == 403


def test_two_hosts_are_none(review):
    head = f"GET /data HTTP/1.1\r\nHost: {review.host}\r\nHost: {review.host}\r\nCookie: {review.cookie}\r\nX-Millrace-Key: {review.key}\r\n\r\n"
    assert b" 403 " in raw(review, head.encode()).split(b"\r\n")[0] or b" 400 " in raw(review, head.encode()).split(b"\r\n")[0]


@pytest.mark.parametrize("origin", ["null", "http://127.0.0.1:{port}", "http://evil.example", "https://127.0.0.1:{port}", "http://localhost:{port}", "http://127.0.0.1:1", None])
def test_a_change_comes_from_its_own_origin(library, review, origin):
    before = content_of(library.folder)
    headers = own(review) | ({"Origin": origin.format(port=review.port)} if origin else {})
    body = json.dumps({"decisions": decisions_of(review.data()[2])})
    for path in ("/apply", "/undo", "/marks", "/done", "/alive", "/enter"):
        assert review.request("POST", path, body, headers, own=False)[0] == 403, path
    if origin:
        assert review.request("GET", "/data", None, headers, own=False)[0] == 403
    assert review.get("/data")[0] == 200 and content_of(library.folder) == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_fetches_is_refused(review, site):
    headers = own(review) | {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    for path in ("/data", "/thumb/0", "/", "/page.js"):
        assert review.request("GET", path, None, headers, own=False)[0] == 403, path
    # A page of another port is of the same site: it is sent the cookie, and has no key.
    assert review.request("GET", "/data", None, {"Cookie": review.cookie, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}, own=False)[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "X" * 50])
def test_other_methods_do_nothing(review, method):
    assert review.request(method, "/data")[0] in (400, 405)
    assert review.get("/data")[0] == 200


def test_changes_are_no_reading(review):
    for path in ("/apply", "/undo", "/marks", "/done", "/alive", "/enter"):
        assert review.get(path)[0] == 404, path
    assert review.get("/data")[0] == 200


@pytest.mark.parametrize("path", ["/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/thumb/../data", "/thumb/0%00", "/thumb//etc/passwd", "/region/0?x=%31", "*", "http://evil.example/data"])
def test_nothing_is_named_by_a_path(review, path):
    status, _, body = review.get(path)
    assert status in (400, 403, 404) and b"root:" not in body, (status, body)


def test_tokens_and_keys_are_not_guessed_by_their_ends(review):
    for key in ("", review.key[:-1], review.key + "0", review.key[:-1] + ("0" if review.key[-1] != "0" else "1"), review.cookie):
        assert review.request("GET", "/data", None, {"Cookie": review.cookie, "X-Millrace-Key": key}, own=False)[0] == 403
    name = review.cookie.split("=")[0]
    for cookie in ("", f"{name}=", f"{name}x={review.cookie.split('=')[1]}", f"other={review.cookie.split('=')[1]}"):
        assert review.request("GET", "/data", None, {"Cookie": cookie, "X-Millrace-Key": review.key}, own=False)[0] == 403
    assert review.request("GET", "/data", None, {"Cookie": f"a=b; {review.cookie}; c=d", "X-Millrace-Key": review.key}, own=False)[0] == 200


def test_what_it_says_of_errors_holds_no_markup(review):
    _, headers, body = review.get("/thumb/<script>")
    assert headers["Content-Type"].startswith("application/json") and headers["X-Content-Type-Options"] == "nosniff"
    assert b"<script>" not in body


def test_strangers_that_hold_connections_do_not_keep_its_page_out(review):
    held = [socket.create_connection(("127.0.0.1", review.port)) for _ in range(200)]
    try:
        for one in held[:100]:
            one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        for _ in range(5):
            assert review.get("/data")[0] == 200
    finally:
        for one in held:
            one.close()
    assert review.get("/data")[0] == 200


def test_strangers_that_are_answered_keep_nobody_out(library, review):
    """Who asks for what anybody may have, and holds on: the page's sign of life and its work go on."""
    alive = socket.create_connection(("127.0.0.1", review.port))
    head = f"POST /alive HTTP/1.1\r\nHost: {review.host}\r\nOrigin: http://{review.host}\r\nCookie: {review.cookie}\r\nX-Millrace-Key: {review.key}\r\n"
    alive.sendall(f"{head}Content-Length: 0\r\n\r\n".encode())
    held = []
    for _ in range(150):
        held.append(socket.create_connection(("127.0.0.1", review.port)))
        held[-1].sendall(f"GET /page.js HTTP/1.1\r\nHost: {review.host}\r\n\r\n".encode())
    try:
        for _ in range(5):
            assert review.get("/data")[0] == 200
        alive.setblocking(False)
        with pytest.raises(BlockingIOError):  # it is held back, and not closed
            alive.recv(1)
        # Nor is the end kept waiting by those who do not read.
        assert review.post("/done", {})[0] == 200
        assert review.process.wait(timeout=60) == 0
    finally:
        for one in [alive, *held]:
            one.close()


def test_strangers_that_ask_and_do_not_read_keep_nobody_out(review):
    held = []

    def stall():
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        one.connect(("127.0.0.1", review.port))
        one.sendall(f"GET /page.js HTTP/1.1\r\nHost: {review.host}\r\n\r\n".encode() * 40)
        held.append(one)

    try:
        for _ in range(70):
            stall()
        for _ in range(20):
            assert review.get("/data")[0] == 200
            stall()
    finally:
        for one in held:
            one.close()


def test_whoever_listens_at_the_other_address_is_not_asked(library):
    """A browser asks ::1 first."""
    try:
        enemy = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("there is no IPv6 here")
    with enemy:
        port = enemy.getsockname()[1]
        done = millrace("dedupe", "review", library.result, "--port", str(port), check=False, env=library.env)
        assert done.returncode == 1 and b"cannot be opened for listening" in done.stderr, done.stderr
    with library.review() as review:
        with pytest.raises(OSError):
            socket.create_server(("::1", review.port), family=socket.AF_INET6)
        assert socket.create_connection(("::1", review.port), timeout=5)


def test_two_runs_with_folders_of_their_own_never_take_both(library):
    """Whoever has a hand on what goes, or on what stays for it, is waited for."""
    with library.review() as review:
        review.enter()
        decisions = decisions_of(review.data()[2])
        listed = review.post("/apply", {"decisions": decisions})[1]
        before = content_of(library.folder)
        with open(next(item["path"] for item in listed["applied"]["items"]), "rb") as held:
            fcntl.flock(held, fcntl.LOCK_SH)  # as of one that stays for another
            status, answer = review.post("/apply", {"decisions": decisions, "go": True, "plan": listed["plan"]})
            states = [item["state"] for item in answer["applied"]["items"]]
            assert status == 200 and sorted(states) == ["done", "left"] and any("another run" in item["reason"] for item in answer["applied"]["items"] if item["state"] == "left")
        assert review.post("/undo", {"run": 0, "go": True})[0] == 200 and content_of(library.folder) == before


def test_only_what_was_listed_is_done(library, review):
    _, _, groups, _ = review.data()
    decisions = decisions_of(groups)
    listed = review.post("/apply", {"decisions": decisions})[1]
    going = next(m["path"] for m in groups[0]["members"] if not m.get("keep"))
    pathlib.Path(going + ".xmp").write_text("<x/>")  # would go along
    before = content_of(library.folder)
    status, answer = review.post("/apply", {"decisions": decisions, "go": True, "plan": listed["plan"]})
    assert status == 409 and "after the actions were listed" in answer["error"]["what"], answer
    os.remove(going)
    before.pop(os.path.basename(going))
    status, answer = review.post("/apply", {"decisions": decisions, "go": True, "plan": listed["plan"]})
    assert status == 409 and content_of(library.folder) == before, (listed, answer)
    # No other review's word counts, nor one that a page made up.
    with library.review() as other:
        other.enter()
        assert other.post("/apply", {"decisions": decisions, "go": True, "plan": review.post("/apply", {"decisions": decisions})[1]["plan"]})[0] == 409
    assert review.post("/apply", {"decisions": decisions, "go": True, "plan": "0" * 32})[0] == 409
    assert content_of(library.folder) == before


def test_one_at_a_time_of_a_user(library, review):
    """Two that each leave what the other takes would leave nothing."""
    decisions = decisions_of(review.data()[2])
    plan = review.post("/apply", {"decisions": decisions})[1]["plan"]
    lock = library.home / "millrace" / "journals" / "acting.lock"
    lock.parent.mkdir(mode=0o700, exist_ok=True)
    before = content_of(library.folder)
    with open(lock, "w") as held:
        lock.chmod(0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
        status, answer = review.post("/apply", {"decisions": decisions, "go": True, "plan": plan})
        assert status == 409 and "is running" in answer["error"]["what"] and content_of(library.folder) == before
    assert review.post("/apply", {"decisions": decisions, "go": True, "plan": plan})[0] == 200


def test_bodies_and_heads_of_strangers_are_not_read(review):
    size = 1 << 34
    head = f"POST /marks HTTP/1.1\r\nHost: {review.host}\r\nOrigin: http://{review.host}\r\nContent-Length: {size}\r\n\r\n"
    assert b" 403 " in raw(review, head.encode() + b"x" * 100000).split(b"\r\n")[0]
    head = f"POST /enter HTTP/1.1\r\nHost: {review.host}\r\nOrigin: http://{review.host}\r\nContent-Length: {size}\r\n\r\n"
    assert b" 413 " in raw(review, head.encode() + b"x" * 100000).split(b"\r\n")[0]
    chunks = (b"400\r\n" + b"x" * 1024 + b"\r\n") * 64
    head = f"POST /enter HTTP/1.1\r\nHost: {review.host}\r\nOrigin: http://{review.host}\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert b" 413 " in raw(review, head.encode() + chunks).split(b"\r\n")[0]
    raw(review, f"GET / HTTP/1.1\r\nHost: {review.host}\r\nX: ".encode() + b"y" * 1000000)
    resident = int(next(line for line in open(f"/proc/{review.process.pid}/status") if line.startswith("VmRSS")).split()[1])
    assert resident < 300_000
    assert review.get("/data")[0] == 200


@pytest.mark.parametrize("sent", [
    b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
    b"POST /enter HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 3000 + b"\r\n",
])
def test_what_is_no_request_ends_nothing(review, sent):
    raw(review, sent, wait=1.0)
    assert review.get("/data")[0] == 200


def test_a_second_request_behind_a_refused_one_is_not_read(library, review):
    inner = f"POST /done HTTP/1.1\r\nHost: {review.host}\r\nOrigin: http://{review.host}\r\nCookie: {review.cookie}\r\nX-Millrace-Key: {review.key}\r\nContent-Length: 2\r\n\r\n{{}}"
    outer = f"POST /marks HTTP/1.1\r\nHost: {review.host}\r\nOrigin: http://{review.host}\r\nContent-Length: {len(inner)}\r\n\r\n{inner}"
    assert raw(review, outer.encode()).count(b"HTTP/1.1 ") == 1
    assert review.get("/data")[0] == 200


def hostile(library, path):
    """A result whose first group names this file as one of its pictures."""
    result = json.loads(library.result.read_text())
    state = os.stat(path) if os.path.exists(path) else None
    member = result["groups"][0]["members"][0]
    member.update(path=str(path), size=state.st_size if state else 5, bytes=state.st_size if state else 5,
                  mtime_ns=str(state.st_mtime_ns) if state else "5")
    library.result.write_text(json.dumps(result))


@pytest.mark.parametrize("path", ["/etc/passwd", "/dev/zero", "/proc/self/environ", "/proc/self/mem"])
def test_a_result_that_names_what_is_no_picture_shows_nothing_of_it(library, path):
    hostile(library, path)
    with library.review() as review:
        review.enter()
        for what in ("thumb", "picture", "region"):
            status, _, body = review.get(f"/{what}/0?x=0&y=0&w=50&h=50")
            assert status == 409 and b"root" not in body and b"XDG" not in body, body
        decisions = [[0, 0, "remove", {"chosen": True}], [0, 1, "keep"]]
        status, listed = review.post("/apply", {"decisions": decisions})
        if status == 200:
            assert listed["applied"]["totals"]["would"]["files"] == 0, listed
    assert os.path.exists(path)


def test_a_pipe_in_a_pictures_place_holds_nothing_up(library):
    pipe = library.folder / "pipe.jpg"
    os.mkfifo(pipe)
    hostile(library, pipe)
    with library.review() as review:
        review.enter()
        begun = time.monotonic()
        assert review.get("/thumb/0")[0] == 409
        assert time.monotonic() - begun < 20
        assert review.get("/thumb/1")[0] == 200


def bomb(path, width, height):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b""))


def test_a_bomb_and_sides_that_lie_take_no_memory(library):
    path = library.folder / "bomb.png"
    bomb(path, 400_000, 400_000)
    hostile(library, path)
    result = json.loads(library.result.read_text())
    result["groups"][0]["members"][0].update(width=400_000, height=400_000)
    result["groups"][0]["members"][1].update(width=900_000_000, height=900_000_000)
    library.result.write_text(json.dumps(result))
    with library.review("--memory", "1G") as review:
        review.enter()
        for number in (0, 1):
            for what in ("thumb", "picture", "region"):
                status, _, body = review.get(f"/{what}/{number}?x=0&y=0&w=50&h=50")
                assert status in (200, 409), (what, body)
        peak = int(next(line for line in open(f"/proc/{review.process.pid}/status") if line.startswith("VmHWM")).split()[1])
        assert peak < 1_100_000


def test_a_result_that_names_files_of_no_search_removes_none(library, tmp_path):
    """Decisions are checked against the catalogue, as apply does: a result is a file that anybody may have sent."""
    precious = tmp_path / "precious.jpg"
    precious.write_bytes((library.folder / "small1.jpg").read_bytes())
    hostile(library, precious)
    with library.review() as review:
        review.enter()
        _, listed = review.post("/apply", {"decisions": [[0, 0, "remove", {"chosen": True}], [0, 1, "keep"]]})
        assert listed["applied"]["totals"]["would"]["files"] == 0, listed
        _, answer = review.post("/apply", {"decisions": [[0, 0, "remove", {"chosen": True}], [0, 1, "keep"]], "go": True, "plan": listed["plan"]})
    assert precious.exists()


def test_marks_that_others_could_write_are_not_read(library):
    with library.review() as review:
        review.enter()
        review.post("/marks", {"groups": [[0, "not", [], [], []]]})
    (marks,) = (library.home / "millrace" / "reviews").glob("*.marks")
    assert marks.stat().st_mode & 0o077 == 0 and marks.parent.stat().st_mode & 0o077 == 0
    target = marks.with_suffix(".other")
    marks.rename(target)
    marks.symlink_to(target)
    with library.review() as review:
        review.enter()
        assert review.data()[1].get("marks") is None


def test_nobody_else_may_listen_in(review):
    """It is bound to this machine's own address."""
    inode = {os.readlink(f"/proc/{review.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{review.process.pid}/fd")}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in open(table).read().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inode:
                assert fields[1].startswith(("0100007F:", "00000000000000000000000001000000:")), line
