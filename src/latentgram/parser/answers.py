"""Sentences in, text out, batch by batch: what `latentgram parse` does, wherever the work runs.

A worker is sent a batch of questions and sends back one text, so that trees are made into text where they are
found, and little travels. A sentence whose constraints nothing obeys is a fault with its place: it ends the work
after the text before it, or is left out and reported.

Answers written to a file can be taken up again where they stopped, nothing lost or doubled. What a mark remembers
(data/partial_output.py) is how many questions are answered and a digest of them all. On resuming the input is read
again from its beginning, which costs little beside parsing, and the digest shows that these questions were the
same; input that has grown at its end since then is fine. Model and settings are compared by the identity of the
output. Marks stand between batches, so batches fall as they would have without a break.
"""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice, repeat

from latentgram.data.cleaning import question_of
from latentgram.data.constraints import Constraints, partial_brackets, read_constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import PathLike, expand, read_lines
from latentgram.data.formats import TAGGED, TEXT, find_files
from latentgram.data.partial_output import part_of, partial_output
from latentgram.data.sentence import Sentence
from latentgram.data.tokenise import Cutter, Tokeniser
from latentgram.data.treebank import Treebank
from latentgram.data.wrapping import unwrapped
from latentgram.errors import DataError, LatentgramError, NoParse, SettingError
from latentgram.kinds.result import Parse
from latentgram.parallel import Engine, InProcess, shards
from latentgram.parser.output import render
from latentgram.parser.parser import BATCH, Parser

_FEW = 10
"""Numbers of sentences that are told."""
LIST_BATCH = 8
"""Sentences at a time when many trees of each are wanted."""
MOST_SENTENCES = 1 << 62
"""More than anybody can have parsed."""


@dataclass(frozen=True)
class Question:
    """A sentence, what is known of it, where that is said, and the rows of CoNLL-U to write the answer onto."""

    sentence: Sentence
    known: Constraints | None = None
    path: str | None = None
    line: int | None = None
    source: DependencyTree | None = None
    number: int | None = None
    """Which sentence of its file it is, or of all text that is read."""
    untagged: bool = False
    """Whether it had tags that are not to be used."""

    @property
    def content(self) -> bytes:
        """All that an answer depends on, for digests."""
        words = self.sentence
        content = (words.words, words.xpos, words.upos, words.space_after, words.surface, self.known, self.source)
        return repr(content).encode("utf-8", "replace")

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


