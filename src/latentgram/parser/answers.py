"""Sentences in, text out, batch by batch: the work of `latentgram parse`, wherever it runs.

A worker is sent a batch of sentences and returns one text, so that trees are converted to text where they are
found, and little is sent. A sentence whose constraints no tree satisfies is an error with its position: it ends
the work after the text before it, or is left out and reported.

Brackets have the posterior of a node after an `@` (`(NP@0.982 …)`), CoNLL-U in MISC (`HeadProb=`, `RelProb=` of
the relation given the head, `TagProb=`, `UposProb=`, `XposProb=` and `FeatsProb=` if a tagger gave them,
`LemmaProb=`, and `TokenProb=` and `SplitProb=` for text segmented by a model), JSON in its own fields. If the
chart was pruned, posteriors are those among the remaining trees: JSON marks each such sentence by "pruned",
and a message at the end counts them. A fallback tree is flagged in CoNLL-U and JSON.

Answers written to a file can be resumed where they stopped, without loss or repetition. A mark
(data/partial_output.py) records the number of questions answered and a digest of them all. On resuming, the input
is read again from its beginning, which costs little compared with parsing, and the digest shows that these
questions were the same; input that has grown at its end since then is accepted. Model and settings are compared by
the identity of the output. Marks are set between batches, so batches are the same as without an interruption.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from latentgram.data.conllu import to_conllu
from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import PathLike
from latentgram.data.formats import Question, read_partial, read_questions
from latentgram.data.partial_output import part_of, partial_output
from latentgram.data.tree import Tree
from latentgram.errors import DataError, NoParse, SettingError
from latentgram.kinds.result import COLUMN_MARKS, NOTES, SPLIT_MARK, TOKEN_MARK, WORD_MARKS, Parse
from latentgram.parallel import Engine, InProcess, shards
from latentgram.parser.parser import BATCH, Parser
from latentgram.view.trees import outline

_SUMMED = ("sentences", "fallbacks", "tightened", "pruned", "tagged", "untagged", "unknown_tags")
"""What a tally adds up of each batch."""
_FEW = 10
"""Numbers of sentences that are told."""
LIST_BATCH = 8
"""Sentences at a time when many trees of each are wanted."""
MOST_SENTENCES = 1 << 62
"""More than anybody can have parsed."""


@dataclass(frozen=True)
class Reading:
    """How files are read by a parser.

    >>> import tempfile
    >>> import latentgram as lg
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50), by=lg.Counting()))
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("The cats sleep. The dogs bark.")
    ...     file.flush()
    ...     [question.sentence.words for question in Reading().questions(parser, file.name)]
    [('The', 'cats', 'sleep', '.'), ('The', 'dogs', 'bark', '.')]
    """

    format: str | None = None
    """By default guessed from each file's name."""
    own_tags: bool = False
    """Whether tags of tagged text are left aside, …"""
    gold_tags: bool = False
    """… and whether those of trees are used, as they are by a parser that does not do without."""
    tokenised: bool = False
    """Whether text is in words already; else it is cut in the way of the parser."""
    partial: bool = False
    """Whether known phrases stand in square brackets."""
    constraints: PathLike | None = None

    def questions(
        self, parser: Parser, paths: PathLike | Iterable[PathLike], bad: list[DataError] | None = None
    ) -> Iterator[Question]:
        """The sentences of files, with what is known of them."""
        if self.partial:
            return read_partial(paths, bad=bad)
        return read_questions(
            paths,
            self.format,
            own_tags=self.own_tags,
            gold_tags=self.gold_tags or not parser.tags_itself,
            constraints=self.constraints,
            bad=bad,
            tokeniser=None if self.tokenised else parser.cutter,
        )


@dataclass(frozen=True)
class Request:
    """What is wanted of every sentence: its best tree, or one kind of list, in one form."""

    form: str | None = None
    probabilities: bool = False
    nbest: int | None = None
    samples: int | None = None
    diverse: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if sum(wanted is not None for wanted in (self.nbest, self.samples, self.diverse)) > 1:
            raise SettingError("use only one of --nbest, --samples and --diverse")

    @property
    def several(self) -> bool:
        """Whether a list is wanted of each sentence."""
        return (self.nbest or self.samples or self.diverse) is not None


