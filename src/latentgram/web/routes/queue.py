"""The API for the queue: what is waiting, what to do next, and annotators' notes on sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, pairwise
from typing import Annotated

from pydantic import BaseModel, Field

from latentgram.data.conllu import to_conllu
from latentgram.web import schemas
from latentgram.web.annotations import sentence_key
from latentgram.web.desk import Note
from latentgram.web.history import Accepted
from latentgram.web.operations import Operations
from latentgram.web.schemas import Person, Progress, Strict, Word
from latentgram.web.session import Session
from latentgram.web.waiting import Order, Waiting

PAUSE = 600.0
"""Seconds between two acceptances that count as work; what is longer is a break."""
LATELY = 50
"""Acceptances that the speed is told from."""

Client = Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9_-]*$")]


class NoteAnswer(BaseModel):
    """What annotators said of a sentence."""

    skipped: bool = False
    flag: bool = False
    comment: str = ""
    assigned: str = ""
    taken: bool = Field(default=False, description="Whether somebody else has it before him now.")
    holder: str = Field(default="", description="Who that is, if he gave his name.")


class QueueItem(BaseModel):
    """A sentence that waits for its tree."""

    number: int
    words: tuple[str, ...]
    xpos: tuple[str, ...] | None
    upos: tuple[str, ...] | None
    space_after: tuple[bool, ...] | None
    entropy: float | None
    source: str | None = Field(None, description="The rows of CoNLL-U that it came from, with all they hold.")
    note: NoteAnswer = NoteAnswer()
    double: bool = Field(False, description="Whether two people annotate it.")
    second: bool = Field(False, description="Whether somebody else has annotated it already.")


class QueueAnswer(BaseModel):
    """A part of the queue."""

    waiting: int
    scored: int
    items: list[QueueItem]
    progress: Progress


class TakeRequest(Strict):
    """Ask for the next sentence, or for one by its number; it is kept for this client for a while."""

    client: Client = ""
    annotator: Person = ""
    order: Order = "uncertain"
    without: list[int] = Field([], max_length=50, description="Numbers that are not wanted now.")
    number: int | None = Field(None, ge=0, description="This one and no other, unless somebody has it.")


class TakeAnswer(BaseModel):
    """The next sentence, if there is one; if somebody has the one that was asked for, what is noted of that."""

    item: QueueItem | None
    held: NoteAnswer | None = None
    progress: Progress


class NoteRequest(Strict):
    """What to note of a sentence; what is not given stays as it is."""

    words: list[Word] = Field(min_length=1, max_length=schemas.MAX_WORDS)
    skipped: bool | None = None
    flag: bool | None = None
    comment: str | None = Field(None, max_length=2000)
    assigned: Person | None = None


class AssignRequest(Strict):
    """Give out sentences: to some people in turn, so many of those that nobody is to do yet."""

    people: list[Annotated[Person, Field(min_length=1)]] = Field(min_length=1, max_length=100)
    count: int = Field(ge=1, le=schemas.MAX_QUEUE)
    order: Order = "uncertain"


def add_queue(operations: Operations, session: Session) -> None:
    """Serve the queue."""

    @operations.on("GET /api/queue")
    def queue(
        order: Order = "uncertain",
        offset: Annotated[int, Field(ge=0, le=schemas.MAX_QUEUE)] = 0,
        limit: Annotated[int, Field(ge=1, le=200)] = 50,
        client: Client = "",
        annotator: Person = "",
    ) -> QueueAnswer:
        """Sentences that wait for a tree: the most uncertain first, mixed, or in the order of the file."""
        notes = session.catch_up()
        waiting = session.queue.listed(order, annotator)
        waiting.sort(key=lambda item: _is_for_others(notes.get(item.key), annotator))
        items = [_queued(session, item, notes.get(item.key), client) for item in waiting[offset : offset + limit]]
        return QueueAnswer(
            waiting=len(waiting), scored=scored(waiting), items=items, progress=progress_of(session)
        )

    @operations.on("POST /api/queue")
    def add(asked: schemas.TextRequest) -> QueueAnswer:
        """Put the sentences of a text into the queue."""
        session.queue.add(session.cut(asked.text, asked.tokenised))
        waiting = session.queue.waiting
        return QueueAnswer(waiting=len(waiting), scored=scored(waiting), items=[], progress=progress_of(session))

    @operations.on("POST /api/queue/take")
    def take(asked: TakeRequest) -> TakeAnswer:
        """The next sentence for an annotator, which nobody else is given meanwhile."""
        notes = session.catch_up()
        annotator = asked.annotator or session.annotator
        session.queue.check(asked.number)
        wanted = [] if asked.number is None else [session.queue.items[asked.number]]
        held = None
        for item in wanted or session.queue.listed(asked.order, annotator):
            note = notes.get(item.key) or Note(item.key)
            others = item.number in asked.without or note.skipped or note.assigned not in ("", annotator)
            if not wanted and (others or note.leased_to_another(asked.client)):
                continue
            note = session.desk.take(item.key, asked.client, annotator)
            if not note.leased_to_another(asked.client):
                return TakeAnswer(item=_queued(session, item, note, asked.client), progress=progress_of(session))
            held = noted(note, asked.client) if wanted else None
        return TakeAnswer(item=None, held=held, progress=progress_of(session))

    @operations.on("POST /api/queue/assign")
    def assign(asked: AssignRequest) -> dict[str, int]:
        """Give the next sentences that nobody is to do yet to some people in turn; how many each has got."""
        notes = session.catch_up()
        free = [item.key for item in session.queue.listed(asked.order, "") if _is_free(notes.get(item.key))]
        assigned = dict(zip(free[: asked.count], cycle(asked.people), strict=False))
        session.desk.assign(assigned)
        return {name: sum(each == name for each in assigned.values()) for name in dict.fromkeys(asked.people)}

    @operations.on("POST /api/note")
    def note(asked: NoteRequest) -> NoteAnswer:
        """Skip or flag a sentence, comment on it, or give it to somebody; with nothing to note, what is noted."""
        fields, key = asked.model_dump(exclude={"words"}, exclude_none=True), sentence_key(tuple(asked.words))
        return noted(session.desk.set(key, **fields) if fields else session.desk.read().get(key), "")


def _is_for_others(note: Note | None, annotator: str) -> tuple[bool, bool]:
    """What was skipped comes last, and before it what somebody else is to do."""
    return (False, False) if note is None else (note.skipped, note.assigned not in ("", annotator))


def _is_free(note: Note | None) -> bool:
    return note is None or not (note.assigned or note.skipped)


def noted(note: Note | None, client: str) -> NoteAnswer:
    """What is known of a sentence, for a client."""
    if note is None:
        return NoteAnswer()
    taken = note.leased_to_another(client)
    return NoteAnswer(
        skipped=note.skipped,
        flag=note.flag,
        comment=note.comment,
        assigned=note.assigned,
        taken=taken,
        holder=note.holder if taken else "",
    )


def _queued(session: Session, item: Waiting, note: Note | None, client: str) -> QueueItem:
    sentence = item.sentence
    return QueueItem(
        number=item.number,
        words=sentence.words,
        xpos=sentence.xpos,
        upos=sentence.upos,
        space_after=sentence.space_after,
        entropy=item.entropy,
        source=None if item.source is None else to_conllu(item.source),
        note=noted(note, client),
        double=session.queue.is_double(item),
        second=bool(item.by),
    )


def scored(waiting: Sequence[Waiting]) -> int:
    """How many sentences have been looked at."""
    return sum(item.entropy is not None for item in waiting)


def progress_of(session: Session) -> Progress:
    """How far the queue is, by the speed of the last acceptances; breaks do not count."""
    total, left = len(session.queue.items), len(session.queue.waiting)
    speed = per_hour(session.annotations.history)
    return Progress(done=total - left, total=total, per_hour=speed, hours_left=speed and left / speed)


def per_hour(history: Sequence[Accepted]) -> float | None:
    """Trees accepted per hour of work; None before there are three of them.

    >>> entries = [Accepted(str(n), None, 0, 5, time=1000.0 + 60 * n) for n in range(5)]
    >>> per_hour(entries)
    60.0
    """
    times = [entry.time for entry in history if entry.time][-LATELY:]
    if len(times) < 3:
        return None
    gaps = [later - earlier for earlier, later in pairwise(times)]
    worked = [gap for gap in gaps if 0 < gap < PAUSE]
    return 3600.0 * len(worked) / sum(worked) if worked else None
