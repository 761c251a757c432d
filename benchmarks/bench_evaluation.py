"""How many sentences per second does scoring take on?

Set-up: the development part of the wsj sample (LATENTGRAM_DATA) against itself with a tenth of its brackets taken
out, twelve times over; bracketing from flat forests and from tree objects, attachment over as many random trees.
One core, processor time, best of five, after one call that compiles.

Conclusion: scoring a development set costs milliseconds, so learners may do it in every iteration.
"""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from harness import explain
from latentgram.data.dependencies import DependencyTree
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.evaluate.attachment import score_attachment
from latentgram.evaluate.bracketing import score_brackets

REPEATS = 12


def thinned(tree: Tree, random: np.random.Generator) -> Tree:
    """The tree without a tenth of the nodes below its root."""
    children: list[Tree] = []
    for child in tree.children:
        part = child if child.word is not None else thinned(child, random)
        children.extend(part.children if part.children and random.random() < 0.1 else (part,))
    return Tree(tree.label, tuple(children), tree.word)


def seconds(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(5):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def main() -> int:
    folder = os.environ.get("LATENTGRAM_DATA")
    if not folder:
        print("LATENTGRAM_DATA does not point to the real corpora: nothing to measure")
        return 0
    random = np.random.default_rng(0)
    gold = list(Treebank.read(Path(folder) / "constituency" / "wsj-sample" / "dev.mrg")) * REPEATS
    output = [thinned(tree, random) for tree in gold]
    forests = Forest.of(gold), Forest.of(output)
    heads = [
        DependencyTree(tree.words, tuple(int(h) for h in random.integers(len(tree), size=len(tree))))
        for tree in gold
    ]
    guesses = [tree.replace(heads=tree.heads[::-1]) for tree in heads]
    rows = [
        ("bracketing, forests", seconds(lambda: score_brackets(*forests))),
        ("bracketing, trees", seconds(lambda: score_brackets(gold, output))),
        ("attachment", seconds(lambda: score_attachment(heads, guesses, punctuation="none"))),
    ]
    results = Path(__file__).parent / "results" / "evaluation.csv"
    results.parent.mkdir(exist_ok=True)
    with results.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("what", "sentences", "sentences_per_second"))
        for what, spent in rows:
            writer.writerow((what, len(gold), round(len(gold) / spent)))
            print(f"{what:22}{len(gold) / spent:10,.0f} sentences/s")
    return 0


if __name__ == "__main__":
    explain()
    sys.exit(main())
