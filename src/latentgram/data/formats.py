"""The formats of treebanks: guessing the format of a file from its name or first lines, and reading its trees or
sentences; for a parser, sentences with their positions and constraints.
"""

from __future__ import annotations

import dataclasses
import io
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, repeat

from latentgram.data import brackets, conllu, tagged
from latentgram.data.cleaning import question_of
from latentgram.data.constraints import Constraints, partial_brackets, read_constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import STANDARD, PathLike, expand, is_pipe, open_bytes, plain_suffix, read_lines
from latentgram.data.sentence import Sentence
from latentgram.data.tokenise import Cutter, Tokeniser, unwrapped
from latentgram.data.tree import Tree
from latentgram.errors import DataError, LatentgramError, SettingError

TreeOrSentence = Tree | DependencyTree | Sentence
"""What treebanks are made of."""
BRACKETS, CONLLU, TAGGED, TEXT = "brackets", "conllu", "tagged", "text"
SUFFIXES = {
    BRACKETS: (".mrg", ".ptb", ".psd", ".prd", ".tree", ".trees", ".brackets"),
    CONLLU: conllu.SUFFIXES,
    TAGGED: tagged.TAGGED_SUFFIXES,
    TEXT: tagged.TEXT_SUFFIXES,
}
_FORMAT_OF = {suffix: name for name, suffixes in SUFFIXES.items() for suffix in suffixes}
_PEEK_BYTES = 1 << 14


def find_files(paths: PathLike | Iterable[PathLike], format: str | None = None) -> tuple[list[str], str]:
    """The files meant by paths and the one format they are in.

    Of a folder those files count whose suffix belongs to the format, or to any known one.
    """
    if format is not None and format not in SUFFIXES:
        raise SettingError(f"there is no format {format!r}; known: {', '.join(SUFFIXES)}")
    files = expand(paths, tuple(_FORMAT_OF) if format is None else SUFFIXES[format])
    if not files:
        raise DataError("no file was named")
    if format is not None:
        return files, format
    first = format_of(files[0])
    for file in files[1:]:
        if (other := format_of(file)) != first:
            raise DataError(f"{files[0]} is {first}, but this is {other}: name the format", path=file)
    return files, first


def format_of(path: PathLike) -> str:
    """The format of one file.

    >>> format_of("wsj.mrg.gz"), format_of("train.conllu"), format_of("brown.tsv")
    ('brackets', 'conllu', 'tagged')
    """
    if known := _FORMAT_OF.get(plain_suffix(path)):
        return known
    lines = [line for line in _first_bytes(path).decode("utf-8", "replace").splitlines() if line.strip()]
    content = [line for line in lines if not line.startswith("#")]
    if not content:
        raise DataError("the file is empty, so its format is not known", path=path)
    if content[0].lstrip().startswith("("):
        return BRACKETS
    columns = content[0].count("\t") + 1
    if columns == conllu.COLUMNS:
        return CONLLU
    return TAGGED if columns > 1 else TEXT


def _first_bytes(path: PathLike) -> bytes:
    """The beginning of a file; standard input is only looked at, and no other pipe is read twice."""
    if os.fspath(path) != STANDARD:
        if is_pipe(path):
            raise DataError("a pipe is read only once: name its format, or write its content to a file", path=path)
        with open_bytes(path) as file:
            return file.read(_PEEK_BYTES)
    if isinstance(sys.stdin.buffer, io.BufferedReader):
        return sys.stdin.buffer.peek(_PEEK_BYTES)
    raise DataError("the format of standard input is not known: name it (--format, in Python format=)", path=path)


def has_trees(path: PathLike) -> bool:
    """Whether a file has trees, by its name."""
    return _FORMAT_OF.get(plain_suffix(path)) in (BRACKETS, CONLLU)


def stream_items(
    files: list[str], format: str, bad: list[DataError] | None, tag_column: int = 1, heads: bool = True
) -> Iterator[TreeOrSentence]:
    """The trees or sentences of files that are all of one format, one by one."""
    if format == BRACKETS:
        return brackets.stream_trees(files, bad=bad)
    if format == CONLLU:
        return conllu.read_conllu(files, bad=bad, heads=heads)
    if format == TAGGED:
        return tagged.read_tagged(files, column=tag_column, bad=bad)
    return tagged.read_sentences(files, bad=bad)


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
    """The sentences of files with their places: the line in plain text, else the number of the sentence. No file
    is looked at before the first is asked for.

    Tagged text has its tags, unless `own_tags`; trees have theirs only with `gold_tags`, as in an evaluation.
    With a file of constraints text is cut at blanks, and their places are those of the constraints.
    """
    files, kind = find_files(paths, format)
    if constraints is not None:
        # Were a sentence left out here, the lines of the constraints would go with the wrong sentences.
        yield from _with_constraints(
            read_questions(files, kind, own_tags=own_tags, gold_tags=gold_tags), constraints, bad
        )
    elif kind == TEXT:
        yield from _text_questions(files, bad, tokeniser)
    else:
        yield from _tree_questions(files, kind, bad, own_tags or (kind != TAGGED and not gold_tags))


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
        for number, item in enumerate(stream_items([path], kind, bad, heads=False), 1):
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
    files, kind = find_files(paths, format)
    questions = read_questions(files, kind, own_tags=not tags, gold_tags=tags, tokeniser=rules)
    return (question.sentence for question in questions)
