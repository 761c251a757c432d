"""How near do spectral estimates of latent trees come to the truth, and how fast, as trees are added?

Set-up: hidden Markov trees with 3 states over 20 symbols, transitions and root drawn at random (so the root's
distribution is not stationary), three such truths; random projective topologies of 9 nodes; symbols drawn from the
truth. Estimates from about 20 thousand, 200 thousand and 2 million triples (left child, parent, right child).
Error: median over 500 fresh trees of |log p̂ − log p|, in nats, of trees of 9 words; the worst of the truths
counts. No ridge.

Conclusion (results/latent_tree.csv, latent_tree.svg): the corrected equations close in on the truth, with an error
that falls like one over the root of the triples, and need one pass; the printed ones keep a bias that no amount
of data removes.

    python benchmarks/bench_latent_tree.py
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from harness import explain
from latentgram.data.files import write_text
from latentgram.latent_tree.model import LatentTree
from latentgram.latent_tree.spectral import spectral_operators
from latentgram.latent_tree.statistics import TreeCounts
from latentgram.view.plots import line_plot
from oracles.state_trees import arrays, random_model, topologies

RESULTS = Path(__file__).parent / "results" / "latent_tree.csv"
SIZES = (20_000, 200_000, 2_000_000)
STATES, SYMBOLS, WORDS = 3, 20, 9


def main() -> None:
    heads = topologies(2_000, WORDS, np.random.default_rng(7))
    shape = arrays(heads)
    a_tree = TreeCounts.of(shape, np.zeros(len(shape.heads), np.int64), 1).siblings.total / len(heads)
    worst: dict[tuple[str, int], float] = {}
    seconds: dict[tuple[str, int], float] = {}
    for seed in range(3):
        truth = random_model(STATES, SYMBOLS, np.random.default_rng(seed))
        fresh = arrays(heads[:500])
        drawn, _ = truth.sample_nodes(fresh, seed=100 + seed)
        exact, _ = truth.scores_of_nodes(fresh, drawn)
        for size in SIZES:
            count = round(size / a_tree)
            trees = arrays((heads * (count // len(heads) + 1))[:count])
            symbol, _ = truth.sample_nodes(trees, seed=seed)
            for form in ("corrected", "printed"):
                started = time.process_time()
                counts = TreeCounts.of(trees, symbol, SYMBOLS)
                operators = spectral_operators(counts, STATES, 0.0, printed=form == "printed")
                spent = time.process_time() - started
                model = LatentTree.of(truth.symbols, operators, truth.unigram)
                found, _ = model.scores_of_nodes(fresh, drawn)
                error = float(np.median(np.abs(found - exact)))
                worst[form, size] = max(worst.get((form, size), 0.0), error)
                seconds[form, size] = spent
    rows = [
        (form, size, f"{worst[form, size]:.4f}", f"{seconds[form, size]:.2f}")
        for form in ("corrected", "printed")
        for size in SIZES
    ]
    for row in rows:
        print("{:10} {:>9,} triples  median error {}  {} s".format(*row))
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("form", "triples", "error", "seconds"), *rows])
    curves = {form: [(np.log10(size), worst[form, size]) for size in SIZES] for form in ("corrected", "printed")}
    with write_text(RESULTS.with_suffix(".svg")) as out:
        out.write(
            line_plot(curves, title="Spectral latent trees", x_label="log₁₀ triples", y_label="median |log p̂/p|")
        )


if __name__ == "__main__":
    explain()
    main()
