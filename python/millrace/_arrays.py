"""What the library asks of arrays, for those that can be brought to it."""

import sys

from millrace._errors import UsageError


def unmasked(array, name="array"):
    """A masked array of NumPy's with NaN, which is a gap, where it is masked; a tensor of torch whose numbers stand in its
    memory; anything else as it is."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if array.layout != torch.strided or array.is_nested:
            raise UsageError("usage", "it is a sparse or nested tensor", name, "tensor.to_dense() is a plain one")
        return array.resolve_neg()
    # Looked for, not imported: a fork() in the middle of that would be one for good.
    masked = sys.modules.get("numpy.ma")
    if masked is None or not isinstance(array, masked.MaskedArray):
        return array
    import numpy

    if array.dtype.kind != "f" and numpy.ma.is_masked(array):
        raise UsageError("usage", f"it has masked elements, and {array.dtype} has no value for one", name, "leave them out")
    return array.filled(numpy.nan) if array.dtype.kind == "f" else array.data


def is_table(value):
    """Of pandas, or like one of its."""
    return hasattr(value, "columns") and hasattr(value, "iloc")


def array_of(value, name):
    """As it is, where it can be handed on; lists, pandas' columns and other things that NumPy reads as NumPy's."""
    if hasattr(value, "__dlpack__"):
        return value
    import numpy

    masked = sys.modules.get("numpy.ma")
    try:
        if masked is not None and isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple, masked.MaskedArray)):
            parts = [array_of(one, name) for one in value]
            if any(isinstance(one, masked.MaskedArray) for one in parts):
                return masked.stack(parts)
        array = numpy.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError("usage", f"it is not an array: {error}", name, "") from None
    if array.dtype.kind in "OUS":
        raise UsageError("usage", f"{type(value).__name__} is not an array of numbers", name, "")
    return array


def array_to_fill(value, name):
    """As it is, or the memory of a buffer: what is written is to be seen there."""
    if not getattr(getattr(value, "flags", None), "writeable", True):
        raise UsageError("usage", f"{type(value).__name__} is read-only", name, "")
    if getattr(value, "is_neg", bool)():
        raise UsageError("usage", "it is a tensor that is shown with the other sign", name, "give tensor.resolve_neg()")
    if hasattr(value, "__dlpack__"):
        return value
    import numpy

    try:
        return numpy.asarray(memoryview(value))
    except TypeError:
        raise UsageError("usage", f"{type(value).__name__} is not an array that can be written to", name, "") from None


def contiguous(array, name):
    """Row after row without gaps: as it is where it is so, or is not NumPy's or torch's; else a copy."""
    array = unmasked(array_of(array, name), name)
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


def aligned(array, name):
    """Its numbers at addresses that they are read from: as it is, unless NumPy says that they are not."""
    array = unmasked(array_of(array, name), name)
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
    """An array of two axes, or of three of which the last is the channels'; else it is several images, [n, h, w] gray ones."""
    shape = getattr(images, "shape", None)
    if shape is None:
        return not isinstance(images, (list, tuple)) and not hasattr(images, "__iter__")
    if len(shape) == 3 and shape[0] == 3 and shape[2] not in (1, 3):
        raise UsageError("usage", f"{list(shape)} is one picture with its channels first, or three gray ones", "images",
                         "turn the axes to [height, width, 3], or hand in a list of three")
    return len(shape) <= 2 or (len(shape) == 3 and shape[2] in (1, 3))


def image_array(image, name="image"):
    """As it is, where it is an array without masked elements; a picture of Pillow's, or another thing that only NumPy can read, as NumPy's."""
    image = unmasked(image, name)
    if image is None or isinstance(image, (str, bytes, int, float)):
        raise UsageError("usage", f"found {type(image).__name__}; expected an array", name, "millrace.hash_files() takes paths")
    if hasattr(image, "__dlpack__") or not (hasattr(image, "__array_interface__") or hasattr(image, "__array__")):
        return image
    import numpy

    mode = getattr(image, "mode", "L")
    if isinstance(mode, str) and mode not in ("L", "RGB"):
        raise UsageError("usage", f"it is of mode {image.mode}; images are of L and RGB, of 8 bits", name,
                         "scale it to 8 bits" if mode.startswith(("I", "F")) else "image.convert('RGB') makes it RGB")
    return numpy.asarray(image)
