"""`latentgram tag MODEL.lg [FILE…]`: sentences in, tagged words out, in the same order."""

from __future__ import annotations

import json as codec
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from latentgram.errors import DataError, NoParse

if TYPE_CHECKING:
    from latentgram.data.sentence import Sentence
    from latentgram.parser.answers import Question
    from latentgram.sequences.hmm import HMM
    from latentgram.sequences.tagging import Tagging
    from latentgram.tagger.model import Tagger


TOGETHER = 1000
"""Sentences tagged at a time."""


def tag(
    model: Annotated[
        Path, typer.Argument(help="Model file of a tagger, of an HMM, or of a parser with a tagger.")
    ],
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files to tag, one sentence a line; standard input if none.")
    ] = None,
    decoder: Annotated[
        Literal["posterior", "viterbi"], typer.Option(help="Each tag the most probable, or the best sequence.")
    ] = "posterior",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the posterior of every tag as a third column.")
    ] = False,
    tokenised: Annotated[
        bool, typer.Option("--tokenised", help="Text is one sentence a line, tokens parted by blanks.")
    ] = False,
    nbest: Annotated[
        int | None, typer.Option(min=1, help="So many sequences of tags of each sentence, best first.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="So many sequences of tags drawn from the posterior.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    constraints: Annotated[
        Path | None,
        typer.Option(help="Required and forbidden tags of each sentence, as JSON lines (see `Constraints`)."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="JSON lines: words, tags, their posteriors, log-probabilities.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave faulty sentences out, and count them.")
    ] = False,
    named_by: Annotated[
        str | None,
        typer.Option(help="Tagged sentences, FILE[:COLUMN], by which numbered tags get the names they meet most."),
    ] = None,
    fast: Annotated[
        Path | None,
        typer.Option(help="Tag by memory of n-grams: an automaton, counts, an ARPA file or text (002 §3.2)."),
    ] = None,
) -> None:
    """Tag text with a tagger, or with a hidden Markov model, whose words are separated by blanks.

    Words the model has never seen are tagged by their form and context; how many there were is said at the end.
    Lists and draws have an empty line more after each sentence, and log p(tags | words) in the JSON form. With
    --constraints text is one sentence a line, tokens parted by blanks: {"tags": {"1": "NN"}, "forbidden_tags":
    [[2, "VB"]]} speaks of words counted from 0.
    """
    import latentgram
    from latentgram.cli.console import ensure_input, say
    from latentgram.errors import ModelFileError, SettingError
    from latentgram.learn.reading import read_automaton
    from latentgram.parser.answers import read_questions, with_constraints
    from latentgram.parser.judging import named_tags
    from latentgram.sequences.ngram_tagger_learning import remember_tags

    if nbest is not None and samples is not None:
        raise SettingError("take one of --nbest and --samples")
    if fast is not None and (nbest or samples or constraints or decoder == "viterbi"):
        raise SettingError("--fast tags by memory: no --nbest, --samples, --constraints or --decoder viterbi")
    ensure_input(len(files or []))
    stored = latentgram.load(model)
    tagger = getattr(stored, "tagger", None) if isinstance(stored, latentgram.Parser) else stored
    if not isinstance(tagger, latentgram.HMM | latentgram.Tagger):
        what = "a parser without one" if isinstance(stored, latentgram.Parser) else f"a {type(stored).__name__}"
        raise ModelFileError(f"{model} holds no tagger but {what}")
    if isinstance(tagger, latentgram.Tagger) and (named_by or fast):
        raise SettingError("--named-by and --fast are for hidden Markov models")
    if named_by is not None:
        tagger = named_tags(tagger, named_by)
    rules = None
    if isinstance(tagger, latentgram.Tagger) and not tokenised and constraints is None:
        rules = getattr(stored, "tokeniser", None) or latentgram.Tokeniser()
    bad: list[DataError] | None = [] if skip_bad else None
    # Were a sentence left out here, the lines of the constraints would go with the wrong sentences.
    faults = None if constraints is not None else bad
    questions = read_questions(
        files or [Path("-")], None if files else "text", own_tags=True, bad=faults, tokeniser=rules
    )
    if constraints is not None:
        questions = with_constraints(questions, constraints, bad=bad)
    lists: Iterator[list[Tagging]]
    if fast is not None:
        lists = _together(remember_tags(tagger, read_automaton([fast])).tag_all, questions, bad)
    elif constraints is not None or nbest or samples:
        lists = _lists(tagger, questions, decoder, nbest, samples, seed, bad)
    else:
        lists = _together(partial(tagger.tag_all, decoder=decoder), questions, bad)
    unknown = total = number = 0
    for number, results in enumerate(lists, 1):
        for result in results:
            typer.echo(_as_json(number, result) if json else _as_rows(result, probabilities))
        if (nbest or samples) and not json:
            typer.echo()
        unknown += sum(results[0].unknown)
        total += len(results[0].words)
    if not number:
        say("0 sentences")
    if unknown:
        say(f"{unknown:,} of {total:,} words were never seen in training; they were tagged by their context")
    if bad:
        say(f"faulty sentences left out: {len(bad)}, the first: {bad[0]}")


def _together(
    tag_all: Callable[[list[Sentence]], Iterable[Tagging]],
    questions: Iterable[Question],
    bad: list[DataError] | None,
) -> Iterator[list[Tagging]]:
    """The tagging of each sentence, many at a time; where one of them has none, one at a time, to know which."""
    stream = iter(questions)
    while chunk := list(islice(stream, TOGETHER)):
        try:
            found = list(tag_all([question.sentence for question in chunk]))
        except DataError:
            for question in chunk:
                with _faults_of(question, bad):
                    yield list(tag_all([question.sentence]))
        else:
            yield from ([one] for one in found)


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
    tagger: HMM | Tagger,
    questions: Iterable[Question],
    decoder: str,
    nbest: int | None,
    samples: int | None,
    seed: int,
    bad: list[DataError] | None,
) -> Iterator[list[Tagging]]:
    """The taggings of each sentence under what is known of it; one that has none raises or is kept in `bad`."""
    for question in questions:
        sentence, known = question.sentence, question.known
        with _faults_of(question, bad):
            if nbest is not None:
                yield tagger.nbest(sentence, nbest, known)
            elif samples is not None:
                yield tagger.sample_tags(sentence, samples, seed, known)
            else:
                yield [tagger.tag(sentence, decoder, known)]


def _as_rows(result: Tagging, probabilities: bool) -> str:
    """Words and tags, one a line, and the posterior of each tag where asked for."""
    rows = zip(result.words, result.tags, result.confidence, strict=True)
    if probabilities:
        return "".join(f"{word}\t{name}\t{sure:.4f}\n" for word, name, sure in rows)
    return "".join(f"{word}\t{name}\n" for word, name, _ in rows)


def _as_json(number: int, result: Tagging) -> str:
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
