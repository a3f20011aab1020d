"""Numbers as text for people."""


def number_text(value: float | str) -> str:
    """A number with about three digits. Whole numbers and texts stay as they are."""
    if isinstance(value, str):
        return value
    if float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3g}"


def interval_text(interval: tuple[float, float] | None) -> str:
    """An interval as "low to high", or "" for None."""
    return "" if interval is None else f"{number_text(interval[0])} to {number_text(interval[1])}"
