"""Outputs that are inputs too, two outputs of one name, and options in front of what they do not mean."""

import json
import os
import shutil

import pytest
from attacks import copied, picture, state
from outputs import Inputs, codes_text
from series import prices_text


def untouched(scene, names, *arguments, **options):
    """The run is refused, and these files are as they were."""
    before = {name: state(name) for name in names}
    done = scene.run(*arguments, **options)
    assert {name: state(name) for name in names} == before, arguments
    assert done.code in (1, 2), (arguments, done.words)
    return done


@pytest.mark.parametrize("option", ["--report", "--csv", "--json", "--trace"])
def test_an_option_before_a_photograph_leaves_it_alone(scene, option):
    scene.library()
    scene.mine(picture(scene.home / "x.png", 3))
    photos = sorted(scene.photos.iterdir())
    before = state(scene.photos)
    done = scene.dedupe(scene.home / "x.png", option, scene.home / "out", *photos)
    assert state(scene.photos) == before
    done.fine()
    assert b"5 pictures" in done.err and (scene.home / "out").stat().st_size > 0
    scene.dedupe(option, scene.home / "out2", *photos).fine()
    scene.dedupe(f"{option}={scene.home / 'out3'}", *photos).fine()
    assert state(scene.photos) == before
    if option == "--trace":
        scene.run("hash", option, scene.home / "out4", *photos).fine()
        assert state(scene.photos) == before and json.loads((scene.home / "out4").read_text())


def test_options_stand_anywhere(scene):
    inputs = Inputs(scene)
    out = scene.home / "o"
    for words in (
        ["--bursts", "join"],
        ["--threads", "2"],
        ["--keep", "oldest"],
        ["--csv", out],
        ["--min-size", "1"],
        ["--match", "dhash<=5"],
        ["--exclude", "*.gif"],
        ["--reference", scene.shared],
        ["--memory", "1G"],
    ):
        for line in ([*words, inputs.photos], [inputs.photos, *words]):
            assert b"4 pictures" in scene.dedupe(*line).fine().err, line
    assert (
        b"8 pictures"
        in scene.run("hash", inputs.photos, "--format", "jsonl", scene.library(scene.folder(scene.home / "B"))).err
    )
    scene.run("join", "-o", scene.home / "p.npy", "--radius", "2", inputs.codes).fine()
    scene.run(
        "render", "-o", scene.home / "c.h5", "--window", "20", "--json", scene.home / "c.json", inputs.prices
    ).fine()
    scene.dedupe("apply", "--action", "delete", "--json", scene.home / "a.json", inputs.decisions).fine(0, 3)
    scene.dedupe("undo", "--json", scene.home / "u.json", inputs.journal).fine(0, 3)
    more = untouched(scene, [scene.precious], "doctor", "--json", scene.home / "d.json", scene.precious)
    assert not (scene.home / "d.json").exists() and more.code == 2


