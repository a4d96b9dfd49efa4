"""What tools/wheel/check.py lets into a wheel; `./dev wheel` runs it on each that it builds."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("wheel_check", ROOT / "tools/wheel/check.py")
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

LIBRARIES = check.listed((ROOT / "tools/wheel/libraries.txt").read_text())
TEXTS = {one.package: "Files: *\nLicense: " + one.licence for one in LIBRARIES}
PERMISSIVE = "Format: x\n\nFiles: *\nCopyright: y\nLicense: MIT\n\nFiles: debian/*\nLicense: GPL-2+\n"


def test_what_is_listed_may_be_in_a_wheel():
    files = ["libfmt-1a2b3c4d.so.9.1.0", "libtbb-00000000.so.12.8", "libpng16-deadbeef.so.16.39.0", "libspdlog-0badcafe.so.1.10.0"]
    assert check.wrong_licences(files, LIBRARIES, TEXTS) == []


@pytest.mark.parametrize("file", ["libvips-1a2b3c4d.so.42.16.1", "libx264-1a2b3c4d.so.164", "libreadline-1a2b3c4d.so.8.2", "libfmt-1a2b3c4d.so.10",
                                  "libhdf5_serial-1a2b3c4d.so.103.3.0", "libgnutls-1a2b3c4d.so.30", "something.so"])
def test_what_nobody_looked_at_fails(file):
    wrong = check.wrong_licences([file], LIBRARIES, TEXTS)
    assert len(wrong) == 1 and wrong[0].startswith(file) and "nobody looked" in wrong[0]


@pytest.mark.parametrize("licence", ["GPL-2.0-or-later", "GPL-3.0-only", "AGPL-3.0-only", "no"])
def test_the_gpl_fails_though_it_is_listed(licence):
    own = [*LIBRARIES, check.Library("libx264.so.164", "libx264-164", licence, "shared")]
    wrong = check.wrong_licences(["libx264-1a2b3c4d.so.164"], own, {**TEXTS, "libx264-164": PERMISSIVE})
    assert wrong == [f"libx264.so.164: {licence} may not be in a wheel"]


def test_the_lgpl_is_a_file_of_its_own():
    own = [*LIBRARIES, check.Library("intl", "libintl", "LGPL-2.1-or-later", "inside")]
    assert check.wrong_licences([], own, {**TEXTS, "libintl": PERMISSIVE}) == ["intl: LGPL-2.1-or-later may not be in a wheel"]


def test_a_list_that_is_wrong_fails_where_the_distribution_says_gpl():
    own = [*LIBRARIES, check.Library("libx264.so.164", "libx264-164", "MIT", "shared")]
    text = "Format: x\n\nFiles: *\nCopyright: y\nLicense: GPL-2+\n\nFiles: extras/*\nLicense: MIT\n"
    assert "the package libx264-164 is under GPL-2+" in check.wrong_licences([], own, {**TEXTS, "libx264-164": text})[0]


def test_a_licence_without_its_text_fails():
    texts = {name: text for name, text in TEXTS.items() if name != "libseccomp2"}
    assert check.wrong_licences([], LIBRARIES, texts) == ["libseccomp.so.2: the wheel lacks its licence, libseccomp2.txt"]


def test_a_licence_that_no_program_reads_is_a_persons_to_read():
    own = [*LIBRARIES, check.Library("libodd.so.1", "libodd", "MIT", "shared")]
    text = {**TEXTS, "libodd": "This is free software, see the file COPYING."}
    assert "read by hand" in check.wrong_licences([], own, text)[0]
    own[-1] = own[-1]._replace(read="by-hand")
    assert check.wrong_licences([], own, text) == []


def test_every_compiled_file_but_our_own_is_looked_at():
    own = ["millrace/_core.cpython-311-x86_64-linux-gnu.so", "millrace/_core.abi3.so", "millrace/libmillrace.so.0.1", "millrace/millrace-hdf5",
           "millrace-0.1.0.data/scripts/millrace"]
    assert check.of_others(own) == []
    others = ["millrace/libx264.so.164", "millrace.libs/libfmt-1a2b3c4d.so.9.1.0", "other/_core.abi3.so", "millrace/codecs/libmillrace.so"]
    assert check.of_others([*own, *others]) == [Path(name).name for name in others]


def test_debian_has_none_of_them_under_the_gpl():
    read = {}
    for one in LIBRARIES:
        copyright = Path("/usr/share/doc") / one.package / "copyright"
        if copyright.exists():
            read[one.name] = check.main_licence(copyright.read_text())
            assert read[one.name] or one.read == "by-hand", one.name
    assert not [name for name, licence in read.items() if licence.startswith(("GPL", "AGPL"))]
    if not Path("/etc/debian_version").exists():
        pytest.skip("their licences are read where Debian's packages are")
    assert len(read) > 10, read


def test_every_system_has_what_is_wanted_and_not_bundled():
    assert check.unmet(["libc.so.6", "libfmt-1a2b3c4d.so.9", "libopenvino.so.2641"], {"libfmt-1a2b3c4d.so.9"}, {"libc.so.6"}) == []
    assert check.unmet(["libc.so.6", "libcurl.so.4"], set(), {"libc.so.6"}) == ["libcurl.so.4"]


def test_models_run_on_what_was_built_with():
    plain = "Requires-Dist: numpy\n"
    models = "Requires-Dist: openvino==2026.4.1; extra == \"models\"\n"
    assert check.wrong_metadata(plain + models, ["openvino==2026.4.1"]) == []
    assert check.wrong_metadata(plain + models, ["openvino==2026.5.0"])
    assert check.wrong_metadata(plain + "Requires-Dist: pandas\n" + models, ["openvino==2026.4.1"])


def test_what_builds_a_wheel_is_the_same_everywhere():
    builds = re.search(r'^requires = \[(.*)\]', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    pinned = (ROOT / "packages/wheel.txt").read_text().split()
    for one in re.findall(r'"([^"]+)"', builds):
        assert one in pinned, one
    # And the nanobind that the suite's package is built with.
    nanobind = next(one for one in pinned if one.startswith("nanobind=="))
    assert nanobind in (ROOT / "packages/peers.txt").read_text().split()


def test_the_document_names_them_all():
    text = (ROOT / "docs/wheel.md").read_text()
    for one in LIBRARIES:
        assert f"| {one.name} | {one.licence} |" in text, f"{one.name} is not in docs/wheel.md"


def test_libraries_are_searched_in_the_wheel_alone():
    assert check.searched_elsewhere(["$ORIGIN", "$ORIGIN/../millrace.libs"]) == []
    wrong = ["", ".", "lib", "/tmp/build", "$ORIGINAL/lib", "../$ORIGIN"]
    assert check.searched_elsewhere(["$ORIGIN", *wrong]) == wrong
