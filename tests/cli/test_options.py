"""What the program does with the words of its command line; src/cli/options_test.cc has every option of every job."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402

COMMANDS = [
    "hash", "join", "dedupe", "dedupe compare", "dedupe review", "dedupe apply", "dedupe undo", "dedupe purge", "render",
    "latents", "fundus", "segment", "video", "inventory", "finish",
]


def options_of(command):
    """The names of every option, from the table for the documentation."""
    rows = millrace(*command.split(), "--print-options", "WORD").stdout.decode().splitlines()[2:]
    return [row.split("|")[1].strip().strip("`") for row in rows]


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
    assert set(options_of(command)) <= shown
    groups = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert [each for each in groups if each != "Subcommands"][-1] == "Running"


@pytest.mark.parametrize("command", COMMANDS)
def test_options_stand_anywhere_and_take_one_word(command, tmp_path):
    (tmp_path / "c.yaml").write_text("threads: 3\n")
    base = config(*command.split(), "WORD")
    for option in (["--threads", "3"], ["--threads=3"], ["--config", tmp_path / "c.yaml"]):
        for line in ([*option, "WORD"], ["WORD", *option], ["--memory", "5000", *option, "--quiet", "WORD"]):
            got = config(*command.split(), *line)
            assert {key for key in got if got[key] != base[key]} - {"memory", "quiet"} == {"threads"}, line
            assert got["threads"] == "3"
    done = millrace(*command.split(), "--threads", "--quiet", "WORD", "--print-config", check=False)
    assert done.returncode == 2 and b"--threads" in done.stderr


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
    assert done.returncode == 2 and b"on the command line only" in done.stderr and option.encode() in done.stderr


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