@dataclass(frozen=True)
class Written:
    """The answers to a batch as one text, and what there is to say of them."""

    text: str
    sentences: int
    fallbacks: int
    faults: tuple[DataError, ...]
    coarse: tuple[int, ...] = ()
    """Which of the sentences, counted from 0, got coarse trees."""
    tightened: int = 0
    pruned: int = 0
    """How many of the sentences have posteriors of pruned charts in the text."""
    tagged: int = 0
    """How many of them came with tags that were used …"""
    untagged: int = 0
    """… or not, …"""
    unknown_tags: int = 0
    """… and how many words had tags that the grammar does not know."""


@dataclass(frozen=True)
class Tally:
    """How far a run is: sentences read and written about, those with fallback trees, and faults left out; those
    without time for more than coarse trees, and those whose charts were pruned more tightly, or at all."""

    sentences: int = 0
    fallbacks: int = 0
    faults: int = 0
    first_fault: str = ""
    coarse: int = 0
    tightened: int = 0
    pruned: int = 0
    tagged: int = 0
    """Sentences with tags that were used, those with tags that were not, and words with tags never seen."""
    untagged: int = 0
    unknown_tags: int = 0
    first_coarse: str = ""
    """The numbers of the first few sentences with coarse trees."""

    def __add__(self, batch: Written) -> Tally:
        return Tally(
            faults=self.faults + len(batch.faults),
            first_fault=self.first_fault or next((str(fault) for fault in batch.faults), ""),
            coarse=self.coarse + len(batch.coarse),
            first_coarse=self._first_coarse(batch),
            **{name: vars(self)[name] + vars(batch)[name] for name in _SUMMED},
        )

    def _first_coarse(self, batch: Written) -> str:
        more = [str(self.sentences + place + 1) for place in batch.coarse[: max(_FEW - self.coarse, 0)]]
        return ", ".join([self.first_coarse, *more] if self.first_coarse else more)

    def remarks(self) -> Iterator[str]:
        """What there is to say of a run at its end."""
        if self.fallbacks:
            yield f"sentences without a parse under the grammar, which got fallback trees: {self.fallbacks}"
        if self.coarse:
            numbers = self.first_coarse + (", …" if self.coarse > _FEW else "")
            yield f"sentences that had no more time, which got coarse trees: {self.coarse}, number {numbers}"
        if self.tightened:
            yield f"very long sentences, whose charts were pruned more tightly: {self.tightened}"
        if self.pruned:
            yield f"sentences whose posteriors are those among the trees of a pruned chart: {self.pruned}"
        if self.tagged:
            yield f"tags: from the input, in {self.tagged:,} sentences"
        if self.untagged:
            yield f"tags: predicted in {self.untagged:,} sentences that have tags (--gold-tags uses those)"
        if self.unknown_tags:
            yield f"words whose tags the grammar does not know, tagged by the parser: {self.unknown_tags}"


def answers(
    parser: Parser,
    questions: Iterable[Question],
    request: Request | None = None,
    *,
    skip_faults: bool = False,
    engine: Engine | None = None,
) -> Iterator[Written]:
    """Answer questions batch by batch, in their order.

    Without `skip_faults` the text of a batch ends before its first fault, and no batch comes after it.

    >>> import latentgram as lg
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50), by=lg.Counting()))
    >>> for batch in answers(parser, [Question(lg.Sentence.of("the teacher sleeps ."))]):
    ...     print(batch.text, end="")
    (TOP (S (NP (DT the) (NN teacher)) (VP (VBD sleeps)) (. .)))
    """
    wanted = request or Request()
    job = _Job(parser, wanted, skip_faults)
    for written in (engine or InProcess()).map(job, shards(questions, LIST_BATCH if wanted.several else BATCH)):
        yield written
        if written.faults and not skip_faults:
            return


