"""Charts as SVG text. Colours are CSS classes of the page, so that it has a dark mode."""

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any

from .wording import Label, fixed, minus, number, percent

WIDE = 440
LARGE = 15  # variables that fit a small heat map


def densities(row: dict[str, Any]) -> str:
    """The density of a variable before (an area) and after (a line)."""
    width, height, left, right, top, bottom = 340, 190, 24, 10, 8, 40
    grid, logarithmic = row["grid"], row["logarithmic"]
    low, high = (log10(x) if logarithmic else x for x in (grid[0], grid[-1]))
    peak = max(*row["before"], *row["after"]) or 1.0

    def x(value: float) -> float:
        place = log10(value) if logarithmic else value
        return left + (place - low) / ((high - low) or 1.0) * (width - left - right)

    def y(value: float) -> float:
        return height - bottom - value / peak * (height - top - bottom)

    def path(values: Sequence[float]) -> str:
        points = zip(grid, values, strict=True)
        return "M" + "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in points)

    floor_line = y(0)
    body = [
        f'<path class="before-area" d="{path(row["before"])}L{x(grid[-1]):.1f} {floor_line}'
        f'L{left} {floor_line}Z"/>',
        f'<path class="before-line" d="{path(row["before"])}"/>',
        f'<path class="after-line" d="{path(row["after"])}"/>',
        _line(left, floor_line, width - right, floor_line),
    ]
    ticks = _decades(low, high) if logarithmic else _ticks(low, high, 4)
    for tick in ticks:
        body.append(_line(x(tick), floor_line, x(tick), floor_line + 4))
        body.append(_text(x(tick), floor_line + 16, short(tick), "middle"))
    scale = "value (logarithmic scale)" if logarithmic else "value"
    scale += f", middle {row['middle']}\N{NO-BREAK SPACE}%" if row["middle"] < 99 else ""
    body.append(_text((left + width - right) / 2, height - 6, scale, "middle", "label"))
    body.append(_upright(14, (top + height - bottom) / 2, "density"))
    title = f"Density of {row['name']} before and after protection"
    return _svg(width, height, title, body)


def is_large(variables: int) -> bool:
    """Whether a heat map of so many variables needs more room."""
    return variables > LARGE


def heat_map(
    title: str, names: Sequence[Label], values: Sequence[Sequence[Any]], top: float
) -> str:
    """A matrix of values from -top to top. Rows have names, columns have the numbers of rows."""
    p = len(names)
    labels, width = (206, 560) if is_large(p) else (138, 360)
    side = (width - labels - 6) / max(p, 4)
    font = max(6.0, min(11.0, 0.9 * side))
    upper = font + 8
    body = []
    for i, name in enumerate(names):
        middle = upper + (i + 0.5) * side + font / 3
        label = f"{_cut(name, int((labels - 24) / (0.64 * font)))} {i + 1}"
        body.append(_text(labels - 6, middle, label, "end", size=font, full=name.full))
        body.append(
            _text(
                labels + (i + 0.5) * side,
                upper - 5,
                str(i + 1),
                "middle",
                size=min(font, 0.62 * side),
            )
        )
        for j, value in enumerate(values[i]):
            left = labels + j * side
            tip = None if is_large(p) else f"{name} and {names[j]}: {fixed(value, 3)}"
            body.append(_square(left, upper + i * side, side, value, top, tip))
            if p <= 7 and value is not None:
                strong = " strong" if abs(value) > 0.55 * top else ""
                at = left + side / 2, upper + (i + 0.5) * side + 4
                text = fixed(value, 2)
                body.append(_text(*at, text, "middle", "entry" + strong, size=min(11, side / 3)))
    bottom = upper + p * side + 10
    steps = 21
    step = 160 / steps
    for i in range(steps):
        share = 2 * i / (steps - 1) - 1
        body.append(_square(labels + i * step, bottom, step + 0.2, share * top, top, None, 8))
    for side, anchor in ((-1, "start"), (0, "middle"), (1, "end")):
        place = labels + 80 + side * 80
        body.append(_text(place, bottom + 20, minus(f"{side * top:.2g}"), anchor))
    body.append(_text(labels - 6, bottom + 8, "correlation", "end", "label"))
    return _svg(width, bottom + 26, title, body)


