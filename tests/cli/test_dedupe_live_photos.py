"""Live Photos: which film is whose, by Apple's identifier where names do not tell, or tell wrongly."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from holdings import STARS, jpeg, live_film, live_photo, with_xmp  # noqa: E402
from searches import goes, searched  # noqa: E402
from variants import scene  # noqa: E402

PICTURE = scene(640, 480, 1)
ONE, TWO = b"7F1B1D2E-0000-4B5C-9E2A-000000000001", b"7F1B1D2E-0000-4B5C-9E2A-000000000002"
COPY = with_xmp(live_photo(PICTURE, ONE), STARS)  # which the rule likes better


def films_of(tmp_path, member):
    return sorted(os.path.relpath(each["path"], tmp_path / "pictures") for each in member.get("companions", []))


def test_a_film_of_any_name_keeps_its_picture(tmp_path):
    files = {"phone/IMG_1.jpg": live_photo(PICTURE, ONE), "phone/clip 77.mov": live_film(1, ONE), "phone/trip.mov": live_film(2, TWO),
             "copies/IMG_1.jpg": COPY}
    found, members, _ = searched(tmp_path, files)
    assert films_of(tmp_path, members["phone/IMG_1.jpg"]) == ["phone/clip 77.mov"]
    assert "phone/IMG_1.jpg" not in goes(members)
    assert found["not_read"] == [{"kind": ".mov", "files": 1}], "the other film is nobody's"
    # With a copy of the film beside the copy, it may go.
    files |= {"copies/another name.mov": live_film(1, ONE)}
    found, members, _ = searched(tmp_path, files)
    assert goes(members) == ["phone/IMG_1.jpg"]
    assert films_of(tmp_path, members["copies/IMG_1.jpg"]) == ["copies/another name.mov"]


def test_a_film_of_another_live_photo_keeps_nothing(tmp_path):
    """The camera's counter began anew: one name, two moments."""
    files = {"phone/IMG_1.jpg": live_photo(PICTURE, ONE), "phone/IMG_1.mov": live_film(1, TWO), "copies/IMG_1.jpg": COPY}
    _, members, _ = searched(tmp_path, files)
    assert goes(members) == ["phone/IMG_1.jpg"] and films_of(tmp_path, members["phone/IMG_1.jpg"]) == []
    _, members, _ = searched(tmp_path, files | {"phone/IMG_1.mov": live_film(1, ONE)})
    assert goes(members) == [] and films_of(tmp_path, members["phone/IMG_1.jpg"]) == ["phone/IMG_1.mov"]


def test_no_identifier_takes_a_film_from_its_name(tmp_path):
    files = {"phone/IMG_1.jpg": jpeg(PICTURE), "phone/IMG_1.mov": live_film(1, TWO), "copies/IMG_1.jpg": with_xmp(jpeg(PICTURE), STARS)}
    _, members, _ = searched(tmp_path, files)
    assert goes(members) == [] and films_of(tmp_path, members["phone/IMG_1.jpg"]) == ["phone/IMG_1.mov"]
