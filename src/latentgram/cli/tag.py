"""`latentgram tag MODEL.lg [FILE…]`: sentences in, tagged words out, in the same order."""

from __future__ import annotations

import json as codec
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import typer

from latentgram.cli.options import MOST_TREES, SKIP_BAD, TOKENISED, argument, command, flag, option, options
from latentgram.errors import DataError, ModelFileError, NoParse, SettingError

if TYPE_CHECKING:
    from latentgram.data.sentence import Sentence
    from latentgram.data.tokenise import Tokeniser
    from latentgram.parser.answers import Question
    from latentgram.sequences.hmm import HMM
    from latentgram.sequences.tagging import Tagging as Result
    from latentgram.tagger.model import Tagger


TOGETHER = 1000
"""Sentences tagged at a time."""


@options
class Tagging:
    """What is asked of `latentgram tag`."""

    model: Path = argument("Model file of a tagger, of an HMM, or of a parser with a tagger.")
    files: list[Path] | None = argument("Files to tag, one sentence per line; standard input if none.", None)
    decoder: Literal["posterior", "viterbi"] = option(
        "posterior", "Each tag the most probable, or the best sequence."
    )
    probabilities: bool = flag("--probabilities", "Write the posterior of every tag as a third column.")
    tokenised: bool = flag("--tokenised", TOKENISED)
    nbest: int | None = option(None, "So many tag sequences of each sentence, best first.", min=1, max=MOST_TREES)
    samples: int | None = option(None, "So many tag sequences drawn from the posterior.", min=1, max=MOST_TREES)
    seed: int = option(0, "Seed of the draws.", min=0)
    constraints: Path | None = option(
        None, "Required and forbidden tags of each sentence, as JSON lines (see `Constraints`)."
    )
    json: bool = flag("--json", "JSON lines: words, tags, their posteriors, log-probabilities.")
    skip_bad: bool = flag("--skip-bad", SKIP_BAD)
    named_by: str | None = option(
        None, "Tagged sentences, FILE[:COLUMN], by which numbered tags get the names they meet most."
    )
    fast: Path | None = option(
        None, "Tag by memory of n-grams (Smith and Eisner 2012, §3.2): an automaton, counts, an ARPA file or text."
    )

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.nbest is not None and self.samples is not None:
            raise SettingError("take one of --nbest and --samples")
        if self.fast is not None and (self.several or self.constraints or self.decoder == "viterbi"):
            raise SettingError("--fast tags by memory: no --nbest, --samples, --constraints or --decoder viterbi")

    @property
    def several(self) -> bool:
        """Whether a list is wanted of each sentence."""
        return (self.nbest or self.samples) is not None


@command
def tag(asked: Tagging) -> None:
    """Tag text with a tagger, or with a hidden Markov model, whose words are separated by blanks.

    Words the model has never seen are tagged by their form and context; how many there were is said at the end.
    Lists and draws have an empty line more after each sentence, and log p(tags | words) in the JSON form. With
    --constraints text is one sentence per line, words separated by spaces: {"tags": {"1": "NN"},
    "forbidden_tags": [[2, "VB"]]} speaks of words counted from 0.
    """
    from latentgram.cli.console import ensure_input, say
    from latentgram.parser.answers import read_questions

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
    unknown = total = number = 0
    for number, results in enumerate(_tagged(tagger, questions, asked, bad), 1):
        for result in results:
            typer.echo(_as_json(number, result) if asked.json else _as_rows(result, asked.probabilities))
        if asked.several and not asked.json:
            typer.echo()
        unknown += sum(results[0].unknown)
        total += len(results[0].words)
    if not number:
        say("0 sentences")
    if unknown:
        say(f"{unknown:,} of {total:,} words were never seen in training; they were tagged by their context")
    if bad:
        say(f"faulty sentences left out: {len(bad)}, the first: {bad[0]}")