@dataclass(frozen=True)
class _Job:
    """Answers a batch; a class, so that workers can be sent it."""

    parser: Parser
    request: Request
    skip_faults: bool

    def __call__(self, batch: Sequence[Question]) -> Written:
        texts, fallbacks, faults, coarse, tightened, pruned = [], 0, [], [], 0, 0
        answered = zip(batch, self._lists(batch), strict=False)  # a fault may end the work early
        for place, (question, parses) in enumerate(answered):
            if isinstance(parses, DataError):
                faults.append(parses)
                if not self.skip_faults:
                    break
                continue
            if self.request.form in (None, "conllu"):
                parses = [_in_place(parse, question) for parse in parses]
            texts += [render(parse, self.request.form, self.request.probabilities) for parse in parses]
            texts += ["\n"] if self.request.several else []
            fallbacks += parses[0].fallback
            tightened += parses[0].tightened
            pruned += self.request.probabilities and parses[0].pruned
            coarse += [place] if parses[0].coarse else []
        told = tuple(faults), tuple(coarse), tightened, pruned, *self._given_tags(batch)
        return Written("".join(texts), len(batch), fallbacks, *told)

    def _given_tags(self, batch: Sequence[Question]) -> tuple[int, int, int]:
        """How many sentences came with tags that are used or not, and how many words with tags never seen."""
        given = [tags for question in batch if (tags := question.sentence.tags) is not None]
        unknown = 0
        if given and not self.parser.kind.needs_tags:  # others do not do without them
            known = self.parser.backend.tags
            unknown = sum(tag not in known for tags in given for tag in tags)
        return len(given), sum(question.untagged for question in batch), unknown

    def _lists(self, batch: Sequence[Question]) -> Iterator[list[Parse] | DataError]:
        """The trees of each sentence, or why there are none."""
        if not self.request.several:
            try:
                asked = [(question.sentence, question.known) for question in batch]
                yield from ([parse] for parse in self.parser.parse_batch(asked))
                return
            except (NoParse, DataError):
                pass  # one of them has no answer; alone, each shows whether it is the one
        for question in batch:
            try:
                yield self._list(question)
            except (NoParse, DataError) as error:
                yield question.fault(error)

    def _list(self, question: Question) -> list[Parse]:
        parser, wanted = self.parser, self.request
        sentence, known = question.sentence, question.known
        if wanted.nbest is not None:
            return parser.nbest(sentence, wanted.nbest, known)
        if wanted.samples is not None:
            return parser.sample(sentence, wanted.samples, wanted.seed, known)
        if wanted.diverse is not None:
            return parser.diverse(sentence, wanted.diverse, seed=wanted.seed, known=known)
        return [parser.parse(sentence, known)]


def _in_place(parse: Parse, question: Question) -> Parse:
    """A parse on the rows that its sentence came from; a sentence of raw text gets a number."""
    if not isinstance(parse.tree, DependencyTree):
        return parse
    if question.source is not None:
        return parse.onto(question.source)
    if question.number is None:
        return parse
    first, last = parse.tree.comments[:-1], parse.tree.comments[-1:]
    comments = (*first, f"# sent_id = {question.number}", *last)
    return dataclasses.replace(parse, tree=parse.tree.replace(comments=comments))


def _restored(state: Mapping[str, int | str], path: PathLike) -> Tally:
    """The tally that a mark remembers: what `vars` said of one, if it is that."""
    expected = {name: type(value) for name, value in vars(Tally()).items()}
    numbers = [value for value in state.values() if isinstance(value, int)]
    told = {name: type(value) for name, value in state.items()}
    if state and (told != expected or not 0 <= min(numbers) <= max(numbers) < MOST_SENTENCES):
        raise DataError("it was not written by this command: delete it", path=part_of(path))
    made: Callable[..., Tally] = Tally
    return made(**state)


