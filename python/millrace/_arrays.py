"""What the library asks of arrays, for those that can be brought to it."""

import sys


def contiguous(array):
    """Row after row without gaps: as it is where it is so, or is not NumPy's or torch's; else a copy."""
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
