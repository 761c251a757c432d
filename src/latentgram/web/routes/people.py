"""The API for annotators: the work of each, their agreement, and which of two trees of a sentence is kept."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations, islice

from pydantic import BaseModel, Field

from latentgram.errors import DataError
from latentgram.web.agreement import Agreement, agreement_of, same_tree
from latentgram.web.annotations import words_in
from latentgram.web.history import Accepted, Change
from latentgram.web.operations import Operations
from latentgram.web.routes.queue import per_hour, progress_of
from latentgram.web.routes.treebank import Id
from latentgram.web.schemas import Person, Problem, Progress, Strict
from latentgram.web.session import Session

MOST = 200
"""Sentences to be decided that are sent at a time."""


class PersonItem(BaseModel):
    """What one annotator did, and what waits for him."""

    name: str
    trees: int
    words: int
    fixes: int
    agreement: float | None = Field(description="How much the parser had right before correction, in percent.")
    per_hour: float | None
    last: float | None
    waiting: int = Field(description="Sentences given to him that have no tree of his yet.")
    holds: list[tuple[str, ...]] = Field(description="The sentences that he has before him, or that come next.")


class PairItem(BaseModel):
    """How two annotators agree."""

    names: tuple[str, str]
    agreement: Agreement


class Rival(BaseModel):
    """One of the trees of a sentence."""

    id: str
    annotator: str
    time: float
    tree: str
    place: str


class Dispute(BaseModel):
    """A sentence with different trees by different people."""

    sentence: str
    words: tuple[str, ...]
    trees: list[Rival]


class PeopleAnswer(BaseModel):
    """All annotators, how they agree, and what is to be decided; how far the queue is, and what nobody has yet."""

    people: list[PersonItem]
    progress: Progress
    unassigned: int
    pairs: list[PairItem]
    disputes: list[Dispute]


class SettleRequest(Strict):
    """Which tree of a sentence stays: the one of an acceptance, by its id."""

    id: Id
    sentence: str = Field(min_length=8, max_length=64)
    chosen: Id
    annotator: Person = ""


def add_people(operations: Operations, session: Session) -> None:
    """Serve what there is to know of annotators."""

    @operations.on("GET /api/people")
    def people() -> PeopleAnswer:
        """Who did how much, and how they agree on sentences that two annotated."""
        notes = session.catch_up()
        accepted = session.annotations.book.accepted()
        groups = _several(accepted)
        assigned = Counter(notes[item.key].assigned if item.key in notes else "" for item in session.queue.waiting)
        held: dict[str, list[tuple[str, ...]]] = {}
        for item in session.queue.waiting:
            if (note := notes.get(item.key)) is not None and note.leased_to_another(""):
                held.setdefault(note.holder, []).append(item.sentence.words)
        names = {each.annotator for each in accepted} | {name for name in assigned if name} | held.keys()
        differing = ((key, group) for key, group in groups.items() if _differ(session, group))
        return PeopleAnswer(
            people=[
                _person(name, accepted, assigned[name] if name else 0, held.get(name, []))
                for name in sorted(names)
            ],
            progress=progress_of(session),
            unassigned=assigned[""],
            pairs=_pairs(session, groups),
            disputes=[_dispute(session, key, group) for key, group in islice(differing, MOST)],
        )

    @operations.on("POST /api/settle")
    def settle(asked: SettleRequest) -> Problem:
        """Let one of the trees of a sentence stay; the others stay in the history."""
        group = _several(session.annotations.book.accepted()).get(asked.sentence, [])
        chosen = next((each for each in group if each.id == asked.chosen), None)
        if chosen is None:
            raise DataError("there is no such tree of this sentence")
        held = next((each for each in group if each.place == "file"), None)
        if held is not None and held.id != chosen.id:
            name = asked.annotator or session.annotator
            change = Change(asked.id, time.time(), name, "settle", chosen.id, 0, held.tree, chosen.tree)
            session.annotations.book.change(change)
        session.annotations.book.settle(asked.sentence, chosen.id)
        session.bank_changed()
        return Problem(detail=f"The tree of {chosen.annotator or 'nobody in particular'} stays.")


def _several(accepted: list[Accepted]) -> dict[str, list[Accepted]]:
    """Sentences that more than one person annotated, by their digests."""
    groups: dict[str, dict[str, Accepted]] = {}
    for each in accepted:
        if each.sentence and each.tree and each.place in ("file", "beside"):
            groups.setdefault(each.sentence, {})[each.annotator] = each
    return {key: list(group.values()) for key, group in groups.items() if len(group) > 1}


def _differ(session: Session, group: list[Accepted]) -> bool:
    first, *others = (session.annotations.parse(each.tree) for each in group)
    return not all(same_tree(first, other) for other in others)


def _person(name: str, accepted: list[Accepted], waiting: int, holds: list[tuple[str, ...]]) -> PersonItem:
    own = [each for each in accepted if each.annotator == name]
    known = [each.agreement for each in own if each.agreement is not None]
    return PersonItem(
        name=name,
        trees=len(own),
        words=sum(each.words for each in own),
        fixes=sum(each.fixes for each in own),
        agreement=sum(known) / len(known) if known else None,
        per_hour=per_hour(own),
        last=max((each.time for each in own if each.time), default=None),
        waiting=waiting,
        holds=holds,
    )


def _pairs(session: Session, groups: dict[str, list[Accepted]]) -> list[PairItem]:
    parse = session.annotations.parse
    both: dict[tuple[str, str], list[tuple[Accepted, Accepted]]] = {}
    for group in groups.values():
        for first, second in combinations(sorted(group, key=lambda each: each.annotator), 2):
            both.setdefault((first.annotator, second.annotator), []).append((first, second))
    return [
        PairItem(
            names=names,
            agreement=agreement_of([(parse(first.tree), parse(second.tree)) for first, second in pairs]),
        )
        for names, pairs in sorted(both.items())
    ]


def _dispute(session: Session, key: str, group: list[Accepted]) -> Dispute:
    trees = [
        Rival(id=each.id, annotator=each.annotator, time=each.time, tree=each.tree, place=each.place)
        for each in group
    ]
    return Dispute(sentence=key, words=words_in(session.annotations.parse(group[0].tree)), trees=trees)
