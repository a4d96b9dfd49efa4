"""`millrace dedupe review`, as its page speaks to it."""

import contextlib
import http.client
import io
import json
import os
import pathlib
import shutil
import signal
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import content_of, millrace  # noqa: E402
from reviewing import Review  # noqa: E402
from test_dedupe import scene  # noqa: E402

pytest.importorskip("PIL")
from PIL import Image  # noqa: E402


class Library:
    """Two groups of pictures, searched: a large one and a small one each, and a rare format."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.home.mkdir()
        self.env = {"XDG_DATA_HOME": str(self.home), "XDG_CACHE_HOME": str(self.home)}
        self.folder = folder / "pictures"
        self.folder.mkdir()
        for i, kind in enumerate(("tif", "jpg")):
            image = scene(1800, 1400, 40 + i)
            image.save(self.folder / f"large{i}.{kind}", quality=95)
            image.resize((900, 700)).save(self.folder / f"small{i}.jpg", quality=92)
        self.result = folder / "result.json"
        self.search()

    def search(self):
        millrace("dedupe", self.folder, "--json", self.result, env=self.env)

    def review(self, *arguments):
        return Review(self.result, "--action", "delete", *arguments, env=self.env)


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path)


@pytest.fixture
def review(library):
    with library.review() as review:
        review.enter()
        yield review


def picture(review, path):
    status, headers, body = review.get(path)
    assert status == 200, body
    return headers, Image.open(io.BytesIO(body))


def ask_quietly(review, wanted):
    """Of a review that is killed meanwhile."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        review.post("/apply", wanted)


def decisions_of(groups):
    """Every suggestion accepted, by numbers."""
    return [[g, m, "keep" if member.get("keep") else "remove"] for g, group in enumerate(groups)
            for m, member in enumerate(group["members"])]


