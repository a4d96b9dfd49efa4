"""Networks over images in memory."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from millrace import _core
from millrace._arrays import image_array, is_one_image
from millrace._errors import UsageError, named, refuse_unknown
from millrace._jobs import described, encoded, keyword_of, said_in_keywords, texts_of
from millrace._options import truth


if TYPE_CHECKING:
    import numpy


@functools.lru_cache(maxsize=None)
def _options():
    """Those of `millrace segment` that a Segmenter takes, by their names here."""
    return {keyword_of(option["name"]): option for option in _core.segmenter_options()}


class Label(NamedTuple):
    """What a number in a mask stands for."""

    name: str
    color: tuple  #: red, green, blue
    drawn: bool  #: overlays show it


class ClassArea(NamedTuple):
    """What is counted of a class of a mask; shares and means are over all pixels of the image."""

    output: str  #: of which of the networks' outputs; empty where they have one
    name: str
    pixels: int  #: of the mask
    edge_pixels: int  #: of these, in the image's outermost rows and columns
    share: float
    mean_probability: float


class Point(NamedTuple):
    """Where a map of points is highest, in pixels, of which the first reaches from 0 to 1; NaN where no window was."""

    output: str
    name: str
    x: float
    y: float
    value: float  #: the map's, there


class Value(NamedTuple):
    """A class's probability, or a number, of the whole image."""

    output: str
    name: str
    model: str  #: of several networks the one whose number it is; empty where it is of all
    value: float


class Output:
    """What the networks' output of one name says of an image.

    `name` is empty where they have one; `task` segmentation, keypoints, classification or regression; `mask` uint8
    `[height, width]` of segmentation; `probability` float32 `[classes, height, width]` of segmentation and keypoints; None
    where there is none. `labels` says what the mask's 0 and on stand for; `classes`, `points`, `values` are what is counted,
    found and told; `disagreement` of several networks is the share of pixels with any class of which they give different
    ones, else NaN.
    """

    def __init__(self, made):
        self.name = made["name"]
        self.task = made["task"]
        self.mask = made["mask"]
        self.probability = made["probability"]
        self.labels = [Label(*one) for one in made["labels"]]
        self.classes = [ClassArea(self.name, *one) for one in made["classes"]]
        self.points = [Point(self.name, *one) for one in made["points"]]
        self.values = [Value(self.name, *one) for one in made["values"]]
        self.disagreement = made["disagreement"]

    def __repr__(self):
        return f"<{self.task}{f' {self.name!r}' if self.name else ''}>"


class Segmented:
    """What networks say of an image.

    `mask` is uint8 `[height, width]`, `probability` float32 `[classes, height, width]`, as `millrace segment` writes them; of
    networks of several outputs `outputs` has each by its name. `classes`, `points` and `values` are lists over all outputs.
    `windows` were asked of the networks, `left_out` nobody wanted. With `preprocess="fundus"`, `doubts` says why somebody
    should look at the photograph, and `field_of_view` is a dict as docs/fundus.md has it; else None.
    """

    def __init__(self, made):
        self.height = made["height"]
        self.width = made["width"]
        self.windows = made["windows"]
        self.left_out = made["left_out"]
        self.outputs = {one["name"]: Output(one) for one in made["outputs"]}
        self.doubts = list(made["doubts"])
        self.field_of_view = json.loads(made["field_of_view"]) if made["field_of_view"] else None

    def _only(self, what):
        found = [output for output in self.outputs.values() if getattr(output, what) is not None]
        if len(found) > 1:
            names = ", ".join(repr(output.name) for output in found)
            raise UsageError("usage", f"the networks have one each of {names}", what, f"say outputs[{found[0].name!r}].{what}")
        return getattr(found[0], what) if found else None

    @property
    def mask(self) -> numpy.ndarray | None:
        """uint8 `[height, width]`: of the one output that makes one, or None."""
        return self._only("mask")

    @property
    def probability(self) -> numpy.ndarray | None:
        """float32 `[classes, height, width]`: of the one output that has it, or None."""
        return self._only("probability")

    @property
    def classes(self) -> list[ClassArea]:
        """Of all masks: a ClassArea a class."""
        return [one for output in self.outputs.values() for one in output.classes]

    @property
    def points(self) -> list[Point]:
        """Of all outputs for points: a Point each."""
        return [one for output in self.outputs.values() for one in output.points]

    @property
    def values(self) -> list[Value]:
        """Of all outputs for classes and numbers of the image: a Value each."""
        return [one for output in self.outputs.values() for one in output.values]

    def __repr__(self):
        named = ", ".join(map(repr, self.outputs.values()))
        return f"<{self.width} x {self.height} pixels, {self.windows} windows: {named}>"


