"""How much does raw text beside a small treebank help a chart CRF?

Set-up: the first trees of the training parts of wsj-sample and of GENIA (X over X collapsed), and as raw text the
words of the 2,000 sentences behind them. Defaults; EVALB, COLLINS, on the whole development part, with gold tags
and with own ones. Processor seconds of learning in one process, compiled code warm.

Conclusion (results/raw_text_for_layers.csv): with own tags it gains three points at 100 trees, almost two at 300
and one at 1,000, since the text teaches words; with gold tags two points at 100 trees and nothing from 300 on.

    python benchmarks/bench_raw_text_for_layers.py [PACK:TREES…]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import latentgram as lg
from bench_chart_crf import treebank
from harness import explain, write_rows

RESULTS = Path(__file__).parent / "results" / "raw_text_for_layers.csv"
CASES = ("wsj-sample:100", "wsj-sample:300", "wsj-sample:1000", "genia:300")
BEHIND = 2000
"""Sentences of the text."""


def row(pack: str, trees: int) -> dict[str, object]:
    """A layer without text and one with it."""
    train, dev = treebank(pack, "train"), treebank(pack, "dev")
    behind = lg.Text.of(sentence.words for sentence in train[trees : trees + BEHIND].sentences())
    table: dict[str, object] = {"treebank": pack, "trees": trees}
    for name, text in (("alone", None), ("with text", behind)):
        began = time.process_time()
        parser = lg.Parser(lg.fit(lg.ChartCRF, train[:trees], by=lg.Gradient(text=text)))
        seconds = time.process_time() - began
        for tags in ("gold", "own"):
            table[f"F1 {name}, {tags} tags"] = f"{parser.evaluate(dev, gold_tags=tags == 'gold').f1:.2f}"
        table[f"training {name}, s"] = f"{seconds:.0f}"
    print(table, file=sys.stderr, flush=True)
    return table


def main() -> None:
    explain()
    warm = lg.demo_treebank(30, seed=0)
    by = lg.Gradient(states=2, text=lg.Text.of(sentence.words for sentence in warm.sentences()))
    lg.Parser(lg.fit(lg.ChartCRF, warm, by=by)).parse(warm[0].sentence)
    cases = [case.split(":") for case in sys.argv[1:] or CASES]
    table = [row(pack, int(trees)) for pack, trees in cases]
    print(f"| {' | '.join(table[0])} |")
    print("|---|" + "--:|" * (len(table[0]) - 1))
    for line in table:
        print(f"| {' | '.join(map(str, line.values()))} |")
    write_rows(RESULTS, table)


if __name__ == "__main__":
    main()
