"""Corrections of a tree, in the order in which they were made.

Some become constraints, and the parser finds the best tree that satisfies them: spans, tags, heads. Others are
made by hand on its tree: relations, lemmas, function tags, traces. Any correction may be made `by_hand`, and on a
tree that is to stay as it is (`base`) all are. Splitting and merging words changes the sentence; earlier
corrections are renumbered.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from latentgram.data.cleaning import plain_label
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.errors import DataError
from latentgram.kinds.protocols import AnyTree
from latentgram.web.editing import arcs
from latentgram.web.editing.phrases import Draft, stands_under
from latentgram.web.schemas import Index, Label, Strict, Word

COLUMNS = {"lemma": "lemmas", "upos": "upos", "xpos": "xpos", "feats": "feats", "misc": "misc"}
"""The columns of CoNLL-U that can be set, and their names in a `DependencyTree`."""

Part = tuple[Index, Index, Label]
Value = Annotated[str, Field(max_length=300, pattern=r"^[^\s]*$")]
"""What may stand in a column; nothing means that it is not known."""


class _Said(Strict):
    by_hand: bool = Field(False, description="Make it on the parser's tree, without asking the parser.")


class Span(_Said):
    """These words are a constituent (of this label; in place of another)."""

    kind: Literal["span"]
    first: Index
    end: Index
    label: Label | None = None
    instead: Label | None = None


class NoSpan(_Said):
    """These words are no constituent, or none of this label."""

    kind: Literal["no-span"]
    first: Index
    end: Index
    label: Label | None = None


class Attach(_Said):
    """A constituent belongs under another mother.

    `spans` and `forbidden` say the same to the parser: which constituents there are then, and which not.
    """

    kind: Literal["attach"]
    node: Part
    to: Part
    spans: list[Part] = Field([], max_length=50)
    forbidden: list[Part] = Field([], max_length=50)


class Tag(_Said):
    """The tag of a word."""

    kind: Literal["tag"]
    word: Index
    tag: Label


class Head(_Said):
    """The head of a word: counted from 1, 0 is the root."""

    kind: Literal["head"]
    word: Index
    head: Index


class NoHead(_Said):
    """What is not the head of a word."""

    kind: Literal["no-head"]
    word: Index
    head: Index


class Relation(_Said):
    """The name of the arc to a word; one that the grammar does not know is taken only `by_hand`."""

    kind: Literal["relation"]
    word: Index
    relation: Label


class Column(_Said):
    """The lemma, the tags, the features or the notes of a word."""

    kind: Literal["column"]
    word: Index
    column: Literal["lemma", "upos", "xpos", "feats", "misc"]
    value: Value


class Function(_Said):
    """The function tags and index behind a label: `SBJ`, `SBJ-1`; nothing takes them away."""

    kind: Literal["function"]
    first: Index
    end: Index
    label: Label
    function: Annotated[str, Field(max_length=40, pattern=r"^[A-Za-z0-9=-]*$")]


class Trace(_Said):
    """An empty element before a word, under a constituent; or another text for one that is there (`instead`)."""

    kind: Literal["trace"]
    at: Index
    mother: Part
    label: Label | None = None
    text: Word = "*"
    instead: Word | None = None


class NoTrace(_Said):
    """There is no empty element there."""

    kind: Literal["no-trace"]
    at: Index
    text: Word


class Coindex(_Said):
    """An empty element refers to a constituent: both get the same index."""

    kind: Literal["coindex"]
    at: Index
    text: Word
    to: Part


class Split(_Said):
    """A word is several words."""

    kind: Literal["split"]
    word: Index
    parts: list[Word] = Field(min_length=2, max_length=20)


class Merge(_Said):
    """A word and the next are one word."""

    kind: Literal["merge"]
    word: Index


Correction = Annotated[
    Span
    | NoSpan
    | Attach
    | Tag
    | Head
    | NoHead
    | Relation
    | Column
    | Function
    | Trace
    | NoTrace
    | Coindex
    | Split
    | Merge,
    Field(discriminator="kind"),
]
Numbered = list[tuple[int, Correction]]
"""Corrections with their places in the list that was sent."""


def asks(correction: Correction) -> bool:
    """Whether a correction is asked of the parser."""
    return not correction.by_hand and isinstance(correction, Span | NoSpan | Attach | Tag | Head | NoHead)


def constraints_of(corrections: Iterable[Correction]) -> Constraints:
    """What the parser is asked; contradictions raise."""
    spans: list[tuple[int, int, str | None]] = []
    forbidden: list[tuple[int, int, str | None]] = []
    tags: list[tuple[int, str]] = []
    heads: list[tuple[int, int]] = []
    no_heads: list[tuple[int, int]] = []
    for each in corrections:
        if isinstance(each, Span):
            spans.append((each.first, each.end, each.label))
            if each.instead not in (None, each.label):
                forbidden.append((each.first, each.end, each.instead))
        elif isinstance(each, NoSpan):
            forbidden.append((each.first, each.end, each.label))
        elif isinstance(each, Attach):
            spans += each.spans
            forbidden += each.forbidden
        elif isinstance(each, Tag):
            tags.append((each.word, each.tag))
        elif isinstance(each, Head):
            heads.append((each.word + 1, each.head))
        elif isinstance(each, NoHead):
            no_heads.append((each.word + 1, each.head))
    return Constraints.of(spans=spans, forbidden_spans=forbidden, tags=tags, heads=heads, forbidden_heads=no_heads)


def plainly(correction: Correction, labels: Container[str]) -> list[Correction]:
    """What a grammar without function tags is asked, and what of the correction is then made by hand.

    >>> subject = Span(kind="span", first=0, end=2, label="NP-SBJ")
    >>> [each.kind for each in plainly(subject, {"NP"})], len(plainly(subject, {"NP-SBJ"}))
    (['span', 'function'], 1)
    """

    def plain(label: str | None) -> str | None:
        if label is None or label in labels or plain_label(label) not in labels:
            return label
        return plain_label(label)

    def part(part: Part) -> tuple[int, int, str | None]:
        return part[0], part[1], plain(part[2])

    changes: dict[str, object] = {}
    for name, value in correction:
        if name in ("label", "instead"):
            changes[name] = plain(value)
        elif name in ("node", "to"):
            changes[name] = part(value)
        elif name in ("spans", "forbidden"):
            changes[name] = [part(each) for each in value]
    asked = correction.model_copy(update=changes)
    if not isinstance(correction, Span) or not isinstance(asked, Span) or correction.label == asked.label:
        return [asked]
    label, function = asked.label or "", (correction.label or "")[len(asked.label or "") :]
    tagged = Function(
        kind="function", first=asked.first, end=asked.end, label=label, function=function, by_hand=False
    )
    return [asked, tagged]


def is_met(correction: Correction, tree: AnyTree) -> bool:
    """Whether a tree shows what a correction asked of the parser: the constituents named, and where they stand."""
    obeyed = constraints_of([correction]).obeyed_by(tree)
    if isinstance(correction, Attach) and isinstance(tree, Tree):
        return obeyed and stands_under(tree, correction.node, correction.to)
    return obeyed


def unknown_names(correction: Correction, labels: Iterable[str], tags: Iterable[str]) -> str | None:
    """What a correction names that the grammar does not know, as a sentence; None where it knows all."""
    named: list[tuple[str | None, Iterable[str], str]] = []
    if isinstance(correction, Span):
        named = [(correction.label, (*labels, *tags), "label")]
    elif isinstance(correction, Tag):
        named = [(correction.tag, tags, "tag")]
    elif isinstance(correction, Relation):
        named = [(correction.relation, labels, "relation")]
    elif isinstance(correction, Column) and correction.column == "upos" and correction.value not in ("", "_"):
        return None if correction.value in set(tags) else f"{correction.value} is not a universal tag"
    for name, known, what in named:
        if name is not None and name not in set(known):
            return f"{name} is not a {what} of this grammar"
    return None


def apply(tree: AnyTree, correction: Correction) -> AnyTree:
    """A tree with a correction made by hand."""
    if isinstance(tree, Tree):
        draft = Draft.of(tree)
        _apply_to_phrases(draft, correction)
        return draft.tree()
    return _apply_to_arcs(tree, correction)


def _apply_to_phrases(draft: Draft, correction: Correction) -> None:
    match correction:
        case Span():
            _apply_span(draft, correction)
        case NoSpan(first=first, end=end, label=label):
            draft.unbracket(first, end, label)
        case Attach(node=node, to=to):
            draft.attach(node, to)
        case Tag(word=word, tag=tag):
            draft.tag(word, tag)
        case Function(first=first, end=end, label=label, function=function):
            plain = plain_label(label)
            joined = plain if not function else f"{plain}{'' if function[0] in '-=' else '-'}{function}"
            if not draft.has((first, end, joined)):
                draft.label_alike((first, end, label), joined)
        case Trace(at=at, text=text, instead=str(old)):
            draft.retrace(at, old, text)
        case Trace(at=at, mother=mother, label=label, text=text):
            draft.trace(at, mother, label or "", text)
        case Coindex(at=at, text=text, to=to):
            draft.coindex(at, text, to)
        case NoTrace(at=at, text=text):
            draft.untrace(at, text)
        case Split(word=word, parts=parts):
            draft.split(word, parts)
        case Merge(word=word):
            draft.merge(word)
        case _:
            raise DataError(f"a constituency tree has no {correction.kind}")


def _apply_span(draft: Draft, correction: Span) -> None:
    first, end, label, instead = correction.first, correction.end, correction.label, correction.instead
    if label is None:
        raise DataError("by hand a constituent needs a label")
    if instead is not None and instead != label:
        draft.label_as((first, end, instead), label)
    elif not draft.has((first, end, label)):
        draft.bracket(first, end, label)


def _apply_to_arcs(tree: DependencyTree, correction: Correction) -> DependencyTree:
    if not isinstance(correction, Head | Relation | Tag | Column | Split | Merge):
        raise DataError(f"by hand a dependency tree has no {correction.kind}")
    word = correction.word
    if not 0 <= word < len(tree):
        raise DataError(f"there is no word {word + 1} in this tree")
    match correction:
        case Head(head=head):
            if head > len(tree):
                raise DataError(f"there is no word {head} that could be the head")
            return arcs.set_head(tree, word, head)
        case Relation(relation=relation):
            return arcs.set_column(tree, word, "deprels", relation)
        case Tag(tag=tag):
            fine = any(each != "_" for each in tree.xpos)
            return arcs.set_column(tree, word, "xpos" if fine else "upos", tag)
        case Column(column=column, value=value):
            return arcs.set_column(tree, word, COLUMNS[column], value)
        case Split(parts=parts):
            return arcs.split(tree, word, parts)
        case Merge():
            return arcs.merge(tree, word)


def renumbered(correction: Correction, place: Callable[[int], int]) -> Correction:
    """A correction of words that have got other numbers; `place` gives that of a boundary between words.

    >>> renumbered(Span(kind="span", first=1, end=3, label="NP"), lambda at: at + (at > 1)).end
    4
    """

    def span(part: tuple[int, int, str]) -> tuple[int, int, str]:
        return place(part[0]), place(part[1]), part[2]

    def of_word(word: int) -> int:
        return min(place(word), place(word + 1) - 1)

    changes: dict[str, object] = {}
    for name, value in correction:
        if name in ("first", "end", "at"):
            changes[name] = place(value)
        elif name == "word":
            changes[name] = of_word(value)
        elif name == "head":
            changes[name] = value and of_word(value - 1) + 1
        elif name in ("node", "to", "mother"):
            changes[name] = span(value)
        elif name in ("spans", "forbidden"):
            changes[name] = [span(part) for part in value]
    return correction.model_copy(update=changes)


def retokenised(
    words: Sequence[str], corrections: Sequence[Correction], multiword: bool = False
) -> tuple[tuple[str, ...], Numbered, list[Split | Merge]]:
    """The words after all cuts and joins, the other corrections in terms of them, and the cuts and joins.

    The parts of a word make it up, unless it is written for several words (`multiword`).
    """
    now, others, changes = list(words), list[tuple[int, Correction]](), list[Split | Merge]()
    for number, each in enumerate(corrections):
        if not isinstance(each, Split | Merge):
            others.append((number, each))
            continue
        word = each.word
        if isinstance(each, Split):
            if word >= len(now) or not (multiword or "".join(each.parts) == now[word]):
                raise DataError(f"the parts {' '.join(each.parts)} do not make up word {word + 1}")
            now[word : word + 1] = each.parts
            more = len(each.parts) - 1
        else:
            if word + 1 >= len(now):
                raise DataError("there is no word after the last one")
            now[word : word + 2] = [now[word] + now[word + 1]]
            more = -1
        changes.append(each)

        def place(at: int, behind: int = word + (1 if more > 0 else 2), more: int = more) -> int:
            return at + more if at >= behind else at

        others = [(number, renumbered(old, place)) for number, old in others]
    return tuple(now), others, changes