def test_a_page_comes_without_data_and_data_only_with_the_key(library):
    with library.review() as review:
        status, headers, shell = review.request("GET", "/", own=False)
        assert status == 200 and b"large0" not in shell and review.token.encode() not in shell
        policy = headers["Content-Security-Policy"]
        nonce = policy.split("'nonce-")[1].split("'")[0]
        assert "default-src 'none'" in policy and f'<script nonce="{nonce}">'.encode() in shell and b"unsafe-inline" not in shell
        assert nonce not in review.request("GET", "/", own=False)[1]["Content-Security-Policy"]
        assert review.get("/data")[0] == 403
        cookie = review.enter()["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        header, _, groups, ids = review.data()
        assert header["served"]["action"] == "delete" and len(groups) == len(ids) == 2
        key, review.key = review.key, None
        assert review.get("/data")[0] == 403
        review.key, review.cookie = key, None
        assert review.get("/data")[0] == 403


def test_the_address_opens_once(review):
    other = review.request("POST", "/enter", review.token)
    assert other[0] == 403 and b"used" in other[2]
    assert review.get("/data")[0] == 200


def test_pictures_small_large_and_to_the_pixel(library, review):
    _, _, groups, ids = review.data()
    for group, numbers in zip(groups, ids):
        for member, number in zip(group["members"], numbers):
            assert picture(review, f"/thumb/{number}")[1].size == (256, 199)
            headers, shown = picture(review, f"/picture/{number}")
            with Image.open(member["path"]) as original:
                original = original.convert("RGB")
            assert headers["X-Millrace-Sides"] == f"{original.width}x{original.height}"
            assert max(shown.size) == min(1600, max(original.size))
            part = picture(review, f"/region/{number}?x=300&y=200&w=120&h=90")[1]
            assert part.size == (120, 90)
            if member["path"].endswith(".tif"):
                assert part.tobytes() == original.crop((300, 200, 420, 290)).tobytes()
            at_edge = picture(review, f"/region/{number}?x={original.width - 5}&y=0&w=100&h=100")[1]
            assert at_edge.size == (5, 100)
    assert review.get("/region/0?x=100000&y=0&w=10&h=10")[0] == 409
    for nothing in ("/thumb/99", "/thumb/-1", "/thumb/x", "/thumb/0/1", "/other/0", "/picture/18446744073709551616"):
        assert review.get(nothing)[0] == 404, nothing


def test_no_part_is_larger_than_a_screen_may_be(tmp_path):
    folder = tmp_path / "wide"
    folder.mkdir()
    image = scene(5000, 700, 50)
    image.save(folder / "a.jpg", quality=92)
    image.resize((2500, 350)).save(folder / "b.jpg", quality=92)
    env = {"XDG_DATA_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    millrace("dedupe", folder, "--json", tmp_path / "result.json", env=env)
    with Review(tmp_path / "result.json", env=env) as review:
        review.enter()
        _, _, (group,), ((first, _),) = review.data()
        assert group["members"][0]["width"] == 5000
        status, _, body = review.get(f"/region/{first}?x=0&y=0&w=4097&h=10")
        assert status == 409 and b"at most 4096 pixels" in body
        assert picture(review, f"/region/{first}?x=0&y=0&w=4096&h=10")[1].size == (4096, 10)


@pytest.mark.parametrize("memory", ["64M", "80M", "96M", "160M"])
def test_little_memory_shows_one_after_the_other(tmp_path, memory):
    """What was looked at before makes room, however the memory falls."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i in range(3):
        image = scene(3000, 2000, 60 + i)
        image.save(folder / f"large{i}.jpg", quality=90)
        turned = image.getexif()
        turned[0x0112] = 6
        image.transpose(Image.Transpose.ROTATE_90).save(folder / f"turned{i}.jpg", quality=85, exif=turned)
    env = {"XDG_DATA_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    millrace("dedupe", folder, "--json", tmp_path / "result.json", env=env)
    with Review(tmp_path / "result.json", "--memory", memory, env=env) as review:
        review.enter()
        ids = [number for numbers in review.data()[3] for number in numbers]
        assert len(ids) == 6
        answers = {}
        for _ in range(2):
            for number in ids:
                for path in (f"/region/{number}?x=100&y=100&w=400&h=300", f"/picture/{number}", f"/thumb/{number}"):
                    status, _, body = review.get(path)
                    # Too little for one is said, and nothing waits for ever.
                    assert status == 200 or (status == 409 and b"memory" in body), body
                    assert answers.setdefault(path, status) == status, path
        assert memory == "64M" or sum(status == 200 for status in answers.values()) >= 12, answers


def test_a_picture_that_changed_is_not_shown(library, review):
    _, _, groups, ids = review.data()
    path = pathlib.Path(groups[0]["members"][0]["path"])
    scene(300, 200, 77).save(path)
    status, _, body = review.get(f"/picture/{ids[0][0]}")
    assert status == 409 and b"changed since the search" in body


def test_it_carries_out_what_was_listed_and_takes_it_back(library, review):
    before = content_of(library.folder)
    _, _, groups, ids = review.data()
    decisions = decisions_of(groups)
    status, listed = review.post("/apply", {"decisions": decisions, "go": False})
    assert status == 200 and listed["applied"]["totals"]["would"]["files"] == 2, listed
    assert content_of(library.folder) == before
    # What is not what was listed is not done.
    assert review.post("/apply", {"decisions": decisions, "go": True})[0] == 409
    assert review.post("/apply", {"decisions": decisions[:2], "go": True, "plan": listed["plan"]})[0] == 409
    assert review.post("/apply", {"decisions": decisions, "merge": True, "go": True, "plan": listed["plan"]})[0] == 409
    assert content_of(library.folder) == before
    status, done = review.post("/apply", {"decisions": decisions, "go": True, "plan": listed["plan"]})
    assert status == 200 and done["applied"]["totals"]["done"]["files"] == 2, done
    assert len([p for p in library.folder.glob("*") if p.is_file()]) == 2
    gone = review.data()[0]["served"]["gone"]
    assert gone == sorted(ids[g][m] for g, m, action in decisions if action == "remove")
    assert review.post("/undo", {"run": 7, "go": True})[0] == 404
    status, back = review.post("/undo", {"run": done["run"], "go": True})
    assert status == 200 and back["applied"]["totals"]["done"]["files"] == 2, back
    assert content_of(library.folder) == before
    assert review.data()[0]["served"]["gone"] == []


def test_what_it_carried_out_is_undone_later_by_its_journal(library):
    before = content_of(library.folder)
    with library.review("--json", library.home / "review.json") as review:
        review.enter()
        decisions = decisions_of(review.data()[2])
        plan = review.post("/apply", {"decisions": decisions})[1]["plan"]
        assert review.post("/apply", {"decisions": decisions, "go": True, "plan": plan})[0] == 200
        assert review.post("/done", {})[0] == 200
        assert review.process.wait(timeout=30) == 0
        review.end()
        assert "journal" in review.said
    (run,) = json.loads((library.home / "review.json").read_text())["runs"]
    assert run["command"] == "apply" and content_of(library.folder) != before
    millrace("dedupe", "undo", run["journal"], "--go", env=library.env)
    assert content_of(library.folder) == before


def test_sidecars_are_written_where_asked(library, review):
    _, _, groups, _ = review.data()
    small = next(m["path"] for m in groups[0]["members"] if not m.get("keep"))
    pathlib.Path(small + ".xmp").write_text('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
                                            '<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></rdf:RDF></x:xmpmeta>')
    before = content_of(library.folder)
    decisions = decisions_of(groups)
    status, listed = review.post("/apply", {"decisions": decisions, "merge": True})
    assert status == 200 and any(item.get("sidecar") for item in listed["applied"]["items"]), listed
    status, done = review.post("/apply", {"decisions": decisions, "merge": True, "go": True, "plan": listed["plan"]})
    assert status == 200 and len(list(library.folder.glob("large*.xmp"))) == 1
    review.post("/undo", {"run": done["run"], "go": True})
    assert content_of(library.folder) == before


def test_killed_while_it_carries_out_every_byte_comes_back(library):
    (library.folder / "large0.tif").unlink()
    for i in range(60):
        for name in ("small0.jpg", "small1.jpg"):
            shutil.copy(library.folder / name, library.folder / f"copy{i}-{name}")
    xmp = library.folder / "small1.jpg.xmp"
    xmp.write_text('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
                   '<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></rdf:RDF></x:xmpmeta>')
    library.search()
    before = content_of(library.folder)
    stopped = 0
    for gone in (0, 1, 5, 20, 80, 1000):
        journals = set(library.home.rglob("*.jsonl"))
        with library.review() as review:
            review.enter()
            wanted = {"decisions": decisions_of(review.data()[2]), "merge": True}
            listed = review.post("/apply", wanted)[1]
            assert listed["applied"]["totals"]["would"]["files"] >= 120, listed
            asked = threading.Thread(target=ask_quietly, args=(review, wanted | {"go": True, "plan": listed["plan"]}))
            asked.start()
            while asked.is_alive() and len(list(library.folder.glob(".millrace-removed-*/*"))) < gone:
                pass
            review.process.kill()
            asked.join()
        stopped += content_of(library.folder) != before
        for journal in set(library.home.rglob("*.jsonl")) - journals:
            millrace("dedupe", "undo", journal, "--go", env=library.env)
        assert content_of(library.folder) == before, gone
    assert stopped >= 5


@pytest.mark.parametrize("decisions", [
    [[9, 0, "remove"]], [[0, 9, "remove"]], [[0, -1, "remove"]], [["0", 0, "remove"]], [[0, 0, 5]], [[0, 0]], [{}], "text", {},
    [[0, 0, "remove", {"with": 9}]], [[0, 0, "destroy"]], [[0, 0, "remove", {"path": "/etc/passwd"}, "more"]], None,
])
def test_decisions_name_what_is_in_the_review_and_nothing_else(library, review, decisions):
    before = content_of(library.folder)
    status, answer = review.post("/apply", {"decisions": decisions, "go": False})
    assert status == 409 or answer["applied"]["totals"]["would"]["files"] == 0
    assert "passwd" not in json.dumps(answer)
    assert content_of(library.folder) == before


def test_a_group_never_loses_its_last_picture(library, review):
    _, _, groups, _ = review.data()
    every = [[g, m, "remove", {"chosen": True}] for g, group in enumerate(groups) for m in range(len(group["members"]))]
    status, listed = review.post("/apply", {"decisions": every})
    assert status == 200 and listed["applied"]["totals"]["would"]["files"] == 0


def test_marks_are_kept_for_the_next_review(library):
    with library.review() as review:
        review.enter()
        assert review.data()[1].get("marks") is None
        assert review.post("/marks", {"groups": [[0, "not", [], [], []]]})[0] == 200
        assert review.request("POST", "/marks", "no JSON")[0] == 400
    with library.review() as review:
        review.enter()
        assert json.loads(review.data()[1]["marks"]) == {"groups": [[0, "not", [], [], []]]}
    library.search()
    shutil.copy(library.folder / "large1.jpg", library.folder / "copy.jpg")
    library.search()
    with library.review() as review:
        review.enter()
        assert review.data()[1].get("marks") is None, "other groups have no marks yet"


def test_marks_are_of_the_page_that_was_loaded_last(library):
    with library.review() as review, library.review() as other:
        for one in (review, other):
            one.enter()
        first, second = (review.data()[0]["served"]["visit"] for _ in range(2))
        assert review.post("/marks", {"groups": [], "visit": first})[0] == 409
        assert review.post("/marks", {"groups": [[0, "not", [], [], []]], "visit": second, "number": 7})[0] == 200
        assert review.post("/marks", {"groups": [], "visit": second, "number": 6})[0] == 200, "it came late"
        assert json.loads(review.data()[1]["marks"])["groups"] == [[0, "not", [], [], []]]
        # Another review of the result had its page loaded before that.
        assert other.data()[1]["marks"]
        assert review.post("/marks", {"groups": [[1, "not", [], [], []]]})[0] == 200
        status, answer = other.post("/marks", {"groups": []})
        assert status == 409 and "another review" in answer["error"]["what"]
        assert json.loads(review.data()[1]["marks"])["groups"] == [[1, "not", [], [], []]]


def test_what_is_not_there_and_what_was_carried_out_is_known_to_every_page(library):
    before = content_of(library.folder)
    with library.review() as review:
        review.enter()
        header, _, groups, ids = review.data()
        assert header["served"]["gone"] == [] and header["served"]["runs"] == []
        decisions = decisions_of(groups)
        plan = review.post("/apply", {"decisions": decisions})[1]["plan"]
        assert review.post("/apply", {"decisions": decisions, "go": True, "plan": plan})[0] == 200
        served = review.data()[0]["served"]
        assert served["runs"] == [[0, 2]] and len(served["gone"]) == 2
        # Another review knows what is not there, too.
        with library.review() as other:
            other.enter()
            assert other.data()[0]["served"]["gone"] == served["gone"]
            assert other.data()[0]["served"]["runs"] == []
        assert review.post("/undo", {"run": 0, "go": True})[0] == 200
        assert review.data()[0]["served"]["runs"] == [] and content_of(library.folder) == before
        assert review.post("/done", {})[0] == 200
        assert review.process.wait(timeout=30) == 0
        review.end()
        assert "all its actions were reversed" in review.said and "undo" not in review.said


def test_folders_that_are_protected_here_are_so_on_the_page(library):
    with library.review("--reference", library.folder) as review:
        review.enter()
        assert all(member["reference"] for group in review.data()[2] for member in group["members"])


def test_without_the_catalogue_it_says_so_at_once(library):
    done = millrace("dedupe", "review", library.result, "--catalog", library.home / "none.sqlite", check=False, env=library.env)
    said = done.stderr.decode()
    assert done.returncode == 1 and "none.sqlite" in said and "--catalog" in said, (done.returncode, said)


def test_an_interrupt_ends_it_and_no_file_was_changed(library):
    before = content_of(library.folder)
    with library.review() as review:
        review.enter()
        code = review.end(signal.SIGINT)
        assert code in (0, 130) and "no file was changed" in review.said, (code, review.said)
    assert content_of(library.folder) == before


@pytest.mark.parametrize("text, words", [
    ("", "not a result of millrace dedupe"), ("[]", "not a result"), ('{"millrace": "hash"}', "not a result"),
    ('{"millrace": "dedupe", "groups": 3}', "groups is not a list"),
    ('{"millrace": "dedupe", "groups": [{"id": "a", "kind": "odd", "members": []}]}', "kind is not supported"),
    ('{"millrace": "dedupe", "groups": [{"id": "a", "kind": "similar", "members": [{"path": "x"}]}]}', "path is not absolute"),
    ('{"millrace": "dedupe", "groups": [{"id": "a", "kind": "similar", "members": [{"path": "/x", "mtime_ns": "1", "hash": "q"}]}]}', "32 hex"),
    ('{"millrace": "dedupe", "groups": [{"id": "a", "kind": "similar", "members": []}]}', "fewer than two members"),
    ("[" * 100000, "not a result"),
])
def test_what_is_no_result_is_refused_by_name(tmp_path, text, words):
    (tmp_path / "r.json").write_text(text)
    done = millrace("dedupe", "review", tmp_path / "r.json", check=False)
    assert done.returncode == 1 and words in done.stderr.decode() and b"r.json" in done.stderr, done.stderr


def test_a_port_in_use_and_an_action_that_is_none_are_named(library, review):
    done = millrace("dedupe", "review", library.result, "--port", str(review.port), env=library.env, check=False)
    assert done.returncode == 1 and f"port {review.port}" in done.stderr.decode()
    done = millrace("dedupe", "review", library.result, "--action", "burn", env=library.env, check=False)
    assert done.returncode == 2 and b"'burn' is not an action" in done.stderr
    done = millrace("dedupe", "review", library.result, "--plan", env=library.env)
    assert "2 of 4 files" in (done.stdout + done.stderr).decode()


def test_names_that_are_not_utf8(tmp_path):
    library = Library(tmp_path)
    os.rename(library.folder / "small1.jpg", os.path.join(os.fsencode(library.folder), b"sm\xffall.jpg"))
    library.search()
    before = content_of(library.folder)
    with library.review() as review:
        review.enter()
        _, _, groups, ids = review.data()
        assert all(review.get(f"/thumb/{number}")[0] == 200 for numbers in ids for number in numbers)
        decisions = decisions_of(groups)
        plan = review.post("/apply", {"decisions": decisions})[1]["plan"]
        _, done = review.post("/apply", {"decisions": decisions, "go": True, "plan": plan})
        assert done["applied"]["totals"]["done"]["files"] == 2, done
        assert len(review.data()[0]["served"]["gone"]) == 2
        review.post("/undo", {"run": done["run"], "go": True})
    assert content_of(library.folder) == before
