"""`latentgram tag MODEL.lg [FILE…]`: sentences in, tagged words out, in the same order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


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
    """
    import latentgram
    from latentgram.cli.console import ensure_input, say
    from latentgram.cli.sequences import named_tags, read_automaton
    from latentgram.errors import ModelFileError, SettingError
    from latentgram.learn.ngram_tagger import remember_tags

    ensure_input(len(files or []))
    stored = latentgram.load(model)
    tagger = getattr(stored, "tagger", None) if isinstance(stored, latentgram.Parser) else stored
    if not isinstance(tagger, latentgram.HMM | latentgram.Tagger):
        raise ModelFileError(f"{model} holds no tagger but a {type(stored).__name__}")
    if isinstance(tagger, latentgram.Tagger) and (named_by or fast):
        raise SettingError("--named-by and --fast are for hidden Markov models")
    if named_by is not None:
        tagger = named_tags(tagger, named_by)
    rules = None
    if isinstance(tagger, latentgram.Tagger) and not tokenised:
        rules = getattr(stored, "tokeniser", None) or latentgram.Tokeniser()
    given = latentgram.Treebank.stream_sentences(files or [Path("-")], None if files else "text", tokeniser=rules)
    words = (sentence.without_tags() for sentence in given)
    if fast is not None:
        results = remember_tags(tagger, read_automaton([fast])).tag_all(words)
    else:
        results = tagger.tag_all(words, decoder)
    unknown = total = 0
    for result in results:
        rows = zip(result.words, result.tags, result.confidence, strict=True)
        if probabilities:
            lines = [f"{word}\t{name}\t{sure:.4f}" for word, name, sure in rows]
        else:
            lines = [f"{word}\t{name}" for word, name, _ in rows]
        typer.echo("\n".join(lines) + "\n")
        unknown += sum(result.unknown)
        total += len(result.words)
    if unknown:
        say(f"{unknown:,} of {total:,} words were never seen in training; they were tagged by their context")
