"""`latentgram parse MODEL.lg [FILE…]`: sentences in, trees out, in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, repeat, tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from latentgram.data.constraints import Constraints
    from latentgram.data.sentence import Sentence
    from latentgram.parser.parser import Parser
    from latentgram.parser.result import Parse

Inputs = Literal["text", "tagged", "conllu", "brackets"]
Outputs = Literal["brackets", "conllu", "json", "outline"]
Decoders = Literal[
    "viterbi", "goodman", "max-rule", "recall", "f1", "unlabelled-recall", "unlabelled-f1", "mbr", "mbr-sum"
]


def parse(
    model: Annotated[Path, typer.Argument(help="Model file of a parser.")],
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files to parse, one sentence a line; standard input if none.")
    ] = None,
    format: Annotated[
        Inputs | None,
        typer.Option(help="What the input is; by default told by the name of a file, and text on standard input."),
    ] = None,
    to: Annotated[Outputs | None, typer.Option(help="Output format; by default brackets or CoNLL-U.")] = None,
    tokenised: Annotated[
        bool, typer.Option("--tokenised", help="Text is one sentence a line, tokens parted by blanks.")
    ] = False,
    own_tags: Annotated[bool, typer.Option("--own-tags", help="Ignore tags in the input.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the posterior of every node, arc and tag.")
    ] = False,
    nbest: Annotated[int | None, typer.Option(min=1, help="So many trees of each sentence, best first.")] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="So many trees drawn from the posterior.")] = None,
    diverse: Annotated[
        int | None, typer.Option(min=1, help="So many different trees among 100 draws, the commonest first.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    constraints: Annotated[
        Path | None, typer.Option(help="What is known of each sentence, as JSON lines (see `Constraints`).")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Square brackets in the text are known phrases: The [NP old man ] …")
    ] = False,
    decoder: Annotated[
        Decoders | None, typer.Option(help="What the best tree is; by default the model's.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave faulty sentences out, and count them.")
    ] = False,
    n_jobs: Annotated[int, typer.Option("--n-jobs", min=1, help="Worker processes.")] = 1,
) -> None:
    """Parse raw text, tagged text, CoNLL-U or the words of trees.

    Text is cut into sentences and words, but for lines that end in a point standing alone: they are taken as
    sentences whose tokens are parted by blanks already (all lines are with --tokenised, --partial, --constraints).

    A sentence that the grammar cannot derive still gets a tree; how many did is said at the end. Lists and draws
    have an empty line after each sentence, and probabilities of whole trees in the JSON form.
    """
    import dataclasses

    import latentgram
    from latentgram.cli.console import counted, ensure_input, say
    from latentgram.data.constraints import partial_brackets, read_constraints
    from latentgram.errors import DataError, SettingError
    from latentgram.parser.decoders import decoder_named
    from latentgram.parser.output import render

    if sum(choice is not None for choice in (nbest, samples, diverse)) > 1:
        raise SettingError("take one of --nbest, --samples and --diverse")
    if partial and (constraints is not None or format not in (None, "text")):
        raise SettingError("--partial reads its constraints from plain text")
    ensure_input(len(files or []))
    parser = latentgram.load(model, latentgram.Parser)
    if decoder is not None:
        parser = dataclasses.replace(parser, decoder=decoder_named(decoder))
    bad: list[DataError] | None = [] if skip_bad else None
    kind = "text" if partial else format or (None if files else "text")
    cut = tokenised or partial or constraints is not None
    rules = None if cut else parser.tokeniser or latentgram.Tokeniser()
    given = latentgram.Treebank.stream_sentences(files or [Path("-")], kind, bad=bad, tokeniser=rules)
    sentences: Iterable[Sentence] = (sentence.without_tags() if own_tags else sentence for sentence in given)
    known: Iterable[Constraints | None] = () if constraints is None else read_constraints(constraints)
    if partial:
        first, second = tee(partial_brackets(" ".join(sentence.words)) for sentence in sentences)
        sentences, known = (sentence for sentence, _ in first), (parts for _, parts in second)
    fallbacks, several = 0, (nbest or samples or diverse) is not None
    lists = (
        _lists(parser, sentences, known, nbest, samples, diverse, seed)
        if several
        else ([one] for one in parser.parse_many(sentences, known, n_jobs=n_jobs))
    )
    for results in counted(lists, "parsing"):
        for result in results:
            typer.echo(render(result, to, probabilities), nl=False)
        if several:
            typer.echo()
        fallbacks += results[0].fallback
    if fallbacks:
        say(f"sentences without a parse under the grammar, which got fallback trees: {fallbacks}")
    if bad:
        say(f"faulty sentences left out: {len(bad)}, the first: {bad[0]}")


def _lists(
    parser: Parser,
    sentences: Iterable[Sentence],
    known: Iterable[Constraints | None],
    nbest: int | None,
    samples: int | None,
    diverse: int | None,
    seed: int,
) -> Iterator[list[Parse]]:
    """Several trees of each sentence."""
    for sentence, parts in zip(sentences, chain(known, repeat(None)), strict=False):
        if nbest is not None:
            yield parser.nbest(sentence, nbest, parts)
        elif samples is not None:
            yield parser.sample(sentence, samples, seed, parts)
        else:
            yield parser.diverse(sentence, diverse or 1, seed=seed, known=parts)