def test_no_output_is_an_input(scene):
    """Not even with --overwrite."""
    inputs = Inputs(scene)
    photo, home = inputs.photos / "1.png", scene.home
    (home / "way").symlink_to(scene.photos)
    catalog = home / "kept" / "c.sqlite"
    scene.folder(catalog.parent, 0o700)
    scene.dedupe(inputs.photos, "--catalog", catalog).fine()
    config = scene.file(home / "c.yaml", "threads: 1\n")
    aside = scene.mine(picture(home / "aside.png", 9))
    os.link(photo, home / "hard.png")
    names = [home]
    options = ["--json", "--csv", "--report", "--trace"]
    spelled = [photo, home / "way" / "1.png", home / "photos" / "." / "1.png", home / "way" / ".." / "photos" / "1.png"]
    for name in [*spelled, "photos/1.png", "./photos//1.png"]:
        untouched(scene, names, "dedupe", inputs.photos, "--json", name, "--overwrite")
    for option in options:
        untouched(scene, names, "dedupe", inputs.photos, option, photo, "--overwrite")
        untouched(scene, names, "dedupe", home / "way", option, photo, "--overwrite")
        untouched(scene, names, "dedupe", photo, option, home / "hard.png", "--overwrite")
        untouched(scene, names, "dedupe", aside, "--reference", inputs.photos, option, photo, "--overwrite")
        for part in ("", "-wal", "-shm", "-journal"):
            beside = catalog.with_name(catalog.name + part)
            untouched(
                scene, [home / "photos"], "dedupe", inputs.photos, "--catalog", catalog, option, beside, "--overwrite"
            )
            fresh = catalog.with_name("fresh" + part)
            untouched(
                scene,
                names,
                "dedupe",
                inputs.photos,
                "--catalog",
                catalog.with_name("fresh"),
                option,
                fresh,
                "--overwrite",
            )
        untouched(scene, names, "dedupe", inputs.photos, "--config", config, option, config, "--overwrite")
    for option in ("--json", "--trace"):
        apply = ["dedupe", "apply", inputs.decisions, "--action", "delete", option]
        for name in (inputs.decisions, scene.data / "millrace" / "catalog.sqlite"):
            untouched(scene, names, *apply, name, "--overwrite")
        untouched(scene, names, "dedupe", "undo", inputs.journal, option, inputs.journal, "--overwrite")
        untouched(scene, names, "dedupe", "undo", inputs.journal.stem, option, inputs.journal, "--overwrite")
        untouched(scene, names, "dedupe", "purge", inputs.removal, option, inputs.removal, "--overwrite")
        untouched(scene, names, *apply, home / "j.jsonl", "--journal", home / "j.jsonl", "--go", "--overwrite")
        untouched(scene, names, "hash", inputs.photos, option, photo, "--overwrite")
        untouched(scene, names, "join", inputs.codes, "--radius", "2", option, inputs.codes, "--overwrite")
        untouched(scene, names, "render", inputs.prices, "-o", home / "c.h5", option, inputs.prices, "--overwrite")
    untouched(scene, names, "join", inputs.codes, "--radius", "2", "-o", inputs.codes, "--overwrite")
    for more in ([], ["--sample", "4"], ["--store", "npy"]):
        untouched(scene, names, "render", inputs.prices, "--window", "20", "-o", inputs.prices, *more, "--overwrite")


@pytest.mark.parametrize("command", ["apply", "undo"])
def test_what_decisions_and_journals_name_is_an_input_too(scene, command):
    """With --overwrite, which replaces no input."""
    inputs = Inputs(scene)
    if command == "apply":
        folder, words = inputs.photos, ["apply", inputs.decisions, "--action", "delete"]
    else:
        folder, words = scene.home / "old", ["undo", inputs.journal]
    for photo in sorted(folder.iterdir()):
        untouched(scene, [folder], "dedupe", *words, "--json", photo, "--overwrite")


def test_what_a_link_in_a_folder_leads_to_is_an_input_too(scene):
    scene.library()
    aside = scene.folder(scene.home / "aside")
    photo = scene.mine(picture(aside / "far.png", 9))
    (scene.photos / "link.png").symlink_to(photo)
    (scene.photos / "folder").symlink_to(aside)
    found = scene.dedupe(scene.photos, "--follow-symlinks").fine()
    assert b"5 pictures" in found.err
    for option in ("--json", "--csv", "--report", "--trace"):
        untouched(scene, [aside], "dedupe", scene.photos, "--follow-symlinks", option, photo, "--overwrite")


def test_the_nodes_of_a_join_are_no_input(scene):
    """The second output has a name of its own."""
    nodes = scene.file(scene.home / "p.nodes.npy", codes_text())
    arguments = ["join", nodes, "--radius", "2", "--collapsed", "-o", scene.home / "p.npy"]
    untouched(scene, [nodes], *arguments)
    untouched(scene, [nodes], *arguments, "--overwrite")
    other = scene.file(scene.home / "q.npy", codes_text())
    untouched(scene, [nodes], "join", other, *arguments[2:])
    assert not (scene.home / "p.npy").exists()
    scene.run("join", other, *arguments[2:], "--overwrite").fine()


def test_the_folder_for_shards_is_no_input(scene):
    """Nor is what a store keeps beside itself."""
    shards = scene.folder(scene.home / "c.h5.shards")
    prices = scene.file(shards / "prices.csv", prices_text())
    untouched(scene, [shards], "render", prices, "--window", "20", "-o", scene.home / "c.h5")


