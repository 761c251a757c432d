"""`latentgram tag MODEL.lg [FILE…]`: sentences in, tagged words out, in the same order."""

from __future__ import annotations

import json as codec
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import typer

from latentgram.cli.options import (
    SKIP_BAD,
    TOKENISED,
    Workers,
    argument,
    command,
    cutter_of,
    flag,
    option,
    options,
)
from latentgram.cli.tables import TableForm, write_table
from latentgram.errors import MOST_LISTED, DataError, ModelFileError, NoParse, SettingError, a_or_an

if TYPE_CHECKING:
    from latentgram.data.formats import Question
    from latentgram.data.sentence import Sentence
    from latentgram.data.tokenise import Cutter
    from latentgram.kinds.protocols import Model, SentenceTagger
    from latentgram.kinds.tagging import Tagging as Result
    from latentgram.sequences.ngram import BackoffNGram

    Answer = tuple[Sentence, list[Result]]

TOGETHER = 1000
"""Sentences tagged at a time."""
COLUMNS = ("sentence", "rank", "position", "word", "tag", "probability", "unknown")
"""Of the table."""


@options
class Tagging(Workers):
    """What is asked of `latentgram tag`."""

    model: Path = argument("Model file of a tagger, an HMM, or a parser with a tagger (such as `ud`).")
    files: list[Path] | None = argument("Files to tag, one sentence per line; standard input if none.", None)
    decoder: Literal["posterior", "viterbi"] = option(
        "posterior", "The most probable tag of each word, or the most probable sequence."
    )
    probabilities: bool = flag("--probabilities", "Write the posterior of every tag as a third column.")
    tokenised: bool = flag("--tokenised", TOKENISED)
    nbest: int | None = option(None, "Number of tag sequences per sentence, best first.", min=1, max=MOST_LISTED)
    samples: int | None = option(
        None, "Number of tag sequences sampled from the posterior.", min=1, max=MOST_LISTED
    )
    seed: int = option(0, "Seed of the samples.", min=0)
    constraints: Path | None = option(
        None, "Required and forbidden tags of each sentence, as JSON lines (see above)."
    )
    conllu: bool = flag("--conllu", "Write CoNLL-U, with UPOS, XPOS and FEATS in their columns.")
    json: bool = flag("--json", "Write JSON lines: words, tags, features, their posteriors, log-probabilities.")
    to: TableForm = None
    skip_bad: bool = flag("--skip-bad", SKIP_BAD)
    named_by: str | None = option(
        None, "Tagged sentences, FILE[:COLUMN]: each numbered tag is named after its most frequent tag there."
    )
    fast: Path | None = option(
        None,
        "Tag by n-gram lookup (Smith and Eisner 2012, §3.2) in an automaton, counts, an ARPA file or text.",
    )

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.nbest is not None and self.samples is not None:
            raise SettingError("use either --nbest or --samples")
        if self.json and self.conllu:
            raise SettingError("use either --json or --conllu")
        if self.fast is not None and (self.several or self.constraints or self.decoder == "viterbi"):
            raise SettingError("--fast excludes --nbest, --samples, --constraints and --decoder viterbi")

    @property
    def several(self) -> bool:
        """Whether a list is wanted of each sentence."""
        return (self.nbest or self.samples) is not None


