"""Series of prices as tests make them."""

import datetime


def days(count, first=datetime.date(2020, 1, 1)):
    """That many days, one after the other."""
    return [first + datetime.timedelta(days=k) for k in range(count)]


def prices_text(rows=120):
    """A table of dates and closes."""
    lines = [f"{day},{100 + (k * 37) % 50}" for k, day in enumerate(days(rows))]
    return "\n".join(["date,close", *lines]) + "\n"
