"""The table of the README: how accurate is each parser, how long does it learn, and how fast does it parse?

Set-up: the NLTK sample of the Penn Treebank (`wsj-sample` under LATENTGRAM_DATA), learned from `train` with the
settings named in the table, parsed and scored on `dev` with gold tags; EVALB with COLLINS.prm for phrases, words
tagged as punctuation left out (ptb) for heads. One process, one thread, processor time, compiled code warm, all
rows in one run. Writes results/readme.csv and puts the table into README.md between its marks.

Conclusion: the table.

    python benchmarks/bench_readme.py
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import latentgram as lg
from harness import corpora, explain, write_rows

RESULTS = Path(__file__).parent / "results" / "readme.csv"
README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- begin: python benchmarks/bench_readme.py -->\n", "<!-- end -->"
PHRASES: dict[str, tuple[Any, Any]] = {
    "plain PCFG": (lg.LPCFG, lg.Counting()),
    "L-PCFG, spectral, 16 states": (lg.LPCFG, lg.Spectral(states=16)),
    "L-PCFG, clustering, 16 states": (lg.LPCFG, lg.Clustering(states=16)),
    "L-PCFG with a discriminative layer": (lg.ChartCRF, lg.Gradient()),
}
HEADS: dict[str, tuple[Any, Any]] = {
    "split head automata, spectral × words × distance": (lg.ProductSHAG, lg.Spectral()),
    "arc-factored, second order": (lg.ArcFactored, lg.MIRA(order=2)),
}


def measure(name: str, model: Any, learner: Any, train: Any, dev: Any) -> dict[str, str]:
    """One row."""
    warm = lg.Parser(lg.fit(model, train[:60], by=learner))  # compiles
    list(warm.parse_many(dev.sentences()[:3]))
    began = time.process_time()
    parser = lg.Parser(lg.fit(model, train, by=learner))
    learned = time.process_time()
    parses = list(parser.parse_many(dev.sentences()))
    rate = len(dev) / (time.process_time() - learned)
    trees: list[Any] = [parse.tree for parse in parses]
    if dev.kind == "constituency":
        score = f"F1 {lg.score_brackets(dev.forest, trees).f1:.2f}"
    else:
        score = f"UAS {lg.score_attachment(dev, trees, punctuation='ptb').uas:.2f}"
    seconds = learned - began
    training = f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
    row = {"parser": name, "score": score, "training": training, "sentences per second": f"{rate:.0f}"}
    print(row, flush=True)
    return row


def main() -> None:
    explain()
    rows = []
    for room, ending, models in (("constituency", "mrg", PHRASES), ("dependency", "conllu", HEADS)):
        folder = corpora() / room / "wsj-sample"
        train, dev = (lg.Treebank.read(folder / f"{part}.{ending}") for part in ("train", "dev"))
        if room == "constituency":
            train = train.clean()[0]
        rows += [measure(name, *pair, train, dev) for name, pair in models.items()]
    write_rows(RESULTS, rows)
    lines = ["| " + " | ".join(rows[0]) + " |", "|---|--:|--:|--:|"]
    lines += ["| " + " | ".join(row.values()) + " |" for row in rows]
    page = README.read_text("utf-8")
    before, rest = page.split(BEGIN)
    README.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END, 1)[1], "utf-8")


if __name__ == "__main__":
    main()
