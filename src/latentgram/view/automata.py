"""Pictures of deterministic automata: states in columns by their distance from the start, arrows with labels.

No layout program is needed: columns come from a breadth-first search, the order within them from the mean position
of the neighbours, and every arrow bends to its own side, so that arrows in opposite directions do not overlap.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Protocol

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.view.svg import colour, document, element, text, text_width

RADIUS = 24
COLUMN, ROW, MARGIN = 260, 150, 70
SHOWN = 0.02
"""Arrows below this probability are left out, if they are not the main way to their state."""
FAINT = 0.004
"""States visited less often than this are left out."""
LABELS = 6
"""Symbols named on an arrow, at most."""

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


class Automaton(Protocol):
    """A deterministic automaton whose states stand by how often they are visited, the initial one first."""

    @property
    def symbols(self) -> Alphabet:
        """What its arrows are labelled with."""

    @property
    def target(self) -> Ints:
        """[states, symbols] where a symbol leads, −1 where it is never taken."""

    @property
    def step(self) -> Floats:
        """[states, symbols] its probability."""

    @property
    def stop(self) -> Floats:
        """[states] probability to end."""

    @property
    def visits(self) -> Floats:
        """[states] expected number of visits in a sequence."""

    @property
    def examples(self) -> tuple[tuple[str, ...], ...]:
        """The most frequent prefixes that lead to each state."""


def draw_dfa(dfa: Automaton, title: str = "deterministic automaton") -> str:
    """The automaton as an SVG document; states show their stop probabilities, arrows their most used symbols."""
    # States stand by how often they are visited, so the faint ones are the last.
    n_states = int((dfa.visits >= FAINT).sum())
    arrows = _arrows(dfa, n_states)
    places = _places(n_states, arrows)
    right = max(x for x, _ in places)
    bottom = max(y for _, y in places)
    taken = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in places]
    drawn = [_arrow(dfa, places, source, target, symbols, taken) for (source, target), symbols in arrows.items()]
    # Labels stand above all lines.
    parts = [_marker(), *(line for line, _ in drawn), *(label for _, label in drawn)]
    parts += [_state(dfa, place, number) for number, place in enumerate(places)]
    return document(right + MARGIN + RADIUS, bottom + MARGIN + RADIUS, parts, title)


def short_names(symbols: list[str]) -> list[str]:
    """Symbols as they are written in pictures: XPOS alone where it is there.

    >>> short_names(["NOUN|NN", "PUNCT", "of^ADP|IN"])
    ['NN', 'PUNCT', 'of^IN']
    """
    return [
        "^".join([*symbol.split("^")[:-1], symbol.rsplit("^", 1)[-1].rsplit("|", 1)[-1] or symbol])
        for symbol in symbols
    ]


def _arrows(dfa: Automaton, n_states: int) -> dict[tuple[int, int], list[tuple[float, int]]]:
    """The symbols that lead from one state to another, most probable first."""
    leading: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for source in range(n_states):
        for symbol in range(len(dfa.symbols)):
            if 0 <= dfa.target[source, symbol] < n_states:
                key = (source, int(dfa.target[source, symbol]))
                leading.setdefault(key, []).append((float(dfa.step[source, symbol]), symbol))
    kept = {key: sorted(symbols, reverse=True) for key, symbols in leading.items()}
    share = {key: sum(part for part, _ in symbols) for key, symbols in kept.items()}
    main = {
        max(
            (key for key in share if key[1] == target and key[0] != target),
            key=lambda key: share[key] * dfa.visits[key[0]],
        )
        for target in {target for source, target in share if source != target}
    }
    return {key: symbols for key, symbols in kept.items() if share[key] >= SHOWN or key in main}


def _places(n_states: int, arrows: dict[tuple[int, int], list[tuple[float, int]]]) -> list[Point]:
    """The centre of every state."""
    depth = {0: 0}
    queue = deque([0])
    while queue:
        source = queue.popleft()
        for target in sorted(target for begin, target in arrows if begin == source):
            if target not in depth:
                depth[target] = depth[source] + 1
                queue.append(target)
    last = max(depth.values()) + 1
    columns: dict[int, list[int]] = {}
    for state in range(n_states):
        columns.setdefault(depth.get(state, last), []).append(state)
    height = max(len(column) for column in columns.values())
    place: dict[int, Point] = {}
    for number, key in enumerate(sorted(columns)):
        column = columns[key]
        neighbours = {
            state: [place[begin][1] for begin, end in arrows if end == state and begin in place]
            for state in column
        }
        column.sort(key=lambda state: (sum(neighbours[state]) / max(len(neighbours[state]), 1), state))
        top = MARGIN + RADIUS + (height - len(column)) * ROW / 2 + (number % 2) * ROW / 3
        for row, state in enumerate(column):
            place[state] = (MARGIN + RADIUS + number * COLUMN, top + row * ROW)
    return [place[state] for state in range(n_states)]


def _marker() -> str:
    head = element("path", d="M0,0 L8,3 L0,6 z", style="fill:#57606a;stroke:none")
    marker = element(
        "marker",
        head,
        id="head",
        markerWidth=8,
        markerHeight=6,
        refX=7,
        refY=3,
        orient="auto",
        markerUnits="userSpaceOnUse",
    )
    return element("defs", marker)


def _arrow(
    dfa: Automaton,
    places: list[Point],
    source: int,
    target: int,
    symbols: list[tuple[float, int]],
    taken: list[Box],
) -> tuple[str, str]:
    """The line of an arrow, and its label, which is added to the places taken."""
    share = sum(part for part, _ in symbols)
    names = short_names([dfa.symbols[symbol] for part, symbol in symbols if part >= share / 50][:LABELS])
    label = " ".join(names) + (" …" if len(symbols) > len(names) else "")
    full = ", ".join(f"{dfa.symbols[symbol]} {part:.3f}" for part, symbol in symbols)
    width = f"stroke-width:{1 + 4 * math.sqrt(share):.1f};opacity:{0.35 + 0.65 * math.sqrt(share):.2f}"
    if source == target:
        x, y = places[source]
        rim, far = y - RADIUS + 3, y - 78
        bend = f"M{x - 12:.1f},{rim:.1f} C{x - 42:.1f},{far:.1f} {x + 42:.1f},{far:.1f} {x + 12:.1f},{rim:.1f}"
        middle = (x, y - 66)
    else:
        bend, middle = _bend(places[source], places[target])
    line = element("path", d=bend, style=width, marker_end="url(#head)")
    return line, _label(middle, label, full, share, taken)


def _bend(begin: Point, end: Point) -> tuple[str, Point]:
    """A curve to the left of the straight way, from rim to rim, and its middle."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    distance = math.hypot(dx, dy)
    side = (dy / distance, -dx / distance)
    reach = 26 + 0.12 * distance if dx > 0 else 40 + 0.16 * distance
    control = ((begin[0] + end[0]) / 2 + reach * side[0], (begin[1] + end[1]) / 2 + reach * side[1])
    first, last = _towards(begin, control, RADIUS), _towards(end, control, RADIUS + 3)
    middle = ((first[0] + last[0]) / 4 + control[0] / 2, (first[1] + last[1]) / 4 + control[1] / 2)
    return f"M{first[0]:.1f},{first[1]:.1f} Q{control[0]:.1f},{control[1]:.1f} {last[0]:.1f},{last[1]:.1f}", middle


