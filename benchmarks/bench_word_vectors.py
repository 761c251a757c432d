"""What do vectors of words from raw text bring to the parsers that are learned from a treebank?

Set-up: vectors by LR-MVL (30 dimensions) and by neighbouring words (50) of the Brown corpus, training and
development parts as plain text, and of the words of the wsj sample's training part: 1.1 million words. Learned
from the training part of the wsj sample with and without them, judged on its development part with gold tags: head
automata (UAS; the vectors are clusters in their symbols), phrase grammars (F1; features of nodes), latent trees
(log p per word given the tree, and the share of trees without a probability; the vectors are U).

Conclusion (results/word_vectors.csv): LR-MVL is worth nearly a point to head automata by EM with 8 clusters (less
with 16, nothing with 32; one treebank, one seed), and lifts the
likelihood of latent trees over tags with valency; vectors of neighbouring words are worth nothing there. Phrase
grammars, whose states are already told apart by rules and heads, stay within the spread of their seeds.

    LATENTGRAM_DATA=… python benchmarks/bench_word_vectors.py
"""

from __future__ import annotations

from pathlib import Path

import latentgram as lg
from harness import corpora, explain, write_rows
from latentgram.data.tagged import read_tagged

RESULTS = Path(__file__).parent / "results" / "word_vectors.csv"
VIEWS = {"lr-mvl": 30, "context": 50}


def main() -> None:
    folder = corpora()
    heads, phrases = (
        [lg.Treebank.read(folder / kind / "wsj-sample" / f"{part}.{suffix}") for part in ("train", "dev")]
        for kind, suffix in (("dependency", "conllu"), ("constituency", "mrg"))
    )
    sentences = [
        s.words for part in ("train", "dev") for s in read_tagged(folder / "tagged/brown" / f"{part}.tsv")
    ]
    text = lg.Text.of([*sentences, *(tree.words for tree in heads[0])])
    vectors: dict[str, lg.WordVectors | None] = {"none": None}
    for view, states in VIEWS.items():
        vectors[view] = lg.fit(lg.WordVectors, text, by=lg.Spectral(states=states, view=view))
    rows = []
    for name, space in vectors.items():
        for learner in (lg.Spectral(vectors=space), lg.EM(vectors=space)):
            uas = lg.Parser(lg.fit(lg.SHAG, heads[0], by=learner)).evaluate(heads[1], gold_tags=True).headline
            rows.append(row(f"SHAG, {type(learner).__name__}", name, f"{uas:.2f}"))
        for by in (lg.Spectral(vectors=space), lg.Clustering(vectors=space)):
            f1 = lg.Parser(lg.fit(lg.LPCFG, phrases[0], by=by)).evaluate(phrases[1], gold_tags=True).headline
            rows.append(row(f"LPCFG, {type(by).__name__}", name, f"{f1:.2f}"))
        for valency in (3, 0):
            model = lg.fit(lg.LatentTree, heads[0], by=lg.Spectral(valency=valency, vectors=space))
            logs, low = model.scores(heads[1].arrays, heads[1].sentences())
            figure = f"{logs.sum() / heads[1].lengths.sum():.3f} ({100 * low.mean():.1f} %)"
            rows.append(row(f"LatentTree, valency {valency}", name, figure))
    write_rows(RESULTS, rows)


def row(model: str, vectors: str, figure: str) -> dict[str, str]:
    print(model, vectors, figure, sep="\t", flush=True)
    return {"model": model, "vectors": vectors, "figure": figure}


if __name__ == "__main__":
    explain()
    main()
