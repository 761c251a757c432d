"""Edit scripts: how one string is made from another, in a form that also applies to unseen words.

A script changes the case of a word, removes letters at both ends and adds others there: `studies` → `study` is
"remove 3 at the end, add y". The letters that stay are the longest substring that both words share. If they share
nothing, the result is given literally. A *split* gives the words of a multiword token. If they are pieces of the
token, it contains the lengths of the pieces at both ends: `don't` → `do` + `n't` is "3 off the end", which works
for `isn’t` and `they're` as well. Otherwise it gives one word by a script and the others literally, as in
`donnez-le` → `donnez` + `le`. O(letters²) for a script, O(letters) to apply it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

SAME = "="
"""Begins a script that says its result outright."""
RECASED = "+"
"""Begins a word of a split that is said outright but for its case, which follows that of the token."""
CUTS = "~"
"""Begins a split by cuts: the lengths of the words before the stem, a bar, and the lengths of those behind it."""
_LENGTHS = r"[1-9]\d{0,8}(?: [1-9]\d{0,8})*"
_CUTS = re.compile(rf"~(?:{_LENGTHS}\|(?:{_LENGTHS})?|\|{_LENGTHS})", re.ASCII)
WHOLE = ""
"""The split of a token that is one word."""
MOST = 1 << 30
"""No script takes so many letters off."""
_FIELD, _PART = "\t", "\n"


def _titled(word: str) -> str:
    return word[:1].upper() + word[1:].lower()


def _small(word: str) -> str:
    return word.lower().replace("i\u0307", "i")  # Turkish İ has no other small letter in Unicode's table


def _kept(word: str) -> str:
    return word


CASES: dict[str, Callable[[str], str]] = {"lower": _small, "keep": _kept, "title": _titled, "upper": str.upper}
"""What may be done to the case of a word first, the usual first."""


class Edit(NamedTuple):
    """A script: case, letters off the front and what comes there, letters off the end and what comes there."""

    case: str
    front: int
    before: str
    back: int
    after: str

    def apply(self, word: str) -> str | None:
        """The result, None if the word is too short for it."""
        changed = CASES[self.case](word)
        if len(changed) < self.front + self.back:
            return None
        return (self.before + changed[self.front : len(changed) - self.back] + self.after) or None


def shared(left: str, right: str) -> tuple[int, int, int]:
    """Where the longest common string begins in both, the first such, and its length.

    >>> shared("studies", "study")
    (0, 0, 4)
    """
    best = (0, 0, 0)
    row = [0] * (len(right) + 1)
    for i, sign in enumerate(left):
        above, row = row, [0] * (len(right) + 1)
        for j, other in enumerate(right):
            if sign == other:
                row[j + 1] = above[j] + 1
                if row[j + 1] > best[2]:
                    best = (i - row[j + 1] + 1, j - row[j + 1] + 1, row[j + 1])
    return best


def script_between(word: str, result: str, cases: Sequence[str] = tuple(CASES)) -> str:
    """The script that makes a result of a word, with as few letters changed as can be.

    >>> script_between("Studies", "study").split("\\t")
    ['lower', '0', '', '3', 'y']
    >>> applied(script_between("Studies", "study"), "Cities")
    'city'
    """
    cheapest, least = f"{SAME}{result}", 0
    for case in cases:
        changed = CASES[case](word)
        begin, other, length = shared(changed, result)
        if not length:
            continue
        back = len(changed) - begin - length
        cost = begin + back + other + len(result) - other - length
        if cheapest.startswith(SAME) or cost < least:
            edit = Edit(case, begin, result[:other], back, result[other + length :])
            cheapest, least = _FIELD.join(map(str, edit)), cost
    return cheapest


def read_edit(script: str) -> Edit:
    """A script that is not said outright; ValueError if it is none."""
    case, front, before, back, after = script.split(_FIELD)
    edit = Edit(case, int(front), before, int(back), after)
    if case not in CASES or not (0 <= edit.front < MOST and 0 <= edit.back < MOST):
        raise ValueError(f"{script!r} is not an edit script")
    return edit


def applied(script: str, word: str) -> str | None:
    """What a script makes of a word, None if the word is too short."""
    return script[1:] if script.startswith(SAME) else read_edit(script).apply(word)


def shortest(script: str) -> int:
    """The length of the shortest word that a script, or a split, can be applied to."""
    edit = edit_in(script)
    return 0 if edit is None else edit.front + edit.back + (not edit.before + edit.after)


def edit_in(script: str) -> Edit | None:
    """The edit of a script, or of the one word of a split that is not said outright; None where all is."""
    if script == WHOLE:
        return Edit("keep", 0, "", 0, "")
    if script.startswith(CUTS):
        before, behind = read_cuts(script)
        return Edit("keep", sum(before), "", sum(behind), "")
    parts = (part for part in script.split(_PART) if not part.startswith((SAME, RECASED)))
    return next(map(read_edit, parts), None)


def read_cuts(split: str) -> tuple[list[int], list[int]]:
    """The lengths of the words before the stem and behind it; ValueError if it is no split by cuts."""
    if _CUTS.fullmatch(split) is None:
        raise ValueError(f"{split!r} is not a split")
    before, behind = (list(map(int, part.split())) for part in split.removeprefix(CUTS).split("|"))
    return before, behind


def is_outright(script: str) -> bool:
    """Whether a script, or a split, says everything itself, so that it serves for one word only."""
    return edit_in(script) is None


def split_between(token: str, words: Sequence[str], common: Mapping[str, int] | None = None) -> str:
    """The split that makes these words of a token.

    `common` says how often words, in lower case, stand in multiword tokens: the least common is the stem, which
    is made by a script where words are not simply pieces of the token.

    >>> split = split_between("Du", ["De", "le"])
    >>> split_of(split, "DU"), split_of(split, "du")
    (('DE', 'LE'), ('de', 'le'))
    >>> split_of(split_between("can't", ["ca", "n't"], {"n't": 9}), "won't")
    ('wo', "n't")
    >>> split_of(split_between("can't", ["ca", "n't"], {"n't": 9}), "they’re")
    ('they', '’re')
    """
    often = common or {}
    stem = min(range(len(words)), key=lambda i: (often.get(words[i].lower(), 0), -len(words[i]), i))
    if "".join(words) == token and all(words):
        before, behind = (" ".join(str(len(word)) for word in part) for part in (words[:stem], words[stem + 1 :]))
        return f"{CUTS}{before}|{behind}"
    much = 2 * shared(token, words[stem])[2] > len(words[stem])
    script = script_between(token, words[stem], ("keep",)) if much else SAME
    recased = [f"{RECASED}{word.lower()}" for word in words]
    outright = [f"{SAME}{word}" for word in words]
    for parts in (recased, outright):
        some = parts if script.startswith(SAME) else [*parts[:stem], script, *parts[stem + 1 :]]
        if split_of(_PART.join(some), token) == tuple(words):
            return _PART.join(some)
    return _PART.join(outright)


def split_of(split: str, token: str) -> tuple[str, ...] | None:
    """The words that a split makes of a token, None if the token is too short."""
    if split == WHOLE:
        return (token,)
    if split.startswith(CUTS):
        return _cut(token, *read_cuts(split))
    words: list[str] = []
    for part in split.split(_PART):
        if part.startswith(RECASED):
            words.append(_like(token, part[1:], not words))
        elif (word := applied(part, token)) is not None:
            words.append(word)
        else:
            return None
    return tuple(words)


def _cut(token: str, before: Sequence[int], behind: Sequence[int]) -> tuple[str, ...] | None:
    """A token cut in pieces, None if nothing would be left of its stem."""
    stem = len(token) - sum(before) - sum(behind)
    if stem < 1:
        return None
    ends = list(accumulate((*before, stem, *behind), initial=0))
    return tuple(token[begin:end] for begin, end in pairwise(ends))


def _like(token: str, word: str, first: bool) -> str:
    """A word in capitals if its token is, with one if it is the first of a token that has one."""
    if len(token) > 1 and token.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if first and token[:1].isupper() else word
