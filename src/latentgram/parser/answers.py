"""Sentences in, text out, batch by batch: what `latentgram parse` does, wherever the work runs.

A worker is sent a batch of questions and sends back one text, so that trees are made into text where they are
found, and little travels. A sentence whose constraints nothing obeys is a fault with its place: it ends the work
after the text before it, or is left out and reported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, repeat
from operator import itemgetter

from latentgram.data.constraints import Constraints, partial_brackets, read_constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import PathLike, expand, read_lines
from latentgram.data.formats import TEXT, find_files
from latentgram.data.sentence import Sentence
from latentgram.data.tokenise import Tokeniser
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, LatentgramError, NoParse, SettingError
from latentgram.kinds.result import Parse
from latentgram.parallel import Engine, InProcess, shards
from latentgram.parser.output import render
from latentgram.parser.parser import BATCH, Parser

LIST_BATCH = 8
"""Sentences at a time when many trees of each are wanted."""


@dataclass(frozen=True)
class Question:
    """A sentence, what is known of it, where that is said, and the rows of CoNLL-U to write the answer onto."""

    sentence: Sentence
    known: Constraints | None = None
    path: str | None = None
    line: int | None = None
    source: DependencyTree | None = None
    number: int | None = None
    """Which sentence of its file it is, where lines are not known."""

    @property
    def content(self) -> bytes:
        """All that an answer depends on, for digests."""
        given = self.sentence
        return repr((given.words, given.xpos, given.upos, given.space_after, self.known, self.source)).encode(
            "utf-8", "replace"
        )

    def fault(self, error: LatentgramError) -> DataError:
        """Why there is no answer, with the place of the sentence."""
        numbered = self.path is not None and self.line is None and self.number is not None
        message = f"sentence {self.number}: {error}" if numbered else str(error)
        return DataError(message, path=self.path, line=self.line)


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
            raise SettingError("take one of --nbest, --samples and --diverse")

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
    for found in (engine or InProcess()).map(job, shards(questions, LIST_BATCH if wanted.several else BATCH)):
        yield found
        if found.faults and not skip_faults:
            return


@dataclass(frozen=True)
class _Job:
    """Answers a batch; a class, so that workers can be sent it."""

    parser: Parser
    request: Request
    skip_faults: bool

    def __call__(self, batch: Sequence[Question]) -> Written:
        texts, fallbacks, faults = [], 0, []
        for question, found in zip(batch, self._lists(batch), strict=False):  # a fault may end the work early
            if isinstance(found, DataError):
                faults.append(found)
                if not self.skip_faults:
                    break
                continue
            if question.source is not None and self.request.form in (None, "conllu"):
                found = [parse.onto(question.source) if _attached(parse) else parse for parse in found]
            texts += [render(parse, self.request.form, self.request.probabilities) for parse in found]
            texts += ["\n"] if self.request.several else []
            fallbacks += found[0].fallback
        return Written("".join(texts), len(batch), fallbacks, tuple(faults))

    def _lists(self, batch: Sequence[Question]) -> Iterator[list[Parse] | DataError]:
        """The trees of each sentence, or why there are none."""
        if not self.request.several:
            try:
                given = [question.sentence for question in batch]
                yield from ([one] for one in self.parser.parse_many(given, (each.known for each in batch)))
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


def _attached(parse: Parse) -> bool:
    return isinstance(parse.tree, DependencyTree)


def questions_of(
    items: Iterable[tuple[str, Sentence | Tree | DependencyTree]], own_tags: bool = False
) -> Iterator[Question]:
    """Questions out of what `Treebank.stream_unparsed` gives; CoNLL-U keeps its rows, and tags go where asked."""
    for path, of_file in groupby(items, key=itemgetter(0)):
        for number, (_, item) in enumerate(of_file, 1):
            sentence = item.sentence.without_tags() if own_tags else item.sentence
            source = item if isinstance(item, DependencyTree) else None
            yield Question(sentence, path=path, source=source, number=number)


def read_questions(
    paths: PathLike | Iterable[PathLike],
    format: str | None = None,
    *,
    own_tags: bool = False,
    bad: list[DataError] | None = None,
    tokeniser: Tokeniser | None = None,
) -> Iterator[Question]:
    """The sentences of files with their places: the line in plain text, else the number of the sentence."""
    files, kind = find_files(paths, format)
    if kind == TEXT:
        return _text_questions(files, bad, tokeniser)
    return questions_of(Treebank.stream_unparsed(files, kind, bad=bad), own_tags)


def _text_questions(
    files: Iterable[str], bad: list[DataError] | None, tokeniser: Tokeniser | None
) -> Iterator[Question]:
    for path in files:
        for number, line in read_lines(path, bad=bad):
            if words := tuple(line.split()):
                found = (Sentence(words),) if tokeniser is None else tokeniser.sentences(line)
                yield from (Question(sentence, path=path, line=number) for sentence in found)


def with_constraints(
    questions: Iterable[Question | Sentence], path: PathLike, *, bad: list[DataError] | None = None
) -> Iterator[Question]:
    """Sentences with the constraints on the lines of a file; those beyond its end are free.

    A faulty line raises, or, with `bad`, takes its sentence with it. Constraints without a sentence raise.
    """
    numbered = enumerate(read_constraints(path, bad=bad), 1)
    lines = chain(numbered, repeat((None, Constraints())))
    for given, (line, known) in zip(questions, lines, strict=False):
        if known is not None:
            question = given if isinstance(given, Question) else Question(given)
            yield dataclasses.replace(question, known=known, path=str(path), line=line)
    for line, known in numbered:
        if known:
            raise DataError("there is no sentence for these constraints", path=path, line=line)


def read_partial(
    paths: PathLike | Iterable[PathLike], *, bad: list[DataError] | None = None
) -> Iterator[Question]:
    """Lines of tokens in which square brackets are known phrases (see `partial_brackets`)."""
    for path in expand(paths):
        for number, line in read_lines(path, bad=bad):
            try:
                if line.strip():
                    yield Question(*partial_brackets(line), path, number)
            except DataError as error:
                fault = DataError(error.message, path=path, line=number)
                if bad is None:
                    raise fault from None
                bad.append(fault)
