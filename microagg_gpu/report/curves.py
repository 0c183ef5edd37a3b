"""Charts of the page in the browser: loss or risk by k, and small histograms."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .svg import _line, _svg, _text, _ticks
from .wording import number, percent

Points = Mapping[str, Sequence[tuple[int, float]]]


def by_k(title: str, lines: Points, chosen: tuple[str, int], *, ceiling: bool = False) -> str:
    """Percentages by k: a line for each method, the chosen one thick, with a mark at its k.

    Parameters
    ----------
    lines : mapping
        From the name of a method to its points (k, percent), in the order of k.
    chosen : (str, int)
        A method and its k.
    ceiling : bool
        Draw 100 / k, which no linkage risk is above.
    """
    width, height, left, right, top, bottom = 420, 220, 38, 14, 22, 36
    sizes = sorted({k for points in lines.values() for k, _ in points})
    first, last = sizes[0], max(sizes[-1], sizes[0] + 1)
    peak = max([value for points in lines.values() for _, value in points] + [1.0])
    levels = _ticks(0.0, peak * 1.05, 4, beyond=True)

    def x(k: float) -> float:
        return left + (k - first) / (last - first) * (width - left - right)

    def y(value: float) -> float:
        return height - bottom - value / levels[-1] * (height - top - bottom)

    body = []
    for level in levels:
        body.append(_line(left, y(level), width - right, y(level), "grid"))
        body.append(_text(left - 6, y(level) + 4, number(level), "end"))
    step = -(-len(sizes) // 12)
    for k in sizes[::step]:
        body.append(_text(x(k), height - bottom + 16, str(k), "middle"))
    body.append(_text((left + width - right) / 2, height - 3, "k", "middle", "label"))
    body.append(_line(left, y(0), width - right, y(0)))
    for name, points in sorted(lines.items(), key=lambda pair: pair[0] == chosen[0]):
        kind = "curve chosen-curve" if name == chosen[0] else "curve"
        body.append(f'<path class="{kind}" d="{_path(points, x, y)}"><title>{escape(name)}</title>'
                    "</path>")  # fmt: skip
    if ceiling:
        steps = [first + (last - first) * i / 60 for i in range(61)]
        inside = [(k, 100 / k) for k in steps if 100 / k <= levels[-1]]
        body.append(f'<path class="ceiling" d="{_path(inside, x, y)}"/>')
        if inside:
            at = inside[0][0]
            body.append(_text(x(at) + 8, y(100 / at) + 2, "ceiling 1/k", "start", "ceiling-label"))
    value = dict(lines.get(chosen[0], ())).get(chosen[1])
    if value is not None:
        at = x(chosen[1])
        end = chosen[1] > (first + last) / 2
        body.append(_line(at, top - 8, at, y(0), "cursor"))
        body.append(f'<circle class="chosen" cx="{at:.1f}" cy="{y(value):.1f}" r="5"/>')
        side = "end" if end else "start"
        place = at + (-9 if end else 9)
        body.append(_text(place, max(y(value) - 9, 12), percent(value), side, "chosen-label"))
    said = f"{title} by k" + (f": {percent(value)} at k = {chosen[1]}" if value is not None else "")
    return _svg(width, height, said, body)


def _path(points: Sequence[tuple[float, float]], x: Any, y: Any) -> str:
    return "M" + "L".join(f"{x(k):.1f} {y(value):.1f}" for k, value in points) if points else "M0 0"


def histogram(title: str, counts: Sequence[int]) -> str:
    """A few bars, as high as the counts say."""
    width, height = 96, 26
    top = max([*counts, 1])
    each = width / max(len(counts), 1)
    heights = [max(count / top * height, 0.8) for count in counts]
    body = [
        f'<rect class="bar" x="{i * each + 0.5:.1f}" y="{height - high:.1f}" '
        f'width="{max(each - 1, 0.8):.1f}" height="{high:.1f}"/>'
        for i, high in enumerate(heights)
    ]
    return _svg(width, height, title, body)
