"""Line plots as SVG: a few series of points, axes with round numbers, a legend. Enough for curves in reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from latentgram.evaluate.calibration import Calibration
from latentgram.view.svg import document, element, line, text

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 62, 190, 34, 52
COLOURS = ("#1e68a0", "#c43c1a", "#2f7d32", "#7b4fa3", "#a36a00", "#00798c", "#b0366f", "#5b6b00", "#57606a")

Points = Sequence[tuple[float, float]]


def line_plot(series: Mapping[str, Points], *, title: str, x_label: str, y_label: str) -> str:
    """Each series as a line with marks; one with a single point is drawn across the whole width.

    >>> line_plot({"a": [(1, 2), (3, 4)]}, title="t", x_label="x", y_label="y")[:4]
    '<svg'
    """
    points = [(x, y) for of in series.values() for x, y in of if math.isfinite(y)]
    x_ticks = round_numbers(min(x for x, _ in points), max(x for x, _ in points))
    y_ticks = round_numbers(min(y for _, y in points), max(y for _, y in points))
    (x_low, x_high), (y_low, y_high) = (x_ticks[0], x_ticks[-1]), (y_ticks[0], y_ticks[-1])

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - (y - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM),
        )

    parts = [text((LEFT + WIDTH - RIGHT) / 2, 20, title)]
    for x in x_ticks:
        parts.append(line(*at(x, y_low), *at(x, y_high), style="opacity:.15"))
        parts.append(text(at(x, y_low)[0], HEIGHT - BOTTOM + 17, f"{x:g}", class_="small"))
    for y in y_ticks:
        parts.append(line(*at(x_low, y), *at(x_high, y), style="opacity:.15"))
        parts.append(text(LEFT - 20, at(x_low, y)[1] + 4, f"{y:g}", class_="small"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_label))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(16, middle, y_label, transform=f"rotate(-90 16 {middle:g})"))
    for number, (name, of) in enumerate(series.items()):
        shade = COLOURS[number % len(COLOURS)]
        whole = [(x, y) for x, y in of if math.isfinite(y)]
        dashed = ";stroke-dasharray:6 4" if len(whole) == 1 or number >= len(COLOURS) else ""
        places = [at(x, y) for x, y in whole]
        if len(whole) == 1:
            places = [at(x_low, whole[0][1]), at(x_high, whole[0][1])]
        path = " L".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(element("path", d=f"M{path}", style=f"stroke:{shade};stroke-width:2{dashed}"))
        if len(whole) > 1:
            parts += [element("circle", cx=x, cy=y, r=3, style=f"fill:{shade}") for x, y in places]
        row = TOP + 8 + 20 * number
        side = WIDTH - RIGHT + 14
        parts.append(line(side, row, side + 22, row, style=f"stroke:{shade};stroke-width:2{dashed}"))
        parts.append(element("text", escape(name), x=side + 28, y=row + 4, class_="small"))
    return document(WIDTH, HEIGHT, parts, title)


@dataclass(frozen=True)
class Curves:
    """Series of points, displayed as a plot in notebooks.

    >>> Curves({"F1": [(1, 80.0), (2, 84.5)]}, "learning", "iteration", "F1")._repr_svg_()[:4]
    '<svg'
    """

    series: Mapping[str, Points]
    title: str
    x_label: str
    y_label: str

    def _repr_svg_(self) -> str:
        return line_plot(self.series, title=self.title, x_label=self.x_label, y_label=self.y_label)


class CurvesByName(dict[str, Curves]):
    """Plots by name, displayed under each other in notebooks.

    >>> CurvesByName(F1=Curves({"F1": [(1, 80.0), (2, 84.5)]}, "learning", "iteration", "F1"))._repr_html_()[:4]
    '<svg'
    """

    def _repr_html_(self) -> str:
        return "".join(curves._repr_svg_() for curves in self.values())


def trace_curves(trace: Sequence[Mapping[str, float]]) -> CurvesByName:
    """What was recorded while a model was learned, a picture for each name that has two finite numbers or more.

    >>> list(trace_curves([{"round": 1, "bound": -9.0, "lifted": 3}, {"round": 2, "bound": -8.0}]))
    ['bound']
    """
    names = dict.fromkeys(name for record in trace for name in record if name != "round")
    points = {
        name: [
            (float(record.get("round", step)), float(record[name]))
            for step, record in enumerate(trace, 1)
            if math.isfinite(record.get(name, math.nan))
        ]
        for name in names
    }
    return CurvesByName(
        (name, Curves({name: row}, f"{name} while learning", "iteration", name))
        for name, row in points.items()
        if len(row) > 1
    )


def round_numbers(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers that span an interval.

    >>> round_numbers(1, 15), round_numbers(62.3, 81.1)
    ([0.0, 5.0, 10.0, 15.0], [60.0, 65.0, 70.0, 75.0, 80.0, 85.0])
    """
    if low == high:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / about
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(size * scale for size in (1, 2, 5, 10) if size * scale >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(k * step, 10) for k in range(first, last + 1)]


def reliability_plot(
    calibration: Calibration, title: str = "Predicted probability and frequency of correct answers"
) -> str:
    """How often predictions of each probability were correct; on the diagonal, just as often as predicted."""
    points = [(bin.probability / bin.count, bin.right / bin.count) for bin in calibration.bins if bin.count]
    return line_plot(
        {f"observed (error {calibration.error:.1f} %)": points, "perfect calibration": [(0.0, 0.0), (1.0, 1.0)]},
        title=title,
        x_label="predicted probability",
        y_label="proportion correct",
    )