def _tagger(asked: Tagging) -> tuple[HMM | Tagger, Tokeniser | None]:
    """The tagger of a file, and how text is cut into words for it, if not at blanks."""
    import latentgram
    from latentgram.parser.judging import named_tags

    stored = latentgram.load(asked.model)
    parser = stored if isinstance(stored, latentgram.Parser) else None
    tagger = stored if parser is None else parser.tagger
    if isinstance(tagger, latentgram.HMM):
        return tagger if asked.named_by is None else named_tags(tagger, asked.named_by), None
    if not isinstance(tagger, latentgram.Tagger):
        what = f"a {type(stored).__name__}" if parser is None else "a parser without one"
        raise ModelFileError(f"{asked.model} holds no tagger but {what}")
    if asked.named_by or asked.fast:
        raise SettingError("--named-by and --fast are for hidden Markov models")
    rules = None if parser is None else parser.tokeniser
    return tagger, rules or latentgram.Tokeniser()


def _tagged(
    tagger: HMM | Tagger, questions: Iterable[Question], asked: Tagging, bad: list[DataError] | None
) -> Iterator[list[Result]]:
    """The taggings of each sentence; one that has none raises or is kept in `bad`."""
    from latentgram.learn.reading import read_automaton
    from latentgram.sequences.ngram_tagger import remember_tags

    if asked.fast is not None:
        return _together(remember_tags(cast("HMM", tagger), read_automaton([asked.fast])).tag_all, questions, bad)
    if asked.constraints is not None or asked.several:
        return _lists(tagger, questions, asked, bad)
    return _together(partial(tagger.tag_all, decoder=asked.decoder), questions, bad)


def _together(
    tag_all: Callable[[list[Sentence]], Iterable[Result]],
    questions: Iterable[Question],
    bad: list[DataError] | None,
) -> Iterator[list[Result]]:
    """The tagging of each sentence, many at a time; where one of them has none, one at a time, to know which."""
    stream = iter(questions)
    while chunk := list(islice(stream, TOGETHER)):
        try:
            results = list(tag_all([question.sentence for question in chunk]))
        except DataError:
            for question in chunk:
                with _faults_of(question, bad):
                    yield list(tag_all([question.sentence]))
        else:
            yield from ([result] for result in results)


@contextmanager
def _faults_of(question: Question, bad: list[DataError] | None) -> Iterator[None]:
    """What is wrong with a sentence is raised with its place, or kept in `bad`."""
    try:
        yield
    except (NoParse, DataError) as error:
        if bad is None:
            raise question.fault(error) from None
        bad.append(question.fault(error))


def _lists(
    tagger: HMM | Tagger, questions: Iterable[Question], asked: Tagging, bad: list[DataError] | None
) -> Iterator[list[Result]]:
    """The taggings of each sentence under what is known of it."""
    for question in questions:
        sentence, known = question.sentence, question.known
        with _faults_of(question, bad):
            if asked.nbest is not None:
                yield tagger.nbest(sentence, asked.nbest, known)
            elif asked.samples is not None:
                yield tagger.sample_tags(sentence, asked.samples, asked.seed, known)
            else:
                yield [tagger.tag(sentence, asked.decoder, known)]


def _as_rows(result: Result, probabilities: bool) -> str:
    """Words and tags, one a line, and the posterior of each tag where asked for."""
    rows = zip(result.words, result.tags, result.confidence, strict=True)
    if probabilities:
        return "".join(f"{word}\t{name}\t{sure:.4f}\n" for word, name, sure in rows)
    return "".join(f"{word}\t{name}\n" for word, name, _ in rows)


def _as_json(number: int, result: Result) -> str:
    """A line; what is not known is null."""
    logs = {name: getattr(result, name) for name in ("logprob", "tags_logprob")}
    value = {
        "sentence": number,
        "words": result.words,
        "tags": result.tags,
        "confidence": result.confidence,
        **{name: log if math.isfinite(log) else None for name, log in logs.items()},
    }
    return codec.dumps(value, ensure_ascii=False)
