"""`latentgram eval`: a model against gold trees, or the output of any parser against gold trees."""

from __future__ import annotations

import dataclasses
import json as codec
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from latentgram.cli.options import (
    GOLD_TAGS,
    LIMIT_SECONDS,
    Workers,
    argument,
    check_output,
    command,
    faults_of,
    flag,
    load_parser,
    option,
    options,
)
from latentgram.cli.tables import TableForm
from latentgram.errors import DataError, SettingError

if TYPE_CHECKING:
    from latentgram.data.treebank import AnyTreebank


@options
class Evaluation(Workers):
    """What is asked of `latentgram eval`."""

    first: Path = argument("A model, or the gold trees.", metavar="MODEL.lg|GOLD")
    second: Path = argument("The gold trees, or a parser's output.", metavar="GOLD|OUTPUT")
    against: Path | None = option(
        None, "Another output for the same gold trees: test whether the difference is significant."
    )
    labelled: bool = flag("--labelled", "With --against: compare heads with their relations (LAS).")
    gold_tags: bool = flag("--gold-tags", GOLD_TAGS)
    gold_heads: bool = flag(
        "--gold-heads", "Give the model the gold heads, so that LAS is the accuracy of its relations."
    )
    limit_seconds: float | None = option(None, LIMIT_SECONDS)
    measures: Literal["conll18"] | None = option(
        None,
        "conll18: F1 of segmentation, tags, lemmas and trees as in the shared task; a model is given raw text.",
    )
    punctuation: Literal["none", "upos", "ptb"] | None = option(
        None, "Punctuation to exclude: none (as in UD), by UPOS (the default if there are any), or by Penn tags."
    )
    rules: Path | None = option(None, "EVALB parameter file for brackets, instead of COLLINS.prm.")
    collapse_unaries: bool = flag("--collapse-unaries", "Count X above X once, in gold and output (GENIA).")
    calibration: bool = flag(
        "--calibration",
        "Measure how well the model's probabilities are calibrated, and the score of its most confident parses.",
    )
    plot: Path | None = option(None, "Draw the reliability diagram into this SVG file.")
    rows: bool = flag("--rows", "First print one row per sentence, like EVALB; with --to, only these rows.")
    json: bool = flag("--json", "Print the figures, in percent, as JSON.")
    to: TableForm = None

    @property
    def by_model(self) -> bool:
        """Whether a model is scored, and not somebody's output."""
        return self.first.suffix == ".lg"


@command
def evaluate(asked: Evaluation) -> None:
    """Score trees or tags: labelled brackets like EVALB, attachment (UAS, LAS), or the tags of FILE[:COLUMN]."""
    from latentgram.cli.console import say
    from latentgram.cli.tables import write_figures, write_table
    from latentgram.evaluate.bracketing import BracketingScore, bracket_rows
    from latentgram.evaluate.evalb import COLLINS, read_rules
    from latentgram.evaluate.treebanks import compare_treebanks, read_output, score_rows, score_treebanks

    check_output(asked.plot, asked.first, asked.second)
    rules = dataclasses.replace(
        COLLINS if asked.rules is None else read_rules(asked.rules), collapse_unaries=asked.collapse_unaries
    )
    if asked.calibration or asked.plot is not None:
        _judge(asked)
        return
    if asked.gold_heads and (asked.measures is not None or not asked.by_model):
        raise SettingError("--gold-heads needs a parser, and excludes --measures")
    if asked.measures is not None:
        _score_text(asked)
        return
    gold, output, fallback = _parsed(asked) if asked.by_model else _read_both(asked)
    if not len(gold):
        raise DataError("there are no sentences to score", path=asked.second if asked.by_model else asked.first)
    if asked.rows and asked.to is not None:
        with faults_of(asked.second):
            write_table(*score_rows(gold, output, rules=rules, punctuation=asked.punctuation), asked.to)
        return
    if asked.rows and gold.kind == "constituency":
        typer.echo(bracket_rows(gold.forest, output.forest, rules).table())
    with faults_of(asked.second):
        score = score_treebanks(gold, output, rules=rules, punctuation=asked.punctuation, fallback=fallback)
    if isinstance(score, BracketingScore) and score.errors == len(gold):
        raise DataError("no sentence of the output has the same words as its gold tree", path=asked.second)
    if any(fallback):
        say(f"fallback trees, for sentences without a parse: {sum(fallback)} of {len(fallback)}")
    if asked.against is None:
        write_figures(score.to_json(), asked.to, asked.json, score.table)
        return
    rival, _ = _read(asked.against, read_output)
    result = compare_treebanks(
        gold, output, rival, rules=rules, punctuation=asked.punctuation, labelled=asked.labelled
    )
    figures = {**score.to_json(), "against": result.to_json()}
    write_figures(figures, asked.to, asked.json, lambda: f"{score}\n{result}")


