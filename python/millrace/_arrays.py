"""What the library asks of arrays, for those that can be brought to it."""

import sys

from millrace._errors import UsageError


def unmasked(array):
    """A masked array of NumPy's with NaN, which is a gap, where it is masked; anything else as it is."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ma.MaskedArray):
        return array
    if array.dtype.kind != "f" and numpy.ma.is_masked(array):
        raise UsageError("usage", f"it has masked elements, and {array.dtype} has no value for one", "array", "leave them out")
    return array.filled(numpy.nan) if array.dtype.kind == "f" else array.data


def array_of(value, name):
    """As it is, where it can be handed on; lists, pandas' columns and other things that NumPy reads as NumPy's."""
    if hasattr(value, "__dlpack__"):
        return value
    import numpy

    try:
        array = numpy.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError("usage", f"it is no array: {error}", name, "") from None
    if array.dtype.kind in "OUS":
        raise UsageError("usage", f"{type(value).__name__} is no array of numbers", name, "")
    return array


def array_to_fill(value, name):
    """As it is, or the memory of a buffer: what is written is to be seen there."""
    if hasattr(value, "__dlpack__"):
        return value
    import numpy

    try:
        return numpy.asarray(memoryview(value))
    except TypeError:
        raise UsageError("usage", f"{type(value).__name__} is no array that can be written to", name, "") from None


def contiguous(array):
    """Row after row without gaps: as it is where it is so, or is not NumPy's or torch's; else a copy."""
    array = unmasked(array)
    flags = getattr(array, "flags", None)
    if flags is not None and hasattr(flags, "c_contiguous"):
        if flags.c_contiguous and flags.aligned:
            return array
        import numpy

        return numpy.require(array, requirements=["C", "A"])
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return array.contiguous()
    return array


def aligned(array):
    """Its numbers at addresses that they are read from: as it is, unless NumPy says that they are not."""
    array = unmasked(array)
    flags = getattr(array, "flags", None)
    if flags is None or getattr(flags, "aligned", True):
        return array
    import numpy

    return numpy.require(array, requirements=["A"])


def wait_for_streams(array):
    """What torch has under way on the device that a tensor lies on."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor) and array.is_cuda:
        torch.cuda.current_stream(array.device).synchronize()


def is_one_image(images):
    """An array of two axes, or of three of which the last is the channels'; else it is several images."""
    shape = getattr(images, "shape", None)
    if shape is None:
        return not isinstance(images, (list, tuple)) and not hasattr(images, "__iter__")
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))


def image_array(image):
    """As it is, where it is an array without masked elements; a picture of Pillow's, or another thing that only NumPy can read, as NumPy's."""
    image = unmasked(image)
    if hasattr(image, "__dlpack__") or not (hasattr(image, "__array_interface__") or hasattr(image, "__array__")):
        return image
    import numpy

    mode = getattr(image, "mode", "L")
    if isinstance(mode, str) and mode not in ("L", "RGB"):
        raise UsageError("usage", f"it is of mode {image.mode}; images are of L and RGB", "image", "image.convert('RGB') makes it RGB")
    return numpy.asarray(image)
