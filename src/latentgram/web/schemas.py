"""The JSON of requests and responses, from which the API's OpenAPI document is made.

What can be inspected in a model is defined by its family (kinds/looks.py).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from latentgram.kinds.looks import SymbolFacts

MAX_WORDS = 200
"""The longest sentence that is parsed."""
MAX_BODY = 1 << 20
"""The longest body of a request, in bytes."""
MAX_QUEUE = 5000
"""Sentences in the queue, at most."""
MAX_TREE = 100_000
"""Characters of the text of a tree, at most."""
MAX_TREES = 20
"""Trees of an n-best list, at most."""

Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\S+$")]
Label = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\s()]+$")]
Number = Annotated[str, Field(pattern=r"^[0-9]{1,3}$")]
"""An index as a key of JSON."""
Index = Annotated[int, Field(ge=0, le=MAX_WORDS)]


Person = Annotated[str, Field(max_length=60, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$")]
"""The name of an annotator."""
TreeText = Annotated[str, Field(min_length=1, max_length=MAX_TREE, pattern=r"^[^\x7f-\x9f\u2028\u2029]*$")]
"""The text of a tree, without what ends lines in some programs and not in others."""


Kind = Literal["constituency", "dependency"]
"""What kind of trees there are."""


class Strict(BaseModel):
    """A part of a request: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What is wrong, in one sentence for people."""

    detail: str


Spans = list[tuple[Index, Index] | tuple[Index, Index, Label | None]]
Tags = list[tuple[Index, Label]] | dict[Number, Label]
Heads = list[tuple[Index, Index]] | dict[Number, Index]


class Fixes(Strict):
    """What is known of the tree: words are counted from 0 in spans and tags, from 1 in heads (0 is the root).

    This is a line of the file that `latentgram parse --constraints` reads.
    """

    spans: Spans = []
    forbidden_spans: Spans = []
    tags: Tags = []
    forbidden_tags: Tags = []
    heads: Heads = []
    forbidden_heads: Heads = []


class TextRequest(Strict):
    """Text, cut into sentences and words as `latentgram parse` does."""

    text: str = Field(min_length=1, examples=["He doesn't sleep. She does."])
    tokenised: bool = Field(False, description="Whether it is one sentence per line, words separated by spaces.")


class CutSentence(BaseModel):
    """The words of a sentence, and whether a blank stood behind each (None: behind all of them)."""

    words: tuple[str, ...]
    space_after: tuple[bool, ...] | None


class TextAnswer(BaseModel):
    """The sentences of a text."""

    sentences: list[CutSentence]


class Node(BaseModel):
    """A node of a constituency tree; nodes are listed parents first."""

    label: str
    first: int
    end: int
    parent: int | None
    word: str | None
    probability: float | None


class TreeAnswer(BaseModel):
    """One tree with its probabilities: `nodes`, or `heads` and `relations`."""

    nodes: list[Node] = []
    heads: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()
    rows: dict[str, tuple[str, ...]] = Field({}, description="The columns of CoNLL-U that can be corrected.")
    multiword: list[tuple[int, int, str]] = Field(
        [], description="Words written as one token: the first, one past the last, and how they are written."
    )
    confidence: list[float | None] = []
    logprob: float | None
    probability: float | None
    expected: float | None
    plain: str = Field(description="The tree as Penn brackets or CoNLL-U.")
    annotated: str = Field(description="The same with posteriors.")


class Marginal(BaseModel):
    """The posterior of a labelled span, of a tag over a word, or of an arc (`head` counted from 1, 0 the root)."""

    first: int
    end: int
    label: str | None = None
    head: int | None = None
    probability: float


class Analysis(BaseModel):
    """The trees of a sentence, best first, and the posteriors of everything that may be in one."""

    kind: Kind
    words: tuple[str, ...]
    xpos: tuple[str, ...] | None
    upos: tuple[str, ...] | None
    logprob: float | None
    entropy: float | None
    fallback: bool
    coarse: bool = Field(False, description="Whether the sentence had no time for more than a coarse tree.")
    tightened: bool = Field(False, description="Whether it is so long that its chart was pruned more tightly.")
    milliseconds: float
    trees: list[TreeAnswer]
    marginals: list[Marginal]
    tags: list[Marginal]
    relations: list[Marginal] = Field(
        [], description="The posteriors of relations, given the heads of the best tree."
    )


class Unmet(BaseModel):
    """A correction that the tree does not show, by its number in the list that was sent, and why."""

    number: int
    reason: str
    by_hand: bool = Field(description="Whether it can be made by hand, with `by_hand`.")
    against: int | None = Field(
        default=None, description="The number of an earlier correction that it contradicts."
    )


class ParseAnswer(Analysis):
    """The trees of a sentence, best first, and the posteriors of everything that may be in one."""

    version: int
    guessed_tags: bool
    unmet: list[Unmet] = []


class AcceptRequest(Strict):
    """A tree to be put into the treebank: brackets, or CoNLL-U.

    `id` is made by the client, so that a request sent twice is carried out once; `proposed` is the tree that the
    parser found before any correction, in the same format.
    """

    id: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    tree: TreeText
    proposed: TreeText | None = None
    fixes: int = Field(0, ge=0, le=1000)
    queue: int | None = Field(None, ge=0, description="The number of the sentence in the queue.")
    annotator: Person = ""
    over: Literal["add", "ask", "replace", "beside"] = Field(
        "add",
        description="Of a sentence that has a tree already keep both, ask (409), replace the old tree, or keep "
        "this one beside the treebank, as a second annotation.",
    )


class Conflict(Problem):
    """Somebody else was first: whose tree it is, and the tree."""

    id: str
    annotator: str
    time: float
    tree: str


class AcceptAnswer(BaseModel):
    """What came of it."""

    version: int
    absorbed: bool
    refitting: bool
    accepted: int
    agreement: float | None
    milliseconds: float


class Refit(BaseModel):
    """How far learning again is."""

    state: Literal["impossible", "idle", "running", "failed"]
    reason: str | None = None
    stage: str | None = None
    done: int = 0
    total: int | None = None
    seconds: float | None = None
    pending: int = 0


class Point(BaseModel):
    """One accepted tree: the share of brackets or arcs that were right before correction, and the corrections."""

    agreement: float | None
    fixes: int
    words: int


class HeldOutPoint(BaseModel):
    """Accuracy on the held-out trees, in percent (F1 or UAS), after so many acceptances."""

    version: int
    accepted: int
    score: float


class Progress(BaseModel):
    """How far the queue is, and how quickly it goes."""

    done: int
    total: int
    per_hour: float | None
    hours_left: float | None


class Status(BaseModel):
    """All that the page shows besides parses."""

    instance: str
    version: int
    kind: Kind
    summary: str
    model: str
    learner: str
    treebank: str | None
    accepted: int
    history: list[Point]
    heldout: list[HeldOutPoint] | None
    """None where there are no held-out trees."""
    refit: Refit
    queue: int
    scored: int
    phrase_labels: list[str]
    tags: list[str]
    relations: list[str]
    universal_tags: list[str]
    """The UPOS tags of Universal Dependencies."""
    needs_tags: bool
    max_words: int
    saved: bool
    warming: bool
    """Whether the parser is still being loaded: what is asked meanwhile is answered then."""
    annotator: str
    """The name given at the start; without one the page asks for it."""
    guidelines: dict[str, str]
    """Notes on labels."""
    progress: Progress


class ModelAnswer(BaseModel):
    """What the model is and what there is to look at."""

    summary: str
    learner: str
    settings: dict[str, object]
    data_size: int
    seconds: float
    symbols: list[SymbolFacts]
