"""The API for the treebank: search, change, undo, the history, earlier decisions, export."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from latentgram.data.dependencies import DependencyTree
from latentgram.data.treebank import CONSTITUENCY
from latentgram.kinds.protocols import AnyTree
from latentgram.view.latex import latex
from latentgram.view.trees import draw
from latentgram.web.bank import Bank, Entry
from latentgram.web.desk import Note
from latentgram.web.history import Accepted
from latentgram.web.operations import Operations
from latentgram.web.routes.queue import NoteAnswer, noted
from latentgram.web.schemas import MAX_TREE, Conflict, Person, Problem, Strict, TreeText
from latentgram.web.session import Session
from latentgram.web.shown import read_tree

TreeOrder = Literal["file", "recent", "doubtful", "flagged"]
Id = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Text = Annotated[str, Field(min_length=1, max_length=MAX_TREE)]
MOST = 50_000
"""Trees that are exported at a time."""
MOST_DRAWN = 1000
"""The same as pictures."""


class TreeItem(BaseModel):
    """A tree of the treebank: its text, the words that a search found, and what is known of it."""

    number: int
    text: str
    words: tuple[str, ...]
    hits: list[tuple[int, int]] = []
    id: str | None = Field(None, description="The id of its acceptance, if it was accepted on the page.")
    annotator: str = ""
    time: float | None = None
    agreement: float | None = None
    doubt: float | None = Field(None, description="log p(tree | sentence) per word, where it is known.")
    note: NoteAnswer = NoteAnswer()


class TreesAnswer(BaseModel):
    """A part of the treebank."""

    total: int
    found: int
    scored: int
    items: list[TreeItem]


class ReplaceRequest(Strict):
    """Another tree in the place of one; the same `id` is carried out once."""

    id: Id
    number: int = Field(ge=0)
    old: Text
    tree: TreeText
    annotator: Person = ""


class DeleteRequest(Strict):
    """A tree to be taken away."""

    id: Id
    number: int = Field(ge=0)
    old: Text
    annotator: Person = ""


class UndoRequest(Strict):
    """Undo a change, or without one the last acceptance."""

    id: Id
    change: Id | None = None
    annotator: Person = ""


class UndoAnswer(Problem):
    """What was undone; and the id of the acceptance, if it was one."""

    accepted: str | None = None


class ChangeItem(BaseModel):
    """A line of the history."""

    id: str
    time: float
    annotator: str
    action: str
    number: int
    old: str
    new: str


class PastAnswer(BaseModel):
    """How the same words were analysed before: how often with each label, and how often as no constituent; and the
    same of all words with these tags, where tags were named. Of a word and its head: how often with each relation,
    and how often with another head; and with each relation and tag of a head.
    """

    labels: dict[str, int]
    none: int
    tag_labels: dict[str, int] | None = None
    tag_none: int | None = None


class ExportRequest(Strict):
    """Trees by their texts, or those that a search finds, in a format."""

    trees: list[Text] = Field([], max_length=MOST_DRAWN)
    query: str | None = Field(None, max_length=500)
    order: TreeOrder = "file"
    format: Literal["text", "json", "latex", "svg"] = "text"


class ExportAnswer(BaseModel):
    """The text of a file, how its name should end, how many trees it has, and how many there were to export."""

    content: str
    ending: str
    trees: int
    found: int


def add_treebank(operations: Operations, session: Session) -> None:
    """Serve the treebank."""
    bank = session.bank

    @operations.on("GET /api/trees")
    def trees(
        query: Annotated[str, Field(max_length=500)] = "",
        order: TreeOrder = "file",
        offset: Annotated[int, Field(ge=0, le=10**7)] = 0,
        limit: Annotated[int, Field(ge=1, le=200)] = 30,
    ) -> TreesAnswer:
        """Trees of the file, of all or of those with some words or a pattern."""
        session.doubts_wanted = session.doubts_wanted or order == "doubtful"
        notes, accepted = session.desk.read(), _accepted(session)
        found = _listed(bank, query, order, notes, accepted)
        items = [
            _item(bank, entry, hits, accepted.get(entry.text.strip()), noted(notes.get(entry.key), ""))
            for entry, hits in found[offset : offset + limit]
        ]
        return TreesAnswer(total=len(bank.entries()), found=len(found), scored=len(bank.doubts), items=items)

    @operations.on("PUT /api/trees", problems={409: (Conflict, "It has become another tree.")})
    def replace(asked: ReplaceRequest) -> Problem:
        """Put another tree in the place of one; if that has become another, that is told."""
        tree = session.annotations.parse(asked.tree)
        if bank.change(asked.id, asked.number, asked.old, tree, _name(asked, session)):
            session.bank_changed()
        return Problem(detail="It has taken the place of the old tree.")

    @operations.on("POST /api/trees/delete")
    def delete(asked: DeleteRequest) -> Problem:
        """Take a tree out of the treebank."""
        if bank.change(asked.id, asked.number, asked.old, None, _name(asked, session)):
            session.bank_changed()
        return Problem(detail="The tree was deleted; the history keeps it.")

    @operations.on("POST /api/undo")
    def undo(asked: UndoRequest) -> UndoAnswer:
        """Undo a change of the treebank, or the last acceptance."""
        told, accepted = bank.undo(asked.id, _name(asked, session), asked.change)
        session.bank_changed()
        return UndoAnswer(detail=told, accepted=accepted)

    @operations.on("GET /api/changes")
    def changes(limit: Annotated[int, Field(ge=1, le=500)] = 50) -> list[ChangeItem]:
        """What was changed in the treebank, the newest first; acceptances are not listed here."""
        rows = session.annotations.book.changes(limit)
        return [ChangeItem(**{name: getattr(row, name) for name in ChangeItem.model_fields}) for row in rows]

    @operations.on("GET /api/past", without_none=True)
    def past(
        words: Annotated[list[str], Field(min_length=1, max_length=8)],
        tags: Annotated[list[str], Field(max_length=8)] = [],  # noqa: B006
        head: Annotated[str | None, Field(max_length=200)] = None,
    ) -> PastAnswer:
        """How these words, and any words with these tags, one after the other, were analysed in the treebank; or
        how a word was attached to a head (nothing: the root).
        """
        if head is not None:
            labels, none, others = bank.past_of_arc(words[0], head)
            told = [dict(counts.most_common(8)) for counts in (labels, others)]
            return PastAnswer(labels=told[0], none=none, tag_labels=told[1])
        labels, none = bank.past(words)
        answer = PastAnswer(labels=dict(labels.most_common(8)), none=none)
        if len(tags) > 1:
            labels, none = bank.past_of_tags(tags)
            answer = answer.model_copy(update={"tag_labels": dict(labels.most_common(8)), "tag_none": none})
        return answer

    @operations.on("POST /api/export")
    def export(asked: ExportRequest) -> ExportAnswer:
        """Trees in another format."""
        phrases = session.kind == CONSTITUENCY
        texts = list(asked.trees)
        if asked.query is not None:
            found = _listed(bank, asked.query, asked.order, session.desk.read(), _accepted(session))
            texts += [entry.text for entry, _ in found]
        count, texts = len(texts), texts[: MOST_DRAWN if asked.format == "svg" else MOST]
        trees = [read_tree(text if phrases else text.strip("\n") + "\n\n", phrases) for text in texts]
        content, ending = _exported(texts, trees, asked.format, phrases)
        return ExportAnswer(content=content, ending=ending, trees=len(trees), found=count)


def _accepted(session: Session) -> dict[str, Accepted]:
    return {each.tree.strip(): each for each in session.annotations.book.accepted() if each.tree}


def _listed(
    bank: Bank, query: str, order: TreeOrder, notes: Mapping[str, Note], accepted: Mapping[str, Accepted]
) -> list[tuple[Entry, list[tuple[int, int]]]]:
    """The trees that a search finds, in an order; only those that something is noted of, if these are wanted."""
    found = bank.find(query)
    if order == "flagged":
        found = [each for each in found if (note := notes.get(each[0].key)) and (note.flag or note.comment)]
    return sorted(found, key=lambda each: _rank(order, bank, each[0], accepted))


def _name(asked: ReplaceRequest | DeleteRequest | UndoRequest, session: Session) -> str:
    return asked.annotator or session.annotator


def _rank(order: TreeOrder, bank: Bank, entry: Entry, accepted: Mapping[str, Accepted]) -> tuple[float, int]:
    if order == "recent":
        row = accepted.get(entry.text.strip())
        return -(row.time if row else 0.0), -entry.number
    if order == "doubtful":
        return bank.doubts.get(entry.text, 0.0), entry.number
    return 0.0, entry.number


def _item(
    bank: Bank, entry: Entry, hits: list[tuple[int, int]], row: Accepted | None, note: NoteAnswer
) -> TreeItem:
    return TreeItem(
        number=entry.number,
        text=entry.text,
        words=entry.words,
        hits=hits[:20],
        id=row.id if row else None,
        annotator=row.annotator if row else "",
        time=row.time if row else None,
        agreement=row.agreement if row else None,
        doubt=bank.doubts.get(entry.text),
        note=note,
    )


def _exported(texts: list[str], trees: list[AnyTree], form: str, phrases: bool) -> tuple[str, str]:
    if form == "latex":
        package = "forest" if phrases else "tikz-dependency"
        return f"% \\usepackage{{{package}}}\n" + "\n\n".join(map(latex, trees)) + "\n", "tex"
    if form == "svg":
        pictures = "\n".join(f"<figure>{draw(tree)}</figure>" for tree in trees)
        return (draw(trees[0]), "svg") if len(trees) == 1 else (f"<!doctype html>\n{pictures}\n", "html")
    if form == "json":
        return json.dumps([_as_json(tree) for tree in trees], ensure_ascii=False, indent=1), "json"
    gap = "\n" if phrases else "\n\n"
    return "".join(text.strip("\n") + gap for text in texts), "mrg" if phrases else "conllu"


def _as_json(tree: AnyTree) -> dict[str, object]:
    if isinstance(tree, DependencyTree):
        return {
            "words": tree.words,
            "heads": tree.heads,
            "deprels": tree.deprels,
            "upos": tree.upos,
            "xpos": tree.xpos,
            "lemmas": tree.lemmas,
            "feats": tree.feats,
        }
    return {"words": tree.words, "tags": tree.tags, "tree": str(tree), "spans": list(tree.spans())}