@command
def tag(asked: Tagging) -> None:
    """Tag text with a tagger or a hidden Markov model; the latter expects words separated by spaces.

    Words that the model has never seen are tagged by their form and context; their number is printed at the end.
    With --nbest or --samples an extra empty line follows each sentence; --json also gives log p(tags | words).
    With --constraints, text has one sentence per line with words separated by spaces; words are numbered from 0:
    {"tags": {"1": "NN"}, "forbidden_tags": [[2, "VB"]]}.
    """
    from latentgram.cli.console import counted, ensure_input, say
    from latentgram.data.formats import read_questions

    asked.check()
    ensure_input(asked.files)
    tagger, rules = _tagger(asked)
    bad: list[DataError] | None = [] if asked.skip_bad else None
    questions = read_questions(
        asked.files or [Path("-")],
        None if asked.files else "text",
        own_tags=True,
        constraints=asked.constraints,
        bad=bad,
        tokeniser=None if asked.tokenised else rules,
    )
    tally = _Tally()
    taggings = tally.watch(counted(_tagged(tagger, questions, asked, bad), "tagging"))
    if asked.to is not None:
        write_table(COLUMNS, _table(taggings), asked.to)
    else:
        for number, sentence, results in taggings:
            for result in results:
                if asked.conllu:
                    typer.echo(_as_conllu(sentence, result, asked.probabilities), nl=False)
                else:
                    typer.echo(_as_json(number, result) if asked.json else _as_rows(result, asked.probabilities))
            if asked.several and not asked.json:
                typer.echo()
    if not tally.sentences:
        say("0 sentences")
    if tally.unknown:
        words = f"{tally.unknown:,} of {tally.words:,} words"
        say(f"{words} were not seen in training and were tagged by their context")
    if bad:
        say(f"malformed sentences skipped: {len(bad)}, the first: {bad[0]}")


@dataclass
class _Tally:
    """How many sentences and words went by, and how many of these the tagger had never seen."""

    sentences: int = 0
    words: int = 0
    unknown: int = 0

    def watch(self, taggings: Iterable[Answer]) -> Iterator[tuple[int, Sentence, list[Result]]]:
        """The same taggings, numbered from 1."""
        for sentence, results in taggings:
            self.sentences += 1
            self.words += len(results[0].words)
            self.unknown += sum(results[0].unknown)
            yield self.sentences, sentence, results


def _tagger(asked: Tagging) -> tuple[SentenceTagger, Cutter | None]:
    """The tagger of a file, and how text is cut into words for it, if not at blanks."""
    import latentgram
    from latentgram.kinds.kind import kind_of
    from latentgram.kinds.protocols import Renaming, SentenceTagger
    from latentgram.parser.judging import named_tags

    stored = latentgram.load(asked.model)
    parser = stored if isinstance(stored, latentgram.Parser) else None
    tagger = stored if parser is None else parser.own_tagger
    if not isinstance(tagger, SentenceTagger):
        what = f"{a_or_an(type(stored).__name__)}, not" if parser is None else "a parser without"
        raise ModelFileError(f"{asked.model} contains {what} a tagger")
    renaming = tagger if isinstance(tagger, Renaming) else None
    if (asked.named_by and renaming is None) or (asked.fast and not kind_of(tagger).lookup):
        raise SettingError("--named-by and --fast are for hidden Markov models")
    cutter = cutter_of(tagger if parser is None else parser)
    return named_tags(renaming, asked.named_by) if renaming and asked.named_by else tagger, cutter


def _tagged(
    tagger: SentenceTagger, questions: Iterable[Question], asked: Tagging, bad: list[DataError] | None
) -> Iterator[Answer]:
    """Each sentence with its taggings; one that has none raises or is kept in `bad`."""
    from latentgram.parallel import shards

    with asked.engine() as engine:
        for batch in engine.map(_job(tagger, asked), shards(questions, TOGETHER)):
            for answer in batch:
                if not isinstance(answer, DataError):
                    yield answer
                elif bad is None:
                    raise answer
                else:
                    bad.append(answer)


def _job(tagger: SentenceTagger, asked: Tagging) -> _Job:
    """What tags some sentences: all at a time, or, for lists and under constraints, one by one."""
    from latentgram.kinds.kind import kind_of, named
    from latentgram.learn.reading import read_automaton

    if asked.fast is not None:
        lookup = cast("Callable[[Model, BackoffNGram], SentenceTagger]", named(kind_of(tagger).lookup))
        memory = lookup(tagger, read_automaton([asked.fast]))
        return _Job(lambda question: memory.tag_all([question.sentence]), memory.tag_all)
    if asked.nbest is not None:
        count = asked.nbest
        return _Job(lambda question: tagger.nbest(question.sentence, count, question.known))
    if asked.samples is not None:
        count, seed = asked.samples, asked.seed
        return _Job(lambda question: tagger.sample_tags(question.sentence, count, seed, question.known))
    decoder = asked.decoder
    together = partial(tagger.tag_all, decoder=decoder) if asked.constraints is None else None
    return _Job(lambda question: [tagger.tag(question.sentence, decoder, question.known)], together)


