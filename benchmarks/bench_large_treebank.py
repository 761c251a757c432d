"""What do very large treebanks, and ones with very many labels, cost?

Set-up: LATENTGRAM_DATA, clustering with default settings, one core, processor time, each row in a process of its
own. `all packs` is the training parts of all constituency treebanks, one after the other, the labels of phrases
kept apart by the name of their treebank (`genia:NP`); `genia` is that treebank alone, a large one with some 500
symbols, and `ensemble` an ensemble learned from it by its defaults; `parents` is the wsj sample with every phrase
labelled by its parent, too (`NP^VP`). Parsed are development sentences (`--parsed`, spread over those of all
packs), words only. `peak MB` is the greatest resident size until the grammar is learned, and until the sentences
are parsed.

Conclusion (results/large_treebank.csv, 150 and 425 sentences, on a busy machine): 27,676 trees with 1,738 symbols
are learned in 54 s, and both treebanks are parsed at more than 200 sentences/s. The memory of learning from all
packs, 1.9 GB, is that of the trees and of three tables of expected counts, 0.3 GB each.

    python benchmarks/bench_large_treebank.py [all|genia|ensemble|parents] [--parsed 300]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import latentgram as lg
from harness import corpora, explain, peak, write_rows

RESULTS = Path(__file__).parent / "results" / "large_treebank.csv"
ROWS = ("all", "genia", "ensemble", "parents")


def relabelled(tree: lg.Tree, label: Callable[[str, str], str], parent: str = "") -> lg.Tree:
    """The tree with new labels of phrases, from the old ones and those of the parents; root and tags stay."""
    if tree.word is not None:
        return tree
    children = tuple(relabelled(child, label, tree.label) for child in tree.children)
    return lg.Tree(label(tree.label, parent) if parent else tree.label, children)


def treebank(row: str, part: str) -> lg.Treebank[Any]:
    """The trees of a row."""
    if row == "parents":
        trees = lg.Treebank.read(corpora() / "constituency" / "wsj-sample" / f"{part}.mrg")
        return lg.Treebank.of(relabelled(tree, lambda label, parent: f"{label}^{parent}") for tree in trees)
    if row in ("genia", "ensemble"):
        return lg.Treebank.read(corpora() / "constituency" / "genia" / f"{part}.mrg")
    packs = sorted((corpora() / "constituency").iterdir())
    return lg.Treebank.of(
        relabelled(tree, lambda label, _, name=pack.name: f"{name}:{label}")  # type: ignore[misc]
        for pack in packs
        for tree in lg.Treebank.read(pack / f"{part}.mrg")
    )


def measure(row: str, parsed: int) -> dict[str, Any]:
    """A row, in this process."""
    train, dev = treebank(row, "train"), treebank(row, "dev")
    lg.Parser(lg.fit(lg.LPCFG, train[:50], by=lg.Clustering())).parse(dev[0].words)  # which compiles
    begin = time.process_time()
    grammar = lg.fit(lg.Ensemble, train) if row == "ensemble" else lg.fit(lg.LPCFG, train, by=lg.Clustering())
    training, learned = time.process_time() - begin, peak()
    chosen = dev[:: max(len(dev) // parsed, 1)]
    parser = lg.Parser(grammar)
    parser.parse(chosen[0].words)
    first = grammar.grammars[0] if isinstance(grammar, lg.Ensemble) else grammar
    begin = time.process_time()
    parses = list(parser.parse_many([tree.words for tree in chosen]))
    seconds = time.process_time() - begin
    return {
        "treebank": row,
        "trees": len(train),
        "symbols": len(first.states),
        "rules": len(first.rules),
        "training s": f"{training:.1f}",
        "peak MB": learned,
        "sentences/s": f"{len(chosen) / seconds:.0f}",
        "peak MB, parsing": peak(),
        "F1": f"{lg.score_brackets(chosen, [parse.tree for parse in parses]).f1:.2f}",
        "fallback": sum(parse.fallback for parse in parses),
    }


def main(rows: list[str], parsed: int) -> None:
    """Measure and write the table."""
    table = []
    for row in rows:
        own = [sys.executable, __file__, "--measure", row, str(parsed)]
        output = subprocess.run(own, check=True, capture_output=True, text=True).stdout
        table.append(json.loads(output.splitlines()[-1]))
        print(table[-1], flush=True)
    write_rows(RESULTS, table)


if __name__ == "__main__":
    explain()
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        number = int(sys.argv[sys.argv.index("--parsed") + 1]) if "--parsed" in sys.argv else 300
        main([name for name in ROWS if name in sys.argv] or list(ROWS), number)