class Segmenter:
    """Networks, compiled once and kept, over images in memory: what `millrace segment` makes of files, bit for bit.

    `model` is the path of an ONNX file, or of several, which are asked together and agree on means. Options are those of
    the command that are not about files, with `_` for `-` (docs/segment.md explains them): `card`, `input`, `activation`,
    `threshold`, `requests`, `precision` (f32 or bf16), `tta`, `tta_mean`, `preprocess`, `size`, `window`, `overlap`,
    `importance`, `pad`, `skip_empty`, `threads`, and `memory`, the most to use beside images and results. None leaves one as
    it is. Variables of the environment do not hold.

    May be called from several threads; calls wait for each other. Pickles as its settings, and is compiled anew where it is
    used. In a child of fork() it is an Error of code `unavailable`: start processes with spawn.
    """

    def __init__(self, model: str | bytes | os.PathLike | Sequence[Any], **options: Any) -> None:
        refuse_unknown_option(options)
        self.options = {name: value for name, value in options.items() if value is not None}
        self.models = [model] if isinstance(model, (str, bytes, os.PathLike)) else model
        if hasattr(self.models, "keys"):
            raise UsageError("usage", f"it is a path or several, not {type(model).__name__}", "model", "")
        try:
            # Of where it was made: a process that it is sent to may be elsewhere.
            self.models = [os.path.abspath(os.fsdecode(one)) for one in self.models]
        except TypeError:
            raise UsageError("usage", f"it is a path or several, not {type(model).__name__}", "model", "") from None
        self._compiled = self._compile()

    def _compile(self):
        given = [(_options()[name]["name"], texts_of(name, value, _options()[name])) for name, value in self.options.items()]
        with said_in_keywords("segment"):
            return _core.Segmenter([encoded(one, "model") for one in self.models], given)

    @property
    def _segmenter(self):
        if self._compiled is None:
            self._compiled = self._compile()
        return self._compiled

    def __reduce__(self):
        return _segmenter_of, (self.models, self.options)

    def __repr__(self):
        words = [repr(self.models[0] if len(self.models) == 1 else self.models)]
        return f"millrace.Segmenter({', '.join(words + [f'{name}={value!r}' for name, value in self.options.items()])})"

    @property
    def runtime(self) -> str:
        """What runs the networks: "OpenVINO 2026.4.1"."""
        return self._segmenter.runtime

    @property
    def precision(self) -> str:
        """f32 or bf16."""
        return self._segmenter.precision

    @property
    def window(self) -> tuple[int, int]:
        """(height, width) of a window, in pixels."""
        return tuple(self._segmenter.window)

    @named
    def __call__(self, images: Any, *, roi: Any = None, probability: bool = True) -> Any:
        """`images` is one image or several: uint8 `[height, width]`, gray, or `[height, width, 3]`, RGB, with any strides; NumPy
        arrays, tensors of torch on the CPU, pictures of Pillow, or whatever has DLPack or the buffer protocol, read where it
        lies. An array `[images, height, width, 3]` is several; several are faster together than one by one.
        `roi` is an image of the same sides, uint8 or bool, or a list of one for each image: windows where it is black are left
        out. Without `probability` the maps, of four bytes a pixel and class, are not kept.

        Returns a Segmented of one image, a list of several. Where an image cannot be used that is raised, with its number.
        Ctrl-C ends it within a second.
        """
        one = is_one_image(images)
        listed = [image_array(images)] if one else [image_array(image, f"image {number}") for number, image in enumerate(images)]
        if roi is not None and not one and hasattr(roi, "shape") and is_one_image(roi):
            raise UsageError("usage", f"it is one, of {len(listed)} images", "roi", "give a list of one for each")
        regions = [] if roi is None else [_region(roi)] if one else [_region(each) for each in roi]
        with said_in_keywords("segment"):
            made = self._segmenter.segment(listed, regions, truth(probability, "probability"))
        made = [Segmented(each) for each in made]
        return made[0] if one else made


def _region(roi):
    """As it is; of NumPy's booleans their bytes."""
    roi = image_array(roi, "roi")
    return roi.view("uint8") if getattr(getattr(roi, "dtype", None), "kind", "") == "b" else roi


def refuse_unknown_option(options):
    """UsageError for what is no option, or one that is about files alone."""
    job = {keyword_of(option["name"]) for option in described()["segment"]["options"]}
    for name in options:
        if name in job and name not in _options():
            remedy = "hand it in with the image: segmenter(image, roi=...)" if name == "roi" else "millrace.segment() has it"
            raise UsageError("usage", "this option is not supported by a Segmenter, which works on arrays in memory", name, remedy)
    refuse_unknown(options, _options(), "millrace.Segmenter")


def _segmenter_of(models, options):
    """Compiled when it is first used: a pool whose children cannot unpickle what they are sent waits for ever."""
    out = Segmenter.__new__(Segmenter)
    out.models, out.options, out._compiled = models, options, None
    return out
