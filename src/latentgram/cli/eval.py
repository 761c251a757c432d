"""`latentgram eval`: a model against gold trees, or the output of any parser against gold trees."""

from __future__ import annotations

import json as codec
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from latentgram.cli.models import load_parser
from latentgram.cli.places import check_output, faults_of
from latentgram.cli.workers import ClusterAddress, NJobs, engine_of
from latentgram.errors import DataError

if TYPE_CHECKING:
    from latentgram.data.treebank import Treebank
    from latentgram.parallel import Engine


def evaluate(
    first: Annotated[Path, typer.Argument(metavar="MODEL.lg|GOLD", help="A model, or the gold trees.")],
    second: Annotated[Path, typer.Argument(metavar="GOLD|OUTPUT", help="The gold trees, or a parser's output.")],
    against: Annotated[
        Path | None, typer.Option(help="Another output for the same gold trees: is it better, or is it chance?")
    ] = None,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="With --against: compare heads with their relations (LAS).")
    ] = False,
    gold_tags: Annotated[
        bool, typer.Option("--gold-tags", help="Give the model the tags of the gold trees.")
    ] = False,
    punctuation: Annotated[
        Literal["none", "upos", "ptb"] | None,
        typer.Option(
            help="Dependents left out: none (as UD does), by UPOS (the default if there are any), or Penn tags."
        ),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(help="EVALB parameter file for brackets, in place of COLLINS.prm.")
    ] = None,
    collapse_unaries: Annotated[
        bool, typer.Option("--collapse-unaries", help="Count X over X once, in gold and output (GENIA).")
    ] = False,
    calibration: Annotated[
        bool,
        typer.Option(
            "--calibration", help="How far the model's probabilities can be trusted, and the surest part."
        ),
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the reliability into this SVG file.")] = None,
    rows: Annotated[bool, typer.Option("--rows", help="One row a sentence first, as EVALB prints it.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print figures, in percent, as JSON.")] = False,
    n_jobs: NJobs = 1,
    cluster: ClusterAddress = None,
) -> None:
    """Score trees: labelled brackets as EVALB does, attachment of heads, or tags of FILE[:COLUMN]."""
    import dataclasses

    import latentgram
    from latentgram.cli.console import say
    from latentgram.evaluate.bracketing import bracket_rows
    from latentgram.evaluate.evalb import COLLINS, read_rules
    from latentgram.evaluate.treebanks import compare_treebanks, read_output, score_treebanks

    check_output(plot, first, second)
    scoring = dataclasses.replace(
        COLLINS if rules is None else read_rules(rules), collapse_unaries=collapse_unaries
    )
    fallback: list[bool] = []
    if calibration or plot is not None:
        with faults_of(second), engine_of(n_jobs, cluster) as engine:
            _judge(first, second, gold_tags, engine, json, plot)
        return
    if first.suffix == ".lg":
        gold = latentgram.Treebank.read(second)
        with faults_of(second), engine_of(n_jobs, cluster) as engine:
            output, fallback = _parsed(first, gold, gold_tags, engine)
    else:
        (gold, one), (output, other) = _read(first, latentgram.Treebank.read), _read(second, read_output)
        if gold.kind == "tagged":
            say(
                f"tags compared: column {one} of {first.name}, column {other} of {second.name}; words are column 0"
            )
    if not len(gold):
        raise DataError("there are no sentences to score", path=second if first.suffix == ".lg" else first)
    if rows and gold.kind == "constituency":
        typer.echo(bracket_rows(gold.forest, output.forest, scoring).table())
    with faults_of(second):
        score = score_treebanks(gold, output, rules=scoring, punctuation=punctuation, fallback=fallback)
    if getattr(score, "errors", 0) == len(gold):
        raise DataError("no sentence of the output has the words of its gold tree", path=second)
    if any(fallback):
        say(f"fallback trees, where the model has no parse: {sum(fallback)} of {len(fallback)}")
    if against is None:
        typer.echo(codec.dumps(score.to_json()) if json else score.table())
        return
    rival, _ = _read(against, read_output)
    result = compare_treebanks(gold, output, rival, rules=scoring, punctuation=punctuation, labelled=labelled)
    typer.echo(codec.dumps({**score.to_json(), "against": result.to_json()}) if json else f"{score}\n{result}")


def _read(file: Path, read: Callable[[Path], Treebank[Any]]) -> tuple[Treebank[Any], int]:
    """Trees; or, of FILE or FILE:COLUMN, sentences with the tags of a column, and which it is."""
    import latentgram
    from latentgram.data.tag_dictionary import split_specification
    from latentgram.learn.reading import is_tagged

    name, *numbers = split_specification(str(file))
    if file.exists() or not is_tagged(str(file)) or len(numbers) != 1:
        return read(file), 1
    column = int(numbers[0])
    return latentgram.Treebank.read(name, tag_column=column), column


def _parsed(model: Path, gold: Treebank[Any], gold_tags: bool, engine: Engine) -> tuple[Treebank[Any], list[bool]]:
    """The model's trees for the sentences of a treebank, and which of them are fallbacks."""
    import latentgram
    from latentgram.cli.console import counted

    parser = load_parser(model)
    questions = (parser.question(tree, gold_tags) for tree in gold)
    parses = list(counted(parser.parse_many(questions, engine=engine), "parsing", len(gold)))
    return latentgram.Treebank.of(parse.tree for parse in parses), [parse.fallback for parse in parses]


def _judge(model: Path, trees: Path, gold_tags: bool, engine: Engine, json: bool, plot: Path | None) -> None:
    """How far a model's probabilities can be trusted."""
    import latentgram
    from latentgram.data.files import write_text
    from latentgram.view.plots import reliability_plot

    parser = load_parser(model)
    found = latentgram.reliability(parser, latentgram.Treebank.read(trees), gold_tags=gold_tags, engine=engine)
    typer.echo(codec.dumps(found.to_json()) if json else found.table())
    if plot is not None:
        with write_text(plot) as out:
            out.write(reliability_plot(found.reliability))