def bars(title: str, axis: str, rows: Sequence[tuple[Label, float]]) -> str:
    """Horizontal bars of percentages, with names on the left."""
    right, high, top = 52, 22, 4
    longest = max((len(name) for name, _ in rows), default=0)
    labels = min(max(136, 7 * longest + 12), 216)
    height = top + high * len(rows) + 42
    most = max((value for _, value in rows), default=0.0)
    ticks = _ticks(0.0, most or 1.0, 4)
    end = max(most, ticks[-1])

    def x(value: float) -> float:
        return labels + value / end * (WIDE - labels - right)

    base = top + high * len(rows) + 2
    body = []
    for tick in ticks:
        body.append(_line(x(tick), top, x(tick), base, "grid"))
        body.append(_text(x(tick), base + 15, number(tick), "middle"))
    for i, (name, value) in enumerate(rows):
        y = top + i * high
        body.append(
            _text(labels - 8, y + 15, _cut(name, (labels - 10) // 7), "end", full=name.full)
        )
        body.append(
            f'<rect class="bar" x="{labels}" y="{y + 4}" width="{max(x(value) - labels, 1):.1f}" '
            f'height="{high - 8}"><title>{escape(name.full)}: {percent(value)}</title></rect>'
        )
        body.append(_text(x(value) + 6, y + 15, percent(value), "start", "value"))
    body.append(_text((labels + WIDE - right) / 2, height - 6, axis, "middle", "label"))
    return _svg(WIDE, height, title, body)


def histogram(title: str, rows: Sequence[dict[str, int]], axes: tuple[str, str]) -> str:
    """Numbers of groups by size."""
    height, left, right, top, bottom = 240, 60, 8, 20, 44
    most = max(row["groups"] for row in rows)
    ticks = [tick for tick in _ticks(0.0, most, 4) if tick == int(tick)]
    slot = min((WIDE - left - right) / len(rows), 76.0)
    end = left + slot * len(rows)

    def y(value: float) -> float:
        return height - bottom - value / max(most, ticks[-1]) * (height - top - bottom)

    body = []
    for tick in ticks:
        body.append(_line(left, y(tick), end, y(tick), "grid"))
        body.append(_text(left - 8, y(tick) + 4, short(tick), "end"))
    every = ceil(len(rows) / 10)
    for i, row in enumerate(rows):
        low, high, groups = row["from"], row["to"], row["groups"]
        name = f"{low:,}" if low == high else f"{low:,}\N{EN DASH}{high:,}"
        middle = left + (i + 0.5) * slot
        body.append(
            f'<rect class="bar" x="{left + (i + 0.1) * slot:.1f}" y="{y(groups):.1f}" '
            f'width="{0.8 * slot:.1f}" height="{y(0) - y(groups):.1f}">'
            f"<title>{name}: {groups:,}</title></rect>"
        )
        if len(rows) <= 12 and groups:
            body.append(_text(middle, y(groups) - 5, f"{groups:,}", "middle", "value"))
        if i % every == 0:
            name = name if low == high and every == 1 else f"{low:,}"
            body.append(_text(middle, height - bottom + 16, name, "middle"))
    body.append(_line(left, y(0), end, y(0)))
    body.append(_text((left + end) / 2, height - 6, axes[0], "middle", "label"))
    body.append(_upright(14, (top + height - bottom) / 2, axes[1]))
    return _svg(WIDE, height, title, body)


def risk_map(rows: Sequence[dict[str, Any]], chosen: Sequence[dict[str, Any]]) -> str:
    """Loss against risk of several runs; the chosen ones have a ring and are always labelled."""
    width, height, left, right, top, bottom = 680, 430, 52, 16, 14, 46
    points = [row for row in rows if row["loss"] is not None and row["risk"] is not None]
    everything = [*chosen, *points]
    x_ticks, y_ticks = (
        _ticks(0.0, 1.02 * max(row[name] for row in everything) or 1.0, about, beyond=True)
        for name, about in (("loss", 7), ("risk", 6))
    )
    # No risk exceeds 100 %, but the mark at 100 % needs some room.
    x_end, y_end = x_ticks[-1], y_ticks[-1] if y_ticks[-1] < 100 else 104.0
    y_ticks = [tick for tick in y_ticks if tick <= 100]

    def x(value: float) -> float:
        return left + value / x_end * (width - left - right)

    def y(value: float) -> float:
        return height - bottom - value / y_end * (height - top - bottom)

    body = []
    for tick in x_ticks:
        body.append(_line(x(tick), top, x(tick), height - bottom, "grid"))
        body.append(_text(x(tick), height - bottom + 17, number(tick), "middle"))
    for tick in y_ticks:
        body.append(_line(left, y(tick), width - right, y(tick), "grid"))
        body.append(_text(left - 8, y(tick) + 4, number(tick), "end"))
    sizes = sorted({row["k"] for row in points})
    taken = [(x(r["loss"]) - 6, y(r["risk"]) - 6, 12.0, 12.0) for r in points]
    taken += [(x(r["loss"]) - 10, y(r["risk"]) - 10, 20.0, 20.0) for r in chosen]
    for row in points:
        tip = f"{row['method']}, k={row['k']}: loss {percent(row['loss'])}, "
        mark = _mark(x(row["loss"]), y(row["risk"]), sizes.index(row["k"]))
        body.append(f"<g>{mark}<title>{escape(tip)}risk {percent(row['risk'])}</title></g>")
    frame = (left, top, width - right, height - bottom)
    for row in chosen:
        at = x(row["loss"]), y(row["risk"])
        body.append(f'<circle class="chosen-ring" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="9"/>')
        body.append(f'<circle class="chosen" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="4.5"/>')
        body.append(_label(*at, row["method"], taken, frame, "chosen-label", True))
    for row in points:
        body.append(_label(x(row["loss"]), y(row["risk"]), row["method"], taken, frame, "point"))
    body.append(_line(left, height - bottom, width - right, height - bottom))
    body.append(_line(left, top, left, height - bottom))
    axis = "information loss in percent"
    body.append(_text((left + width - right) / 2, height - 6, axis, "middle", "label"))
    body.append(_upright(14, (top + height - bottom) / 2, "linkage risk in percent"))
    return _svg(width, height, "Risk-utility map: loss and linkage risk of each run", body)


def mark_sample(index: int) -> str:
    """The mark of the index-th k, for the legend of the risk-utility map."""
    return f'<svg class="sample" viewBox="0 0 14 14" aria-hidden="true">{_mark(7, 7, index)}</svg>'


def short(value: float) -> str:
    """A number in the short form of an axis: 1.5k, 20M."""
    for unit, letter in ((1e9, "bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit and abs(value) < 1e3 * unit:
            return minus(f"{value / unit:.4g}{letter}")
    return "0" if value == 0 else minus(f"{value:.4g}")


def _svg(width: float, height: float, title: str, body: Sequence[str]) -> str:
    return (
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width:.0f} {height:.0f}">'
        f"<title>{escape(title)}</title>{''.join(body)}</svg>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str,
    kind: str = "tick",
    size: float | None = None,
    full: str | None = None,
) -> str:
    style = f' style="font-size:{size:.1f}px"' if size else ""
    tip = f"<title>{escape(full)}</title>" if full and full != text else ""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>'
        f"{escape(text)}{tip}</text>"
    )


def _upright(x: float, y: float, text: str) -> str:
    return (
        f'<text class="label" text-anchor="middle" transform="translate({x:.1f} {y:.1f}) '
        f'rotate(-90)">{escape(text)}</text>'
    )


def _square(
    x: float,
    y: float,
    side: float,
    value: float | None,
    top: float,
    tip: str | None,
    height: float | None = None,
) -> str:
    kind = "none" if value is None else "plus" if value >= 0 else "less"
    shade = 1.0 if value is None else min(abs(value) / top, 1.0)
    inner = f"<title>{escape(tip)}</title>" if tip else ""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" '
        f'height="{height or side:.1f}" fill-opacity="{shade:.2f}">{inner}</rect>'
    )


_CORNERS: tuple[tuple[tuple[float, float], ...], ...] = (
    ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
    ((0, -6), (5.5, 4.5), (-5.5, 4.5)),
    ((0, -6), (6, 0), (0, 6), (-6, 0)),
)


def _mark(x: float, y: float, index: int) -> str:
    """A circle, square, triangle or diamond of the index-th shade."""
    kind = f"mark shade{index % 4}"
    if index % 4 == 0:
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    corners = _CORNERS[index % 4 - 1]
    points = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners)
    return f'<polygon class="{kind}" points="{points}"/>'


