"""`latentgram demo`: a complete example on generated data, in under a minute."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from latentgram.data.tree import Tree
    from latentgram.data.treebank import Treebank
    from latentgram.kinds.settings import Settings
    from latentgram.view.report import Report

LATENT = "latent PCFG"
TRAIN, TEST, DRAWN = 5000, 300, 4
EXPECTED = 40
"""Seconds that compiling all of it is likely to take."""


def demo(
    output: Annotated[Path, typer.Option(help="Folder to write to; created if it does not exist.")] = Path(
        "latentgram-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated treebank.")] = 0,
) -> None:
    """Generate a treebank, learn grammars, parse, evaluate, draw trees and write a report.

    The sentences come from a small grammar of English with agreement, attachment preferences, coordination and
    relative clauses, so that a plain PCFG does badly where hidden states do well.
    """
    import latentgram
    from latentgram.cli.console import say
    from latentgram.data.demo import demo_treebank
    from latentgram.data.files import write_text
    from latentgram.kernel_cache import compiling
    from latentgram.view.report import Report

    compiling.expected = EXPECTED
    output.mkdir(parents=True, exist_ok=True)
    train, test = demo_treebank(TRAIN, seed), demo_treebank(TEST, seed + 1)
    train.write(output / "train.mrg")
    test.write(output / "test.mrg")
    say(f"generated {len(train)} training trees and {len(test)} test trees")
    report = Report("latentgram demo")
    report.text(f"Grammars learned from {len(train)} generated trees, tested on {len(test)} others.")
    learners = {"PCFG": latentgram.Counting(), LATENT: latentgram.Spectral(states=16)}
    rows = [_learn(name, learner, train, test, output) for name, learner in learners.items()]
    report.table(("grammar", "F1", "exact", "tags", "trained in", "sentences/s"), rows)
    _draw(report, test, output)
    with write_text(output / "report.html") as page:
        page.write(report.html())
    typer.echo(f"{output / 'report.html'}")


def _learn(name: str, learner: Settings, train: Treebank[Tree], test: Treebank[Tree], output: Path) -> list[str]:
    """Learn, store, load, evaluate: one row of the report."""
    import latentgram
    from latentgram.cli.console import progress, say

    path = _model_file(output, name)
    with progress() as shown:
        grammar = latentgram.fit(latentgram.LPCFG, train, by=learner, progress=shown)
    latentgram.save(latentgram.Parser(grammar), path)
    parser = latentgram.load(path, latentgram.Parser)
    parser.parse(test[0].sentence)
    started = time.perf_counter()
    score = parser.evaluate(test)
    rate = len(test) / (time.perf_counter() - started)
    say(f"{name}: {score}")
    seconds = f"{parser.model.provenance.seconds:.2f} s"
    return [name, f"{score.f1:.2f}", f"{score.exact:.2f}", f"{score.accuracy:.2f}", seconds, f"{rate:.0f}"]


def _program() -> str:
    """How this command is called again: by its name, if the shell finds it."""
    return "latentgram" if shutil.which("latentgram") else sys.argv[0]


def _model_file(folder: Path, name: str) -> Path:
    return folder / f"{name.lower().replace(' ', '-')}.lg"


def _draw(report: Report, test: Treebank[Tree], output: Path) -> None:
    """Draw parses of a few test sentences, coloured by the posterior of their nodes."""
    import latentgram
    from latentgram.cli.console import say
    from latentgram.data.files import write_text
    from latentgram.view.trees import draw

    path = _model_file(output, LATENT)
    parser = latentgram.load(path, latentgram.Parser)
    report.heading("Trees")
    report.text("Labels are blue where the grammar is confident of the node, and orange where it is uncertain.")
    for number, gold in enumerate(test[:DRAWN], 1):
        parse = parser.parse(" ".join(gold.words))
        picture = draw(parse.tree, parse.confidence.tolist())
        with write_text(output / f"tree-{number}.svg") as out:
            out.write(picture)
        if number == 1:
            say(f"{parse.tree}\nThe picture is {output / 'tree-1.svg'}. To parse sentences of your own:")
            say(f'echo "{" ".join(gold.words)}" | {_program()} parse {path} --probabilities')
        right = "right" if parse.tree == gold else "not the tree of the treebank"
        report.picture(picture, f"{' '.join(gold.words)} (log p = {parse.logprob:.1f}; {right})")
