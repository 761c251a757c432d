"""Text that is wrapped at a fixed width: which lines belong to one paragraph.

A line is a paragraph, unless the text is *wrapped*: then a blank line ends a paragraph, and the lines between two
blank lines are one. The raw texts of Universal Dependencies are wrapped at 80 characters. A text is wrapped if
nearly every line that is followed by another is *full*: the first word of the next line would not have fitted into
the width, which is that of the longest line of more than one word. Sentences that stand one per line are not full,
and if they are by chance, most of them end in a full stop or the like, as wrapped lines do not. Where words are
written without spaces, text is wrapped if nearly all its lines have the same length.

Only the beginning of a text is judged, and very long paragraphs are ended behind a full stop, so that text of any
size streams through. O(characters).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise

JUDGED = 500
"""Lines at the beginning of a text that tell whether it is wrapped."""
FEWEST = 4
"""Different pairs of lines that are needed for that."""
FULL, EQUAL = 0.95, 0.8
"""The least shares of full lines, and of equally long ones where there are no spaces."""
ENDING = 0.5
"""The greatest share of lines that end as sentences do."""
WIDTHS = range(40, 201)
"""The widths that text is wrapped at."""
LONG = 1000
"""A paragraph of so many lines is ended where a line ends as a sentence does."""
_ENDS = tuple(".!?…。！？؟।")
_CLOSERS = "\"'”’»)]}」』"


def joint_of(lines: Iterable[str]) -> str | None:
    """What joins the lines of a wrapped text: a space, or nothing if it has no spaces; None for other texts.

    >>> text = "The quick brown fox jumps over the lazy dog and runs away into the dark wood behind the hill. " * 5
    >>> import textwrap
    >>> joint_of(textwrap.wrap(text, 60)), joint_of(text.split(". "))
    (' ', None)
    """
    held = [line.strip() for line in lines]
    followed = {(line, after) for line, after in pairwise(held) if line and after}
    if len(followed) < FEWEST or sum(_ends_sentence(line) for line, _ in followed) > ENDING * len(followed):
        return None
    width = max((len(line) for line in held if " " in line), default=0)
    full = sum(len(line) + 1 + len(after.split()[0]) > width for line, after in followed)
    if width in WIDTHS and full >= FULL * len(followed):
        return " "
    width = max(len(line) for line, _ in followed)
    equal = sum(len(line) == width for line, _ in followed)
    return "" if width in WIDTHS and equal >= EQUAL * len(followed) else None


def unwrapped(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The paragraphs of numbered lines, each with the number of its first line; lines of wrapped text are joined.

    >>> list(unwrapped([(1, "One line."), (2, "Another."), (3, ""), (4, "A third.")]))
    [(1, 'One line.'), (2, 'Another.'), (4, 'A third.')]
    """
    stream = iter(lines)
    first = list(islice(stream, JUDGED))
    joint = joint_of(line for _, line in first)
    parts: list[str] = []
    begin = 0
    for number, line in chain(first, stream):
        if part := line.strip():
            begin = begin if parts else number
            parts.append(part)
        if parts and (joint is None or not part or (len(parts) >= LONG and _ends_sentence(part))):
            yield begin, (joint or "").join(parts)
            parts = []
    if parts:
        yield begin, (joint or "").join(parts)


def _ends_sentence(line: str) -> bool:
    return line.rstrip(_CLOSERS).endswith(_ENDS)