_SIDES = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))


def _label(
    x: float,
    y: float,
    text: str,
    taken: list[tuple[float, float, float, float]],
    frame: tuple[float, float, float, float],
    kind: str,
    always: bool = False,
) -> str:
    """A text beside a point, or farther away at the end of a line, where there is free space."""
    wide, high = (8 if always else 6.7) * len(text) + 4, 13.0
    reach = 10 if always else 6  # of the mark itself
    others = [box for box in taken if box != (x - reach, y - reach, 2.0 * reach, 2.0 * reach)]
    for gap in (9, 20, 34, 50, 70, 95):
        for across, down in _SIDES:
            far = (gap + reach - 6) * (0.75 if across and down else 1)
            left = x + across * far - wide * (1 - across) / 2
            upper = y + down * far - high * (1 - down) / 2
            fits = frame[0] <= left and left + wide <= frame[2] and frame[1] <= upper
            fits = fits and upper + high <= frame[3]
            # The line to a label far away covers small boxes, which are kept free like labels.
            end = min(max(x, left), left + wide), min(max(y, upper), upper + high)
            shares = [i / gap for i in range(6, gap, 3)] if gap > 9 else []
            line = [(x + (end[0] - x) * s - 1, y + (end[1] - y) * s - 1, 2.0, 2.0) for s in shares]
            boxes = [(left, upper, wide, high), *line]
            if fits and not any(_overlap(box, other) for box in boxes for other in others):
                taken.extend(boxes)
                anchor = {1: "start", 0: "middle", -1: "end"}[across]
                label = _text(left + wide * (1 - across) / 2, upper + 10.5, text, anchor, kind)
                return (_line(x, y, *end, "leader") if line else "") + label
    if not always:
        return ""  # the table and the tip have its name
    return _text(min(x + 12, frame[2] - wide), y + 4, text, "start", kind)


def _overlap(
    box: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    """Whether two boxes (left, top, width, height) have a point in common."""
    (a, b, c, d), (e, f, g, h) = box, other
    return a < e + g and e < a + c and b < f + h and f < b + d


def _cut(text: str, length: int) -> str:
    """A text shortened in its middle if it is too long: names often differ at the end."""
    if len(text) <= length:
        return text
    tail = length // 2
    return f"{text[: length - tail - 1]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"


def _ticks(low: float, high: float, about: int, beyond: bool = False) -> list[float]:
    """About `about` round numbers from low to high, or to the next one beyond."""
    raw = (high - low) / about
    if raw <= 0:
        return [low]
    unit = 10.0 ** floor(log10(raw))
    step = next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= raw * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    if beyond and last * step < high:
        last += 1
    return [i * step for i in range(first, last + 1)] or [low]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten between two logarithms; with fewer than two, also 2 and 5 times them."""
    powers = [10.0**i for i in range(ceil(low), floor(high) + 1)]
    if len(powers) < 2:
        return [
            m * 10.0**i
            for i in range(floor(low), ceil(high))
            for m in (1, 2, 5)
            if low <= log10(m) + i <= high
        ]
    return powers[:: ceil(len(powers) / 6)]