def _towards(begin: Point, end: Point, length: float) -> Point:
    distance = math.hypot(end[0] - begin[0], end[1] - begin[1])
    return begin[0] + (end[0] - begin[0]) * length / distance, begin[1] + (end[1] - begin[1]) * length / distance


def _box(x: float, y: float, width: float) -> Box:
    return x - width / 2, y - 10, x + width / 2, y + 8


def _is_free(box: Box, taken: list[Box]) -> bool:
    left, top, right, bottom = box
    return all(right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top for other in taken)


def _label(middle: Point, label: str, full: str, share: float, taken: list[Box]) -> str:
    """Text on a ground of its own, so that lines do not cross it, as near to the middle as nothing else stands."""
    x = middle[0]
    width = 0.8 * text_width(label) + 8
    shifts = (step * sign for step in range(0, 200, 5) for sign in (1, -1))
    y = next((y for y in (middle[1] + shift for shift in shifts) if _is_free(_box(x, y, width), taken)), middle[1])
    taken.append(_box(x, y, width))
    ground = element(
        "rect", x=x - width / 2, y=y - 10, width=width, height=18, rx=4, style="fill:#fff;opacity:.85;stroke:none"
    )
    return ground + text(
        x,
        y + 3,
        label,
        f"{full} (together {share:.2f})",
        style=f"font-size:11px;fill:{colour(share)}",
        class_="plate",
    )


def _state(dfa: Automaton, place: Point, number: int) -> str:
    x, y = place
    stop = float(dfa.stop[number])
    ring = element(
        "circle",
        cx=x,
        cy=y,
        r=RADIUS,
        style=f"fill:#fff;stroke:{colour(stop)};stroke-width:{1.5 + 4 * stop:.1f}",
    )
    after = "the beginning" if number == 0 else "after " + "; ".join(dfa.examples[number])
    # On a white disc in any light.
    shown = "I" if number == 0 else str(number)
    name = text(x, y + 1, shown, f"{after}; visits {dfa.visits[number]:.3f}", class_="plate", style="fill:#1b1f24")
    return ring + name + text(x, y + 15, f"{stop:.2f}", class_="small plate", style="fill:#57606a")
