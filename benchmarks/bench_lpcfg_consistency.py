"""Does the error of spectral estimates fall as 1/√M, as theorem 3 of Cohen et al. 2012 says?

Set-up: a random L-PCFG with two states a symbol; M trees drawn from it, M from 100 to 25,600; a grammar
learned from them with two states and no smoothing, by moments and by EM (40 rounds from a random start), and
counted as a PCFG. The error is Σ|p̂ - p| / Σp over the 200 commonest trees of a separate draw; three draws of
the data.

Conclusion (results/lpcfg_consistency.csv, .svg): the spectral error halves with every fourfold M, as the theorem
says, and keeps falling; EM is ahead on little data and ends at what 40 rounds reach; the PCFG's error stands still
at what its missing states cost.

    python benchmarks/bench_lpcfg_consistency.py
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

from harness import explain, write_rows

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.oracles.latent_truth import tree_probability, truth

import latentgram as lg
from latentgram.data.treebank import Treebank
from latentgram.lpcfg.draw import draw_trees

RESULTS = Path(__file__).parent / "results"
RAW = {"rare": 0, "backoff": 0.0, "pull": 0.0}
LEARNERS = {
    "spectral": lg.Spectral(states=2, **RAW),
    "EM": lg.EM(states=2, iterations=40, **RAW),
    "PCFG": lg.Counting(rare=0),
}


def main() -> None:
    common = [tree for tree, _ in Counter(draw_trees(truth(), 20_000, seed=99)).most_common(200)]
    expected = np.array([tree_probability(truth(), tree) for tree in common])
    rows = []
    for number in (100, 400, 1600, 6400, 25_600):
        for name, learner in LEARNERS.items():
            errors = []
            for draw in range(3):
                data = Treebank.of(draw_trees(truth(), number, seed=draw))
                grammar = lg.fit(lg.LPCFG, data, by=learner)
                found = np.array([probability(grammar, tree) for tree in common])
                errors.append(np.abs(found - expected).sum() / expected.sum())
            rows.append({"learner": name, "trees": number, "error": round(float(np.mean(errors)), 4)})
            print(rows[-1], flush=True)
    write_rows(RESULTS / "lpcfg_consistency.csv", rows)
    plot(rows)


def probability(grammar: lg.LPCFG, tree: lg.Tree) -> float:
    """p(tree), 0 if the grammar lacks one of its rules or words."""
    try:
        return tree_probability(grammar, tree)
    except IndexError:
        return 0.0


def plot(rows: list[dict[str, float]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.5))
    for name in LEARNERS:
        points = [(row["trees"], row["error"]) for row in rows if row["learner"] == name]
        axes.loglog(*zip(*points, strict=True), "o-", label=name)
    first = next(row for row in rows if row["learner"] == "spectral")
    trees = np.array([100, 25_600])
    axes.loglog(trees, first["error"] * np.sqrt(first["trees"] / trees), "k:", label="1/√M")
    axes.set_xlabel("trees M")
    axes.set_ylabel("Σ|p̂ − p| / Σp")
    axes.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "lpcfg_consistency.svg")


if __name__ == "__main__":
    explain()
    main()
