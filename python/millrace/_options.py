"""Arguments that are no arrays: checked, with one word for each kind of wrong."""

from millrace._errors import UsageError, refuse_unknown


def is_truth(value):
    """True and False, of Python or NumPy."""
    return isinstance(value, bool) or type(value).__name__ == "bool_" or type(value).__name__ == "bool" and hasattr(value, "dtype")


def whole(value, name, least=0, most=2**31 - 1):
    """A whole number in these bounds, of Python or NumPy."""
    if is_truth(value) or not hasattr(value, "__index__") or getattr(value, "ndim", 0) > 0:
        raise UsageError("usage", f"it is a whole number, not {type(value).__name__}", name, "")
    number = value.__index__()
    if not least <= number <= most:
        raise UsageError("usage", f"it is from {least} to {most}, not {number}", name, "")
    return number


def real(value, name):
    """A number, of Python or NumPy."""
    if is_truth(value) or isinstance(value, (str, bytes)) or not hasattr(value, "__float__") or getattr(value, "ndim", 0) > 0:
        raise UsageError("usage", f"it is a number, not {type(value).__name__}", name, "")
    return float(value)


def truth(value, name):
    if not is_truth(value):
        raise UsageError("usage", f"it is True or False, not {value!r:.80}", name, "")
    return bool(value)


def text(value, name):
    if not isinstance(value, str):
        raise UsageError("usage", f"it is text, not {type(value).__name__}", name, "")
    if not value.isprintable():
        raise UsageError("usage", f"it is text, not {value!r:.80}", name, "")
    return value


def thread_count(value, name="threads"):
    """0 for one a core."""
    return whole(value, name, 0, 4096)


def names(value, name):
    """One name or several, as a list."""
    listed = [value] if isinstance(value, str) else value
    if not hasattr(listed, "__iter__"):
        raise UsageError("usage", f"it is a name or a list of names, not {type(value).__name__}", name, "")
    return [text(one, name) for one in listed]


def shown(name, options, kinds):
    """An object of these options as it would be made: those that are not as they are where nothing is said."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items() if value != kinds[key][0])})"


def set_options(made, kinds, given, function):
    """Sets members of `made`, of whose names `kinds` says (default, check), and returns all values."""
    refuse_unknown(given, kinds, function)
    values = {name: default for name, (default, _) in kinds.items()} | given
    for name in values:
        values[name] = kinds[name][0] if values[name] is None else kinds[name][1](values[name], name)
        setattr(made, name, values[name])
    return values
