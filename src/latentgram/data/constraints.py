"""`Constraints`: what is known about the structure of a sentence before it is parsed.

A span is (first word, one past the last word) or (first, end, label), with words counted from 0. In a constituency
tree it refers to the nodes of the treebank tree, including tags and the labels of unary chains; a required span
without a label says that its words form a constituent, which in a dependency tree means that exactly one of them
has its head outside the span. Tags are given by word, counted from 0. Heads are those of CoNLL-U: words are
counted from 1, and 0 is the root.

Contradictions are found and named here, in O(k log k) for k constraints; constraints that no tree of a grammar
satisfies are found in parsing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TypeGuard, TypeVar

import numpy as np

from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import PathLike, check_text, read_blocks, whole_number
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import DataError

Span = tuple[int, int, str | None]
"""First word, one past the last, and the label (None: any)."""
Spans = Iterable[Sequence[int | str | None]]
Tags = Mapping[int, str] | Iterable[tuple[int, str]]
Heads = Mapping[int, int] | Iterable[tuple[int, int]]
"""What is taken for spans, tags and heads; everything is checked, for it may come from a file."""
Value = TypeVar("Value", str, int)
Interval = TypeVar("Interval", Span, tuple[int, int])
LONGEST_SHOWN = 80
"""Characters of a faulty value that a message shows."""


@dataclass(frozen=True)
class Constraints:
    """Required and forbidden parts; made by `of`, and free of contradictions.

    >>> known = Constraints.of(spans=[(0, 2, "NP")], forbidden_spans=[(1, 3)], tags={2: "VB"})
    >>> known.spans, known.tags
    (((0, 2, 'NP'),), ((2, 'VB'),))
    >>> Constraints.of(spans=[(0, 2), (1, 4)])
    Traceback (most recent call last):
    latentgram.errors.DataError: the required spans (0, 2) and (1, 4) cross
    """

    spans: tuple[Span, ...] = ()
    forbidden_spans: tuple[Span, ...] = ()
    tags: tuple[tuple[int, str], ...] = ()
    forbidden_tags: tuple[tuple[int, str], ...] = ()
    heads: tuple[tuple[int, int], ...] = ()
    forbidden_heads: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls,
        *,
        spans: Spans = (),
        forbidden_spans: Spans = (),
        tags: Tags = (),
        forbidden_tags: Tags = (),
        heads: Heads = (),
        forbidden_heads: Heads = (),
    ) -> Constraints:
        """Constraints from lists of spans, and mappings or lists of pairs for tags and heads."""
        return cls(
            tuple(sorted({_span(span) for span in spans}, key=_order)),
            tuple(sorted({_span(span) for span in forbidden_spans}, key=_order)),
            tuple(sorted(set(_pairs(tags, str, "tag")))),
            tuple(sorted(set(_pairs(forbidden_tags, str, "tag")))),
            tuple(sorted(set(_pairs(heads, int, "head")))),
            tuple(sorted(set(_pairs(forbidden_heads, int, "head")))),
        )

    @classmethod
    def read(cls, value: object) -> Constraints:
        """Constraints from the object of a JSON document, with the arguments of `of` as its keys."""
        known = {field.name for field in fields(cls)}
        if not isinstance(value, dict) or not known.issuperset(value):
            unknown = sorted(set(value) - known) if isinstance(value, dict) else [value]
            raise DataError(f"{_told(unknown[0])} is not a constraint; known: {', '.join(sorted(known))}")
        for name, parts in value.items():
            if not isinstance(parts, list | tuple | dict) or (isinstance(parts, dict) and "spans" in name):
                raise DataError(f"{name} must be a list, got {_told(parts)}")
        checked: Callable[..., Constraints] = cls.of  # which looks at every part itself
        return checked(**value)

    def __post_init__(self) -> None:
        for left, right in _crossings(self.spans):
            raise DataError(f"the required spans {_shown(left)} and {_shown(right)} cross")
        forbidden = set(self.forbidden_spans)
        for span in self.spans:
            for clash in (span, (*span[:2], None)):
                if clash in forbidden:
                    raise DataError(f"the span {_shown(span)} is required, but {_shown(clash)} is forbidden")
        _check_pairs(self.tags, self.forbidden_tags, "tag")
        _check_pairs(self.heads, self.forbidden_heads, "head")
        _check_heads(dict(self.heads))

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def fit(self, length: int) -> None:
        """Raise an error if a constraint is about a word beyond the end of the sentence."""
        for span in (*self.spans, *self.forbidden_spans):
            if span[1] > length:
                raise DataError(f"the span {_shown(span)} ends after the {length} words of the sentence")
        for word, tag in (*self.tags, *self.forbidden_tags):
            if word >= length:
                raise DataError(f"there is no word {word} for the tag {tag}: words are 0 to {length - 1}")
        for word, head in (*self.heads, *self.forbidden_heads):
            if max(word, head) > length:
                raise DataError(f"word {word} cannot have the head {head}: words are 1 to {length}, the root is 0")

    def __str__(self) -> str:
        named = ((field.name.replace("_", " "), getattr(self, field.name)) for field in fields(self))
        return "; ".join(f"{name} {', '.join(map(_shown, values))}" for name, values in named if values)

    def obeyed_by(self, tree: Tree | DependencyTree) -> bool:
        """Whether a tree satisfies them. A tag may be the fine or the coarse one; labelled spans are ignored for
        dependency trees.

        >>> from latentgram.data.brackets import parse_tree
        >>> tree = parse_tree("(S (NP (DT the) (NN dog)) (VBZ barks))")
        >>> Constraints.of(spans=[(0, 2)]).obeyed_by(tree), Constraints.of(tags={1: "VB"}).obeyed_by(tree)
        (True, False)
        """
        sentence = tree.sentence
        tags = {*enumerate(sentence.xpos or ()), *enumerate(sentence.upos or ())}
        if not tags.issuperset(self.tags) or tags.intersection(self.forbidden_tags):
            return False
        if isinstance(tree, DependencyTree):
            arcs = set(enumerate(tree.heads, 1))
            units = {span for span in (*self.spans, *self.forbidden_spans) if _is_unit(span, tree.heads)}
            return (
                arcs.issuperset(self.heads)
                and not arcs.intersection(self.forbidden_heads)
                and units.issuperset(span for span in self.spans if span[2] is None)
                and not units.intersection(span for span in self.forbidden_spans if span[2] is None)
            )
        there: set[Span] = {(first, end, label) for label, first, end in tree.spans()}
        there |= {(first, end, None) for first, end, _ in there}
        return there.issuperset(self.spans) and not there.intersection(self.forbidden_spans)


def partial_brackets(text: str) -> tuple[Sentence, Constraints]:
    r"""A sentence in which `[` or `[NP` opens a required span and `]` closes it; `\[` is a plain bracket.

    >>> sentence, known = partial_brackets("The [NP old man ] [ the boat ] .")
    >>> sentence.words, known.spans
    (('The', 'old', 'man', 'the', 'boat', '.'), ((1, 3, 'NP'), (3, 5, None)))
    """
    words: list[str] = []
    open_: list[tuple[int, str | None]] = []
    spans: list[Span] = []
    for token in text.split():
        if token.startswith("["):
            open_.append((len(words), token[1:] or None))
        elif token == "]":
            if not open_:
                raise DataError(f"the ] after {len(words)} words has no matching [")
            first, label = open_.pop()
            spans.append((first, len(words), label))
        else:
            words.append(token[1:] if token in (r"\[", r"\]") or token.startswith(r"\[") else token)
    if open_:
        raise DataError(f"the [ before word {open_[-1][0] + 1} is never closed")
    return Sentence(tuple(words)), Constraints.of(spans=spans)


def read_constraints(path: PathLike, *, bad: list[DataError] | None = None) -> Iterator[Constraints | None]:
    """The constraints of a file of JSON lines, one per sentence; an empty line has none.

    A faulty line raises, unless `bad` is given: then it yields None and its error is appended there.
    """
    for number, line in _lines(path):
        try:
            check_text(line, path, number)
            yield Constraints.read(json.loads(line, object_pairs_hook=_object)) if line.strip() else Constraints()
            continue
        except json.JSONDecodeError as error:
            fault = DataError(f"not JSON: {error.msg}", path=path, line=number, column=error.colno)
        except DataError as error:
            fault = DataError(error.message, path=path, line=number, column=error.column)
        except ValueError:  # of more digits than Python turns into a number
            fault = DataError("a number is too long", path=path, line=number)
        except RecursionError:
            fault = DataError("it is nested too deeply", path=path, line=number)
        if bad is None:
            raise fault
        bad.append(fault)
        yield None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON, whose names must differ: of equal ones only the last would be kept."""
    value: dict[str, object] = {}
    for name, part in pairs:
        if name in value:
            raise DataError(f"{_told(name)} occurs twice")
        value[name] = part
    return value


