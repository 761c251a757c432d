"""A page of SVG: escaped elements, text widths without fonts, colours for probabilities.

Drawings contain their own style, readable on light and dark backgrounds, and need nothing from the system.
"""

from __future__ import annotations

import re
import unicodedata
from xml.sax.saxutils import escape, quoteattr

FONT_SIZE = 14
"""Pixels."""

_IN = ":where(.latentgram)"
"""Rules hold inside of a drawing, wherever it stands, and give way to those of the page."""
_STYLE = (
    f"{_IN} text{{font-family:ui-sans-serif,system-ui,'Noto Sans',sans-serif;font-size:{FONT_SIZE}px}}"
    f"{_IN} text{{fill:#1b1f24}}"
    f"{_IN} line,{_IN} path{{stroke:#57606a;stroke-width:1.2;fill:none}}"
    f"{_IN} .soft{{fill:#57606a}}{_IN} .small{{font-size:11px}}"
    f"@media(prefers-color-scheme:dark){{{_IN} text{{fill:#e6edf3}}{_IN} line,{_IN} path{{stroke:#8b949e}}"
    # Colours that carry a meaning are for white; on black, but not on a plate of their own, they are too dark.
    f"{_IN} .soft{{fill:#8b949e}}{_IN} [style]:not(.plate){{filter:brightness(1.5)}}}}"
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML may have, not even escaped."""
_UNSURE, _SURE = (196, 60, 26), (30, 104, 160)


def text_width(text: str) -> float:
    """Pixels a text takes, near enough for layout.

    >>> text_width("NP") < text_width("noun phrase") and text_width("猫") > text_width("c")
    True
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return FONT_SIZE * (0.62 * (len(text) - wide) + wide)


def colour(probability: float) -> str:
    """From orange (unsure) to blue (sure), distinct to colour-blind eyes too.

    >>> colour(0.0), colour(1.0)
    ('#c43c1a', '#1e68a0')
    """
    weight = min(max(probability, 0.0), 1.0) ** 2
    mixed = (round(low + weight * (high - low)) for low, high in zip(_UNSURE, _SURE, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """One element; `content` is markup already, underscores in attribute names become hyphens.

    >>> element("line", x1=0, stroke_width=2)
    '<line x1="0" stroke-width="2"/>'
    """
    shown = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_number(value))}" for key, value in attributes.items()
    )
    return f"<{name}{shown}>{content}</{name}>" if content else f"<{name}{shown}/>"


def _number(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def text(x: float, y: float, content: str, tooltip: str = "", /, **attributes: object) -> str:
    """Centred text with an optional tooltip."""
    markup = escape(content) + (element("title", escape(tooltip)) if tooltip else "")
    return element("text", markup, x=float(x), y=float(y), text_anchor="middle", **attributes)


def line(x1: float, y1: float, x2: float, y2: float, /, **attributes: object) -> str:
    """A straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **attributes)


def document(width: float, height: float, parts: list[str], title: str) -> str:
    """A whole drawing; `title` is what a screen reader says. What XML cannot hold becomes the replacement sign."""
    head = element("title", escape(title)) + element("style", _STYLE)
    return element(
        "svg",
        _FORBIDDEN.sub("\ufffd", head + "".join(parts)),
        xmlns="http://www.w3.org/2000/svg",
        width=round(width),
        height=round(height),
        viewBox=f"0 0 {round(width)} {round(height)}",
        role="img",
        class_="latentgram",
    )