def _score_text(asked: Evaluation) -> None:
    """A text cut into sentences and words and analysed, against the right analysis."""
    from latentgram.cli.tables import write_figures
    from latentgram.data.surface import raw_text
    from latentgram.data.treebank import Treebank
    from latentgram.evaluate.conll18 import score_conll18

    if asked.against is not None or asked.gold_tags or asked.rules is not None:
        raise SettingError("--measures excludes --against, --gold-tags and --rules")
    gold = Treebank.read(asked.second if asked.by_model else asked.first)
    with faults_of(asked.second), asked.engine() as engine:
        if asked.by_model:
            parser = load_parser(asked.first)
            sentences = parser.sentences_of(raw_text(gold.dependency_trees))
            output = Treebank.of(parse.tree for parse in parser.parse_many(sentences, engine=engine))
        else:
            output = Treebank.read(asked.second)
        score = score_conll18(gold.dependency_trees, output.dependency_trees)
    write_figures(score.to_json(), asked.to, asked.json, score.table)


def _read_both(asked: Evaluation) -> tuple[AnyTreebank, AnyTreebank, list[bool]]:
    """Gold trees or tags, and a parser's or tagger's output."""
    from latentgram.cli.console import say
    from latentgram.data.treebank import Treebank
    from latentgram.evaluate.treebanks import read_output

    gold, gold_column = _read(asked.first, Treebank.read)
    output, column = _read(asked.second, read_output)
    if gold.kind == "tagged":
        columns = f"column {gold_column} of {asked.first.name}, column {column} of {asked.second.name}"
        say(f"tags compared: {columns}; words are column 0")
    return gold, output, []


def _read(file: Path, read: Callable[[Path], AnyTreebank]) -> tuple[AnyTreebank, int]:
    """Trees; or, of FILE or FILE:COLUMN, sentences with the tags of a column, and which it is."""
    from latentgram.data.tag_dictionary import split_specification
    from latentgram.data.treebank import Treebank
    from latentgram.learn.reading import is_tagged

    name, *numbers = split_specification(str(file))
    if file.exists() or not is_tagged(str(file)) or len(numbers) != 1:
        return read(file), 1
    column = int(numbers[0])
    return Treebank.read(name, tag_column=column), column


def _parsed(asked: Evaluation) -> tuple[AnyTreebank, AnyTreebank, list[bool]]:
    """Gold trees, the model's trees for their sentences, and which of these are fallbacks."""
    from latentgram.cli.console import counted, say
    from latentgram.data.treebank import Treebank

    gold = Treebank.read(asked.second)
    with faults_of(asked.second), asked.engine() as engine:
        parser = load_parser(asked.first, asked.limit_seconds)
        parser.refuse_other_trees(gold.kind)
        own = parser.tags_itself and not asked.gold_tags
        say("tags: predicted (--gold-tags uses those of the trees)" if own else "tags: from the trees")
        if asked.gold_heads:
            named = parser.name_arcs(gold.dependency_trees, gold_tags=asked.gold_tags)
            return gold, Treebank.of(named), []
        questions = (parser.question(tree, asked.gold_tags) for tree in gold)
        parses = list(counted(parser.parse_many(questions, engine=engine), "parsing", len(gold)))
        if coarse := sum(parse.coarse for parse in parses):
            say(f"coarse trees, for sentences that exceeded the time limit: {coarse} of {len(parses)}")
        return gold, Treebank.of(parse.tree for parse in parses), [parse.fallback for parse in parses]


def _judge(asked: Evaluation) -> None:
    """How far a model's probabilities can be trusted."""
    import latentgram
    from latentgram.cli.console import progress
    from latentgram.cli.tables import write_table
    from latentgram.data.files import write_text
    from latentgram.view.plots import reliability_plot

    with faults_of(asked.second), asked.engine() as engine, progress() as shown:
        parser, trees = load_parser(asked.first), latentgram.Treebank.read(asked.second)
        outcomes = latentgram.reliability(parser, trees, gold_tags=asked.gold_tags, engine=engine, progress=shown)
    if asked.to is not None:
        bins = outcomes.reliability.rows()
        write_table(list(bins[0]), [list(row.values()) for row in bins], asked.to)
    else:
        typer.echo(codec.dumps(outcomes.to_json()) if asked.json else outcomes.table())
    if asked.plot is not None:
        with write_text(asked.plot) as out:
            out.write(reliability_plot(outcomes.reliability))