def _lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """The numbered lines of a file, those that are not UTF-8 too: each stands for a sentence."""
    for first, text in read_blocks(path, lenient=True):
        yield from enumerate(text.removesuffix("\n").split("\n"), first)


def _span(parts: object) -> Span:
    if not isinstance(parts, tuple | list) or len(parts) not in (2, 3):
        raise DataError(f"a span is (first, end) or (first, end, label), not {_told(parts)}")
    first, end, label = (*parts, None)[:3]
    if not _is_number(first) or not _is_number(end):
        raise DataError(f"a span is (first, end) or (first, end, label), not {_told(parts)}")
    if not (label is None or _is_text(label)):
        raise DataError(f"the label of a span is a string, not {_told(label)}")
    if not 0 <= first < end:
        raise DataError(f"the span {_shown((first, end, label))} is empty or begins before the sentence")
    return first, end, label


def _is_number(value: object) -> TypeGuard[int]:
    """Whether something is a whole number; truth values are not, though Python counts with them."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_text(value: object) -> TypeGuard[str]:
    """Whether something is a string that can be written: JSON can name halves of characters."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _told(value: object) -> str:
    """A faulty value as a message shows it, not all of it if it is long."""
    try:
        shown = repr(value)
    except (RecursionError, ValueError):
        return "something too large to show"
    shown = shown.encode("ascii", "backslashreplace").decode() if not _is_text(shown) else shown
    return _cut(shown)


