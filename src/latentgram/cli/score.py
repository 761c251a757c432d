"""`latentgram score`: probabilities of given sentences and trees."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from latentgram.cli.options import (
    ClusterAddress,
    Exact,
    Format,
    NJobs,
    Tokenised,
    engine_of,
    faults_of,
    load_parser,
    read_trees,
)
from latentgram.cli.tables import TableForm
from latentgram.errors import DataError, SettingError, a_or_an

if TYPE_CHECKING:
    from latentgram.cli.tables import Form
    from latentgram.data.dependencies import DependencyTree
    from latentgram.data.sentence import Sentence
    from latentgram.data.tree import Tree
    from latentgram.kinds.protocols import Model, Reader, Scorer
    from latentgram.parallel import Engine
    from latentgram.parser.parser import Parser

TOGETHER = 16
"""Trees that a worker is sent at a time."""
SENTENCES = ("sentence", "logprob", "text")
TREES = ("sentence", "logprob", "tree_logprob", "probability", "text")
WORDS = ("sentence", "position", "word", "surprisal", "entropy_reduction", "unknown")
"""Columns of the tables; `sentence` and `position`, that of a word in it, count from 1."""


def score(
    model: Annotated[Path, typer.Argument(help="Model file of a parser, or of another model with probabilities.")],
    file: Annotated[Path, typer.Argument(help="Trees, or sentences; - is standard input.")],
    format: Format = None,
    tokenised: Tokenised = False,
    surprisal: Annotated[
        bool,
        typer.Option("--surprisal", help="Print the surprisal of each word given the previous ones, in bits."),
    ] = False,
    exact: Exact = False,
    entropy: Annotated[
        bool, typer.Option(help="Include the entropy reduction of each word in tables of surprisal.")
    ] = True,
    to: TableForm = None,
    n_jobs: NJobs = 1,
    cluster: ClusterAddress = None,
) -> None:
    """Print log p(sentence) and, for trees, log p(tree, sentence) and p(tree | sentence), one line per sentence.

    Text is split into sentences and words as by 'latentgram parse'. For models that do not parse, such as HMMs and
    n-gram models, it has one sentence per line, with words separated by spaces.

    Arc-factored parsers and rerankers have no p(sentence): for trees they print - in its place, then
    log p(tree | sentence) and p(tree | sentence); they cannot score sentences without trees.

    Constituency grammars with hidden states prune the chart, so that p(sentence) is a lower bound; `--exact`
    disables pruning. Under an ensemble, a chart-crf or a committee p(tree | sentence) is that among the trees of
    the chart: with `--exact` these are all trees, for which long sentences are refused.

    With `--surprisal`, print one line per word: sentence, word, and −log₂ p(word | previous words). With `--to`,
    write a table: numbers of sentence and word, the word, its surprisal and entropy reduction (both in bits), and
    whether the word is unknown. `--exact` works here, too.
    """
    import latentgram
    from latentgram.cli.console import counted, say
    from latentgram.data.formats import format_of

    kind = format or format_of(file)
    if not surprisal and (rate := _logprob_of(model, kind in ("conllu", "brackets"))) is not None:
        with faults_of(file):
            stream = latentgram.Treebank.stream([file], kind)
            scored = ((rate(item), " ".join(item.sentence.words)) for item in counted(stream, "scoring"))
            _write(SENTENCES, _numbered(scored), to, _sentence_line)
        return
    parser = load_parser(model)
    sentences = latentgram.Treebank.stream_sentences([file], kind, tokeniser=None if tokenised else parser.cutter)
    with engine_of(n_jobs, cluster) as engine:
        if surprisal:
            with faults_of(file):
                reader = _reader(parser.model, exact, entropy and to is not None)
                _write_surprisal(reader, sentences, engine, to)
            return
        if kind in ("text", "tagged"):
            rows = _of_sentences(parser, sentences, exact, engine)
            _write(SENTENCES, _numbered(rows), to, _sentence_line)
        else:
            _write(TREES, _numbered(_of_trees(parser, file, kind, exact, engine)), to, _tree_line)
    if not exact and parser.kind.prunes and parser.kind.reader and not _reader(parser.model, False, False).exact:
        say("log p(sentence) is a lower bound, because improbable parts were pruned (--exact keeps them)")


def _numbered(rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """The same rows, each with its number before it."""
    return ((number, *row) for number, row in enumerate(rows, 1))


def _sentence_line(_: int, logprob: float, words: str) -> str:
    """A row about a sentence for the eye."""
    return f"{logprob:.6f}\t{words}"


def _tree_line(_: int, whole: float | None, tree: float, share: float, words: str) -> str:
    """A row about a tree for the eye."""
    return f"{'-' if whole is None else f'{whole:.6f}'}\t{tree:.6f}\t{share:.6g}\t{words}"


def _write(
    columns: Sequence[str], rows: Iterable[Sequence[object]], to: Form | None, line: Callable[..., str]
) -> None:
    """Rows as a table, or as lines for the eye."""
    from latentgram.cli.tables import write_table

    if to is not None:
        write_table(columns, rows, to)
        return
    for row in rows:
        typer.echo(line(*row))


def _of_sentences(
    parser: Parser, sentences: Iterable[Sentence], exact: bool, engine: Engine
) -> Iterator[tuple[float, str]]:
    """log p of sentences, each with its words."""
    from latentgram.cli.console import counted

    if exact and parser.kind.prunes:
        for reading in counted(_reader(parser.model, True, False).read_many(sentences, engine=engine), "scoring"):
            yield reading.logprob, " ".join(reading.sentence.words)
        return
    for parse in counted(parser.parse_many(sentences, engine=engine), "scoring"):
        if parse.conditional and parse.logprob != -math.inf:
            kind = type(parser.model).__name__
            raise SettingError(
                f"the model, {a_or_an(kind)}, has no p(sentence): it scores trees, so the input must be trees"
            )
        yield parse.logprob, " ".join(parse.sentence.words)


def _of_trees(
    parser: Parser, file: Path, kind: str, exact: bool, engine: Engine
) -> Iterator[tuple[float | None, float, float, str]]:
    """log p of the words of trees, of the trees with their words, p(tree | words), and the words."""
    from latentgram.cli.console import counted
    from latentgram.parallel import shards

    exact &= parser.kind.prunes
    parser = parser.exact if exact and parser.kind.charted else parser
    reader = _reader(parser.model, True, False) if exact and not parser.kind.charted else None
    batches = shards(read_trees(file, parser, kind), TOGETHER)
    with faults_of(file):
        rows = chain.from_iterable(engine.map(_TreeScorer(parser, reader), batches))
        yield from counted(rows, "scoring")


@dataclass(frozen=True)
class _TreeScorer:
    """Rows of the table of trees; a class, so that workers can be sent it."""

    parser: Parser
    reader: Reader | None

    def __call__(self, batch: Sequence[Tree | DependencyTree]) -> list[tuple[float | None, float, float, str]]:
        return [self._row(tree) for tree in batch]

    def _row(self, tree: Tree | DependencyTree) -> tuple[float | None, float, float, str]:
        scored = self.parser.score(tree)
        if self.reader is not None and not scored.conditional:
            scored = dataclasses.replace(scored, logprob=self.reader.read(scored.sentence).logprob)
        whole = None if scored.conditional else scored.logprob
        return whole, scored.tree_logprob, scored.probability, " ".join(scored.sentence.words)


def _write_surprisal(reader: Reader, sentences: Iterable[Sentence], engine: Engine, to: Form | None) -> None:
    """One row per word, and a word on what the numbers are."""
    from latentgram.cli.console import counted, say

    seen = broken = negative = 0

    def rows() -> Iterator[tuple[int, int, str, float, float, bool]]:
        nonlocal seen, broken, negative
        bare = (sentence.without_tags() for sentence in sentences)
        for number, reading in enumerate(counted(reader.read_many(bare, engine=engine), "reading"), 1):
            seen, broken, negative = number, broken + reading.broken, negative + reading.negative
            figures = reading.surprisal.tolist(), reading.reduction.tolist(), reading.unknown.tolist()
            for place, (word, bits, less, unknown) in enumerate(
                zip(reading.sentence.words, *figures, strict=True), 1
            ):
                yield number, place, word, bits, less, unknown

    _write(WORDS, rows(), to, "{0}\t{2}\t{3:.4f}".format)
    if not reader.exact:
        say("prefix probabilities are lower bounds, because improbable parts were pruned (--exact keeps them)")
    if broken:
        say(f"sentences that the grammar cannot derive, treated as broken off and restarted: {broken} of {seen}")
    if negative:
        say(f"prefixes with a negative value under this spectral grammar: {negative}")


def _logprob_of(path: Path, trees: bool) -> Callable[[Tree | DependencyTree | Sentence], float] | None:
    """log p of a sentence, or of a tree, under a model that is not a parser; None if it is one or has none."""
    import latentgram
    from latentgram.kinds.kind import kinds
    from latentgram.store import read_header

    kind = kinds().get(read_header(path).kind)
    if kind is None or not kind.scores or (kind.scores == "trees" and not trees):
        return None
    model = cast("Scorer[object]", latentgram.load(path))

    def of_tree(tree: Tree | DependencyTree | Sentence) -> float:
        if not isinstance(tree, latentgram.DependencyTree):
            raise DataError(f"{a_or_an(type(model).__name__)} scores only dependency trees")
        return model.logprob(tree)

    if kind.scores == "trees":
        return of_tree
    return lambda item: model.logprob(item.sentence.words)


def _reader(model: Model, exact: bool, entropy: bool) -> Reader:
    """What reads sentences word by word."""
    from latentgram.kinds.kind import kind_of, kinds

    kind = kind_of(model)
    if not kind.reader:
        there = ", ".join(each.name for each in kinds().values() if each.reader)
        raise SettingError(f"surprisal needs one of {there}, not {a_or_an(kind.name)}")
    return kind.reads_words()(model, exact=exact, entropies=entropy)
