"""Every option of every command takes exactly its values, wherever it stands."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402

# The words that a command cannot do without, and one more that is not an option's.
COMMANDS = {
    "hash": ["WORD"],
    "join": ["WORD"],
    "dedupe": ["WORD"],
    "dedupe compare": ["WORD"],
    "dedupe review": ["WORD"],
    "dedupe apply": ["WORD"],
    "dedupe undo": ["WORD"],
    "dedupe purge": ["WORD"],
    "render": ["WORD"],
    "latents": ["WORD"],
    "fundus": ["WORD"],
    "segment": ["WORD"],
    "video": ["WORD"],
    "inventory": ["WORD"],
    "finish": ["WORD"],
}
# What an option takes where its description is not enough to make one up.
VALUES = {
    "kinds": "phash",
    "size": "16",
    "match": "phash<=4",
    "keep": "oldest",
    "device": "cpu",
    "device-order": "opencl",
    "columns": "close=Price",
    "labels": "1,5",
    "line-width": "2",
    "ink": "#102030",
    "paper": "200",
    "rising": "#00ff00",
    "falling": "#ff0000",
    "action": "trash",
    "part": "2/3",
    "steps": "0:9:2",
    "layout": "FCHW",
    "metrics": "spatial.*",
    "overlap": "0.25",
    "threshold": "0.25",
    "write": "mask,probability",
    "clean": "area=70,open=3",
    "reuse": "0.25",
    "confidence": "0.75",
    "scales": "1,2",
    "block": "1000",
    "region": "1,2,30,40",
    "start": "0:01:07",
    "end": "0:01:07",
    "feather": "2.5",
    "precision": "bf16",
    "segment": "2.5",
}


def options_of(command):
    """(name, description of the value) of every option; the value is empty for a switch."""
    rows = millrace(*command.split(), "--print-options", *COMMANDS[command]).stdout.decode().splitlines()[2:]
    found = []
    for row in rows:
        name, value = (cell.strip().strip("`") for cell in row.replace("\\|", "/").split("|")[1:3])
        found.append((name.removeprefix("--"), value))
    return found


ALL = [(command, name, value) for command in COMMANDS for name, value in options_of(command)]


def value_for(command, name, described):
    if name == "size" and command == "render":
        return "300x200"
    if name == "write" and command in ("video", "fundus"):
        return {"video": "overlay", "fundus": "enhanced,bounds"}[command]
    if name == "size" and command == "fundus":
        return "512"
    if name in VALUES:
        return VALUES[name]
    if "/" in described and described.islower():
        return described.split("/")[-1]
    return {"N": "7", "R": "7", "SIZE": "1000"}.get(described, "7" if described.isupper() and len(described) < 3 else "a b")


def config(*words):
    """The values as the program has understood them."""
    done = millrace(*words, "--print-config", check=False)
    assert done.returncode == 0, (words, done.stderr.decode())
    lines = (line.split("  #")[0] for line in done.stdout.decode().splitlines())
    return {line.split(": ", 1)[0].strip(): line.split(": ", 1)[1].strip() for line in lines}


def test_every_command_is_known():
    """A command that is added has to be added here."""
    named = set()
    for parent in ([], ["dedupe"]):
        section = millrace(*parent, "--help").stdout.decode().split("Subcommands:\n")[1].split("\n\n")[0]
        words = [line.split()[0] for line in section.splitlines() if line.startswith("  ") and line[2] != " "]
        named |= {" ".join([*parent, word]) for word in words}
    assert named == set(COMMANDS) | {"doctor", "tune"}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_every_option_and_what_is_the_jobs_own_first(command):
    text = millrace(*command.split(), "--help").stdout.decode()
    shown = {name for line in text.splitlines() if line.startswith("  -") for name in line.split()[0].split(",")}
    for _, name, _ in [row for row in ALL if row[0] == command]:
        assert f"--{name}" in shown, (name, shown)
    groups = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert [each for each in groups if each != "Subcommands"][-1] == "Running"


@pytest.mark.parametrize("command,name,described", ALL, ids=[f"{c} --{n}" for c, n, _ in ALL])
def test_an_option_takes_its_value_and_no_word_more(command, name, described, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = COMMANDS[command]
    base = config(*command.split(), *words)
    if not described:
        given = [[f"--{name}"]]
    else:
        value = value_for(command, name, described)
        given = [[f"--{name}", value], [f"--{name}={value}"]]
        given += [["-o", value]] if name == "output" else []
    beside = [["--threads", "3"], ["--memory", "5000"], ["--progress", "json"]]
    left, right = [other for other in beside if other[0] != f"--{name}"][:2]
    seen = set()
    for option in given:
        # In front of the words, behind them, and between two others.
        for line in (option + words, words + option, [*left, *option, *right, *words]):
            got = config(*command.split(), *line)
            changed = {key for key in got if got[key] != base[key]}
            assert changed - {left[0][2:], right[0][2:]} <= {name}, (line, changed)
            assert not any("WORD" in got[key] for key in got), (line, got)
            seen.add(got.get(name, "said"))
    assert len(seen) == 1, seen
    if described:
        assert value in seen.pop()


@pytest.mark.parametrize("command,name,described", [row for row in ALL if row[2]], ids=lambda value: str(value))
def test_an_option_without_its_value_takes_no_other_option(command, name, described):
    for line in ([f"--{name}", "--quiet", *COMMANDS[command]], [*COMMANDS[command], f"--{name}", "-q"]):
        done = millrace(*command.split(), *line, "--print-config", check=False)
        assert done.returncode == 2 and f"--{name}".encode() in done.stderr and b"value is missing" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_config_file_is_one_word(command, tmp_path):
    (tmp_path / "c.yaml").write_text("threads: 3\n")
    got = config(*command.split(), "--config", tmp_path / "c.yaml", *COMMANDS[command])
    assert got["threads"] == "3"


def test_the_doctor_takes_one_file_and_no_word_more(tmp_path):
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0 a photograph")
    done = millrace("doctor", "--json", tmp_path / "d.json", tmp_path / "photo.jpg", check=False)
    assert done.returncode == 2 and not (tmp_path / "d.json").exists()
    assert (tmp_path / "photo.jpg").read_bytes().startswith(b"\xff\xd8\xff\xe0 a")


@pytest.mark.parametrize("option,name", [("--go", "go"), ("--trust-files", "trust-files"), ("--overwrite", "overwrite")])
def test_what_a_person_has_to_say_is_said_on_the_command_line_alone(option, name, tmp_path):
    (tmp_path / "decisions.json").write_text('{"millrace_decisions": 1, "decisions": []}')
    apply = ["dedupe", "apply", tmp_path / "decisions.json", "--action", "trash", "--journal", tmp_path / "j.jsonl"]
    variable = "MILLRACE_" + name.upper().replace("-", "_")
    assert millrace(*apply, env={variable: "true"}).returncode == 0
    assert not (tmp_path / "j.jsonl").exists()
    (tmp_path / "c.yaml").write_text(f"{name}: true\n")
    done = millrace(*apply, "--config", tmp_path / "c.yaml", check=False)
    assert done.returncode == 2 and b"on the command line alone" in done.stderr and option.encode() in done.stderr


@pytest.mark.parametrize("words, meant", [
    (["latents", "DIR", "--metrcs", "x"], "--metrics"), (["latents", "--steps=1", "--groops=*", "DIR"], "--groups"),
    (["dedupe", "DIR", "--orientatons"], "--orientations"), (["dedupe", "apply", "x", "--catalgo", "y"], "--catalog"),
    (["render", "x.csv", "--no-volme"], "--no-volume"),
])
def test_a_slip_is_named_with_what_was_meant(words, meant):
    done = millrace(*words, check=False)
    assert done.returncode == 2
    assert b"there is no option" in done.stderr and f"did you mean '{meant}'?".encode() in done.stderr


def test_behind_two_dashes_words_are_words(tmp_path):
    done = millrace("hash", "--", "--no-such-option", check=False, cwd=tmp_path)
    assert b"there is no option" not in done.stderr