def write_answers(
    parser: Parser,
    questions: Iterable[Question],
    path: PathLike,
    identity: Mapping[str, object],
    request: Request | None = None,
    *,
    resume: bool = False,
    skip_faults: bool = False,
    engine: Engine | None = None,
) -> Iterator[Tally]:
    """Write the answers to a file, yielding the tally after each batch, and first of all where the work begins.

    `identity` names model and settings; see `partial_output`.
    """
    source = iter(questions)
    digest = hashlib.sha256()
    read: deque[str] = deque()

    def noted() -> Iterator[Question]:
        for question in source:
            digest.update(question.content)
            read.append(digest.hexdigest())
            yield question

    with partial_output(path, identity, resume=resume) as output:
        state = dict(output.state)
        seen = state.pop("digest", digest.hexdigest())
        tally = _restored(state, path)
        for question in islice(source, tally.sentences):
            digest.update(question.content)
        if digest.hexdigest() != seen:
            raise DataError(
                f"the first {tally.sentences} sentences of the input have changed since then",
                path=part_of(path),
            )
        yield tally
        for batch in answers(parser, noted(), request, skip_faults=skip_faults, engine=engine):
            if batch.faults and not skip_faults:
                raise batch.faults[0]
            tally += batch
            for _ in range(batch.sentences):
                seen = read.popleft()
            output.append(batch.text, {**vars(tally), "digest": seen})
            yield tally


def render(parse: Parse, form: str | None = None, probabilities: bool = False) -> str:
    """A parse as brackets, CoNLL-U, JSON or an outline, with its line ends; by default one of the first two."""
    constituency = isinstance(parse.tree, Tree)
    form = form or ("brackets" if constituency else "conllu")
    if form == "json":
        return json.dumps(parse.to_json(), ensure_ascii=False) + "\n"
    if form == "outline":
        return outline(parse.tree, parse.confidence.tolist() if probabilities else None) + "\n\n"
    if form == "brackets" and isinstance(parse.tree, Tree):
        tree = _with_endings(parse.tree, [f"@{p:.4g}" for p in parse.confidence]) if probabilities else parse.tree
        return f"{tree}\n"
    if form == "conllu" and isinstance(parse.tree, DependencyTree):
        return to_conllu(_with_marks(parse.tree, parse) if probabilities else parse.tree)
    raise SettingError(
        f"this parser gives {'constituents' if constituency else 'dependencies'}, which have no {form} format"
    )


def _with_endings(tree: Tree, endings: list[str]) -> Tree:
    """A tree whose labels, in the order of `nodes`, got endings."""
    pending: list[Tree] = []
    for node, ending in zip(reversed(list(tree.nodes())), reversed(endings), strict=True):
        children = tuple(pending.pop() for _ in node.children)
        pending.append(Tree(node.label + ending, children, node.word))
    return pending[0]


def _with_marks(tree: DependencyTree, parse: Parse) -> DependencyTree:
    """A dependency tree with posteriors in MISC and the log-probability in a comment."""
    columns = (parse.confidence, parse.relation_confidence, parse.tag_confidence, parse.lemma_confidence)
    known = {mark: column for mark, column in zip(WORD_MARKS, columns, strict=True) if len(column)}
    known.update({COLUMN_MARKS[name]: column for name, column in parse.column_confidence.items()})
    shares = ({mark: column[word] for mark, column in known.items()} for word in range(len(tree)))
    misc, rows = list(map(_marked, tree.misc, shares)), list(tree.extra_rows)
    notes = [] if math.isnan(parse.logprob) else [f"{NOTES[0]}{parse.logprob:.6f}"]
    notes += [f"{NOTES[1]}yes"] if parse.fallback else []
    if parse.sentence.surface is not None:
        notes.append(f"{NOTES[2]}{parse.sentence.surface.probability:.4g}")
        for token in parse.sentence.surface.tokens:
            if token.multiword:
                before, row = token.row
                cells, column = row.rsplit("\t", 1)
                marked = _marked(column, {TOKEN_MARK: token.probability, SPLIT_MARK: token.split})
                rows[rows.index(token.row)] = before, f"{cells}\t{marked}"
            else:
                misc[token.first] = _marked(misc[token.first], {TOKEN_MARK: token.probability})
    return tree.replace(misc=tuple(misc), extra_rows=tuple(rows), comments=(*tree.comments, *notes))


def _marked(misc: str, posteriors: Mapping[str, float]) -> str:
    """A MISC column with some posteriors, those that are known."""
    marks = [f"{mark}{p:.4g}" for mark, p in posteriors.items() if not math.isnan(p)]
    return "|".join([misc, *marks] if misc != "_" else marks) or "_"