@dataclass(frozen=True)
class _Job:
    """Tags some sentences, in this process or in a worker; what is wrong with one is a fault with its place."""

    alone: Callable[[Question], Iterable[Result]]
    together: Callable[[list[Sentence]], Iterable[Result]] | None = None

    def __call__(self, questions: list[Question]) -> list[Answer | DataError]:
        if self.together is not None:
            sentences = [question.sentence for question in questions]
            try:
                return [
                    (sentence, [each]) for sentence, each in zip(sentences, self.together(sentences), strict=True)
                ]
            except DataError:
                pass  # one of them has no tags; alone, each shows whether it is the one
        return list(map(self._list, questions))

    def _list(self, question: Question) -> Answer | DataError:
        try:
            return question.sentence, list(self.alone(question))
        except (NoParse, DataError) as error:
            return question.fault(error)


def _table(taggings: Iterable[tuple[int, Sentence, list[Result]]]) -> Iterator[tuple[object, ...]]:
    """The rows of a table: a word in each."""
    for number, _, results in taggings:
        for rank, result in enumerate(results, 1):
            columns = zip(result.words, result.tags, result.confidence, result.unknown, strict=True)
            for place, (word, name, sure, new) in enumerate(columns, 1):
                yield number, rank, place, word, name, float(sure), bool(new)


def _as_rows(result: Result, probabilities: bool) -> str:
    """Words and tags, one a line, and the posterior of each tag where asked for."""
    rows = zip(result.words, result.tags, result.confidence, strict=True)
    if probabilities:
        return "".join(f"{word}\t{name}\t{sure:.4f}\n" for word, name, sure in rows)
    return "".join(f"{word}\t{name}\n" for word, name, _ in rows)


def _as_conllu(sentence: Sentence, result: Result, probabilities: bool) -> str:
    """The rows of a sentence without a tree, with the posteriors of tags and of each column in MISC."""
    from latentgram.data.conllu import to_conllu
    from latentgram.data.dependencies import UNATTACHED, DependencyTree
    from latentgram.kinds.result import COLUMN_MARKS, TAG_MARK
    from latentgram.parser.parser import as_written

    size = len(result.words)
    xpos = () if result.upos else result.tags
    tree = DependencyTree(
        result.words,
        (UNATTACHED,) * size,
        xpos=result.xpos or xpos,
        upos=result.upos or (),
        feats=result.feats or (),
    )
    if probabilities:
        columns = {TAG_MARK: result.confidence}
        columns |= {COLUMN_MARKS[name]: sure for name, sure in result.posteriors.items()}
        shares = ([f"{mark}{sure[i]:.4g}" for mark, sure in columns.items()] for i in range(size))
        tree = tree.replace(misc=tuple(map("|".join, shares)))
    return to_conllu(tree if sentence.space_after is None else as_written(tree, sentence))


def _as_json(number: int, result: Result) -> str:
    """A line; what is not known is null."""
    logs = {name: getattr(result, name) for name in ("logprob", "tags_logprob")}
    value = {
        "sentence": number,
        "words": result.words,
        "tags": result.tags,
        "confidence": result.confidence,
        **{name: getattr(result, name) for name in result.posteriors},
        **({"posteriors": dict(result.posteriors)} if result.posteriors else {}),
        **{name: log if math.isfinite(log) else None for name, log in logs.items()},
    }
    return codec.dumps(value, ensure_ascii=False)