@dataclass(frozen=True)
class Tally:
    """How far a run is: sentences read and written about, those with fallback trees, and faults left out; those
    that had no time for more than coarse trees, and those whose charts were pruned more tightly."""

    sentences: int = 0
    fallbacks: int = 0
    faults: int = 0
    first_fault: str = ""
    coarse: int = 0
    first_coarse: str = ""
    """The numbers of the first few of these."""
    tightened: int = 0

    def __add__(self, batch: Written) -> Tally:
        return Tally(
            self.sentences + batch.sentences,
            self.fallbacks + batch.fallbacks,
            self.faults + len(batch.faults),
            self.first_fault or next((str(fault) for fault in batch.faults), ""),
            self.coarse + len(batch.coarse),
            self._first_coarse(batch),
            self.tightened + batch.tightened,
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
        texts, fallbacks, faults, coarse, tightened = [], 0, [], [], 0
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
            coarse += [place] if parses[0].coarse else []
        return Written("".join(texts), len(batch), fallbacks, tuple(faults), tuple(coarse), tightened)

    def _lists(self, batch: Sequence[Question]) -> Iterator[list[Parse] | DataError]:
        """The trees of each sentence, or why there are none."""
        if not self.request.several:
            try:
                sentences = (question.sentence for question in batch)
                for parse in self.parser.parse_many(sentences, (question.known for question in batch)):
                    yield [parse]
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


def read_questions(
    paths: PathLike | Iterable[PathLike],
    format: str | None = None,
    *,
    own_tags: bool = False,
    gold_tags: bool = False,
    constraints: PathLike | None = None,
    bad: list[DataError] | None = None,
    tokeniser: Cutter | None = None,
) -> Iterator[Question]:
    """The sentences of files with their places: the line in plain text, else the number of the sentence.

    Tagged text has its tags, unless `own_tags`; trees have theirs only with `gold_tags`, as in an evaluation.
    With a file of constraints text is cut at blanks, and their places are those of the constraints.
    """
    files, kind = find_files(paths, format)
    if constraints is not None:
        # Were a sentence left out here, the lines of the constraints would go with the wrong sentences.
        return _with_constraints(
            read_questions(files, kind, own_tags=own_tags, gold_tags=gold_tags), constraints, bad
        )
    if kind == TEXT:
        return _text_questions(files, bad, tokeniser)
    return _tree_questions(files, kind, bad, own_tags or (kind != TAGGED and not gold_tags))


def stream(
    paths: PathLike | Iterable[PathLike],
    format: str | None = None,
    *,
    tokeniser: Cutter | None = None,
    tokenised: bool = False,
    tags: bool = False,
) -> Iterator[Sentence]:
    """Stream the sentences of files of any size: text, tagged text, CoNLL-U or brackets.

    Only the current block of a file is in memory, and files are read on demand:
    `parser.parse_many(lg.stream("big.txt"), n_jobs=4)` reads at most two batches per worker ahead of the last
    parse consumed. Text is split into sentences and words by `tokeniser`, for example `parser.tokeniser`; with
    `tokenised`, it has one sentence per line and spaces between words. With `tags`, sentences keep their tags.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("Cats sleep. Dogs bark.\\n")
    ...     file.flush()
    ...     [sentence.words for sentence in stream(file.name)]
    [('Cats', 'sleep', '.'), ('Dogs', 'bark', '.')]
    """
    rules = None if tokenised else tokeniser or Tokeniser()
    questions = read_questions(paths, format, own_tags=not tags, gold_tags=tags, tokeniser=rules)
    return (question.sentence for question in questions)


def _text_questions(
    files: Iterable[str], bad: list[DataError] | None, tokeniser: Cutter | None
) -> Iterator[Question]:
    numbers = count(1)
    for path in files:
        lines = read_lines(path, bad=bad)
        for line_number, line in lines if tokeniser is None else unwrapped(lines):
            if words := tuple(line.split()):
                sentences = (Sentence(words),) if tokeniser is None else tokeniser.sentences(line)
                for sentence in sentences:
                    yield Question(sentence, path=path, line=line_number, number=next(numbers))


def _tree_questions(
    files: Iterable[str], kind: str, bad: list[DataError] | None, own_tags: bool
) -> Iterator[Question]:
    """CoNLL-U keeps its rows, and tags go where asked."""
    for path in files:
        for number, (_, item) in enumerate(Treebank.stream_unparsed([path], kind, bad=bad), 1):
            sentence = question_of(item.sentence, tags=not own_tags)
            untagged = own_tags and item.sentence.tags is not None
            source = item if isinstance(item, DependencyTree) else None
            yield Question(sentence, path=path, source=source, number=number, untagged=untagged)


def _with_constraints(
    questions: Iterable[Question], path: PathLike, bad: list[DataError] | None
) -> Iterator[Question]:
    """Sentences with the constraints on the lines of a file; those beyond its end are free, with a warning.

    A faulty line raises, or, with `bad`, takes its sentence with it. Constraints without a sentence raise.
    """
    numbered = enumerate(read_constraints(path, bad=bad), 1)
    lines = chain(numbered, repeat((None, Constraints())))
    sentences = free = 0
    for question, (line, known) in zip(questions, lines, strict=False):
        sentences, free = sentences + 1, free + (line is None)
        if known is not None:
            yield dataclasses.replace(question, known=known, path=str(path), line=line)
    lines_read = sentences - free
    for line, known in numbered:
        if known:
            raise DataError("there is no sentence for these constraints", path=path, line=line)
        lines_read = line
    if lines_read != sentences:
        told = "the last sentences are free" if free else "the last lines say nothing"
        warnings.warn(f"{path} has {lines_read} lines for {sentences} sentences: {told}", stacklevel=2)


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