def _order(span: Span) -> tuple[int, int, str]:
    return span[0], span[1], span[2] or ""


def _pairs(
    pairs: Mapping[int, Value] | Iterable[tuple[int, Value]], kind: type[Value], name: str
) -> Iterator[tuple[int, Value]]:
    for pair in pairs.items() if isinstance(pairs, Mapping) else pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise DataError(f"a {name} needs a word and a value, got {_told(pair)}")
        word, value = pair
        if isinstance(word, str):  # as the keys of JSON are
            word = whole_number(word) if whole_number(word) is not None else word
        least = 1 if name == "head" else 0
        fine = _is_text(value) if kind is str else _is_number(value) and value >= 0
        if not _is_number(word) or word < least or not fine:
            raise DataError(
                f"{_told(value)} is not a {name} of a word {_told(word)}; words are counted from {least}"
            )
        yield word, value


def _check_pairs(
    required: tuple[tuple[int, Value], ...], forbidden: tuple[tuple[int, Value], ...], name: str
) -> None:
    for (word, value), (same, other) in pairwise(sorted(required)):
        if word == same:
            raise DataError(f"word {word} cannot have two {name}s, {value} and {other}")
    for word, value in sorted(set(required).intersection(forbidden)):
        raise DataError(f"the {name} {value} of word {word} is both required and forbidden")


def _check_heads(heads: dict[int, int]) -> None:
    roots = [word for word, head in heads.items() if head == 0]
    if len(roots) > 1:
        raise DataError(f"words {roots[0]} and {roots[1]} cannot both be the root")
    done: set[int] = set()  # words from which the required heads lead to an end
    for start in heads:
        way: set[int] = set()
        word = start
        while word in heads and word not in done:
            if word in way:
                raise DataError(f"the required heads form a cycle at word {word}")
            way.add(word)
            word = heads[word]
        done.update(way)
    for (first, end), (later, last) in _crossings((min(arc), max(arc)) for arc in heads.items()):
        raise DataError(f"the required arcs between {first} and {end} and between {later} and {last} cross")


def _crossings(parts: Iterable[Interval]) -> Iterator[tuple[Interval, Interval]]:
    """Pairs of intervals of which each begins or ends within the other; there is one if any two are such.

    From left to right, the longer first: those that are open are nested, so that the last has the first end.
    """
    open_: list[Interval] = []
    for part in sorted(parts, key=lambda part: (part[0], -part[1])):
        while open_ and open_[-1][1] <= part[0]:
            open_.pop()
        if open_ and open_[-1][1] < part[1]:
            yield open_[-1], part
        open_.append(part)


def _is_unit(span: Span, heads: tuple[int, ...]) -> bool:
    inside = range(span[0] + 1, span[1] + 1)
    return sum(heads[word - 1] not in inside for word in inside) == 1


def _shown(part: Iterable[object]) -> str:
    return "(" + ", ".join(_cut(str(each)) for each in part if each is not None) + ")"


def _cut(text: str) -> str:
    """A text as a message shows it, not all of it if it is long."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