SAME = {
    "one name": ["--json", "a", "--csv", "a"],
    "two ways to write it": ["--json", "a", "--csv", "./a"],
    "absolute and not": ["--json", "HOME/a", "--report", "a"],
    "through a link to the folder": ["--json", "way/a", "--csv", "photos/a"],
    "up and down": ["--json", "photos/../a", "--csv", "a"],
    "two slashes": ["--json", "photos//a", "--csv", "photos/a"],
    "page and trace": ["--report", "a", "--trace", "a"],
    "thumbnails": ["--report", "a", "--json", "a.thumbs"],
    "stdout twice": ["--json", "-", "--csv", "-"],
    "stdout by its name": ["--json", "/dev/stdout", "--csv", "-"],
    "stdout by its number": ["--json", "/dev/fd/1", "--csv", "/proc/self/fd/1"],
    "a pipe twice": ["--json", "pipe", "--csv", "./pipe"],
}


@pytest.mark.parametrize("how", SAME)
def test_two_outputs_of_one_name_are_refused(scene, how):
    scene.library()
    (scene.home / "way").symlink_to(scene.photos)
    os.mkfifo(scene.home / "pipe")
    scene.mine(scene.home / "pipe")
    before = set(state(scene.home))
    words = [word.replace("HOME", str(scene.home)) for word in SAME[how]]
    scene.dedupe(scene.photos, *words, "--overwrite", seconds=10).refused("two outputs")
    assert set(state(scene.home)) == before


def test_two_outputs_of_one_name_in_other_commands(scene):
    inputs = Inputs(scene)
    home = scene.home
    before = set(state(home))
    join = ["join", inputs.codes, "--radius", "2", "--collapsed", "-o", home / "p.npy"]
    render = ["render", inputs.prices, "--window", "20", "-o", home / "c.h5"]
    for words in (
        [*join, "--json", home / "p.npy"],
        [*join, "--json", home / "p.nodes.npy"],
        [*join, "--trace", home / "p.npy"],
        [*render, "--json", home / "c.h5"],
        [*render, "--sample", "4", "--json", home / "c.h5"],
        [*render, "--json", home / "c.h5.shards" / "run.json"],
        ["hash", inputs.photos, "--json", home / "x", "--trace", home / "x"],
        ["dedupe", "apply", inputs.decisions, "--action", "delete", "--json", home / "x", "--trace", home / "x"],
        ["dedupe", "undo", inputs.journal, "--json", home / "x", "--trace", home / "x"],
    ):
        done = scene.run(*words)
        assert done.code in (1, 2), (words, done.words)
        assert set(state(home)) == before, words


def test_what_is_asked_for_is_written(scene):
    """An option that is taken does something: the result is there, or the run says why not."""
    inputs = Inputs(scene)
    out = scene.home / "out.json"
    for words in (
        ["dedupe", inputs.photos],
        ["hash", inputs.photos],
        ["join", inputs.codes, "--radius", "2"],
        ["render", inputs.prices, "--window", "20", "-o", scene.home / "c.h5"],
        ["dedupe", "apply", inputs.decisions, "--action", "delete"],
        ["dedupe", "undo", inputs.journal],
        ["doctor"],
    ):
        done = scene.run(*words, "--json", out)
        if done.code in (0, 3):
            assert out.exists(), words
            assert json.loads(out.read_text()), words
            out.unlink()


def test_a_page_does_not_take_the_folder_of_somebody(scene):
    """The folder that a large page keeps beside it has a name that somebody's folder may have."""
    scene.library()
    page, folder = scene.home / "page.html", scene.home / "page.html.thumbs"
    for name in ("0001/000123.jpg", "0001/notes.txt", "photo.jpg", "2024/000001.jpg"):
        scene.folder(folder)
        (folder / name).parent.mkdir(exist_ok=True)
        copied(scene.photos / "1.png", folder / name)
        scene.mine(folder)
        before = state(folder)
        scene.dedupe(scene.photos, "--report", page).refused("page.html.thumbs")
        scene.dedupe(scene.photos, "--report", page, "--overwrite").refused("page.html.thumbs")
        assert state(folder) == before and not page.exists(), name
        shutil.rmtree(folder)
    scene.dedupe(scene.photos, "--report", page).fine()
    assert page.read_bytes().lower().startswith(b"<!doctype html")
