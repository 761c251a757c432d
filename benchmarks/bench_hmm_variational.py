"""What does per round of n-gram EM cost against a round of EM, and how much likelihood does it give up?

Set-up: the training part of Brown with 17 classes and the dictionary of words seen five times; trigrams, all
bigrams, cut-off 3 (part `brown`); then Brown without a dictionary and 45 tags (`open`); then, if a text is given,
Brown and that text up to twenty times its size, with cut-off 10, with the dictionary and without (`large`,
`large-open`), and with n_q = 2 and the words of one tag as classes (`large-pairs`, time alone). One core,
processor time, the best of three rounds after one that compiles, both learners in the same run; a part that is not
run keeps its rows. The likelihood gap is that of the training text after 30 rounds of each (10 of the large text),
in nats per token, ends of sentences included.

Conclusion (results/hmm_variational.csv): the paper's n-gram EM was 2.5 times as slow as EM on 0.9 million words;
here it takes half of EM's time there, for a hundredth of a nat; n_q = 2 costs over three times as much and more
than halves that gap. At 20× it takes a twelfth of EM's time, and a quarter with n_q = 2 and classes. Without a
dictionary and with 45 tags it takes a quarter of EM's time on Brown, a twelfth at 20×.

    python benchmarks/bench_hmm_variational.py [PART ...] [TEXT]
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

from bench_hmm_em import best_seconds, brown
from harness import explain
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.tag_dictionary import TagDictionary, open_dictionary
from latentgram.data.text import Text
from latentgram.kinds.kind import Context
from latentgram.sequences.approximate_corpus import ApproximateCorpus
from latentgram.sequences.counting import from_counts
from latentgram.sequences.em import Corpus
from latentgram.sequences.parameters import Emissions, Parameters, Prior, maximise, uniform
from latentgram.sequences.variational import ROUNDS, first_memory

RESULTS = Path(__file__).parent / "results" / "hmm_variational.csv"
PRIOR = Prior(1.0, 0.1)
PARTS = ["brown", "open", "large", "large-open", "large-pairs"]


def em(text: Text, dictionary: TagDictionary, rounds: int) -> tuple[float, float]:
    """Seconds per round, and log-likelihood per token after some rounds."""
    shape = Emissions.of(text.words, dictionary)
    corpus = Corpus.of(text, shape, 2, segments=False)
    state = [maximise(corpus.expect(uniform(shape, 2, 0 if shape.full else None), Context()), shape, PRIOR)]

    def step() -> None:
        state[0] = maximise(corpus.expect(state[0], Context()), shape, PRIOR)

    seconds = best_seconds(step, 3)
    for _ in range(rounds - 4):
        step()
    return seconds, loglik(state[0], corpus, text)


def loglik(parameters: Parameters, corpus: Corpus, text: Text) -> float:
    return corpus.expect(parameters, Context()).bound / (text.size + len(text))


def ngram_em(
    text: Text, dictionary: TagDictionary, cutoff: int, window: int, rounds: int, classes: bool = False
) -> tuple[float, float, int]:
    """Seconds per round, log-likelihood per token after some rounds (not of classes), and the number of arcs."""
    counts = NGramCounts.of(text, order=3, cutoff=cutoff, dictionary=dictionary if classes else None)
    model = from_counts(counts)
    allowed = dictionary if counts.classes is None else counts.classes.dictionary(dictionary)
    corpus = ApproximateCorpus.of(model, allowed)
    first, memory = first_memory(corpus, window)
    state = [maximise(first.times(model.sentences), corpus.shape, PRIOR), memory]

    def step() -> None:
        expected, state[1] = ROUNDS[window](corpus, state[0], state[1])
        state[0] = maximise(expected.times(model.sentences), corpus.shape, PRIOR)

    seconds = best_seconds(step, 3)
    for _ in range(rounds - 4):
        step()
    if classes:
        return seconds, math.nan, model.arcs
    exact = Corpus.of(text, corpus.shape, 2, segments=not corpus.shape.full)
    return seconds, loglik(state[0], exact, text), model.arcs


Row = tuple[str, ...]


def compare(
    name: str,
    text: Text,
    dictionary: TagDictionary,
    cutoff: int,
    windows: tuple[int, ...],
    rounds: int,
    classes: bool = False,
) -> list[Row]:
    seconds, exact = em(text, dictionary, rounds)
    rows: list[Row] = [(name, "EM", str(text.size), "", f"{seconds:.3f}", "1.00", "")]
    for window in windows:
        spent, reached, arcs = ngram_em(text, dictionary, cutoff, window, rounds, classes)
        gap = f"{exact - reached:.4f}" if len(dictionary) and not classes else ""
        figures = (str(text.size), str(arcs), f"{spent:.3f}", f"{spent / seconds:.2f}", gap)
        rows.append((name, f"n-gram EM, n_q = {window}", *figures))
    for row in rows:
        print(*row, flush=True)
    return rows


def main() -> None:
    parts = [argument for argument in sys.argv[1:] if argument in PARTS] or PARTS
    files = [argument for argument in sys.argv[1:] if argument not in PARTS]
    text, dictionary = brown()
    rows: list[Row] = []
    if "brown" in parts:
        rows += compare("Brown, cut-off 3", text, dictionary, 3, (1, 2), 30)
    if "open" in parts:
        rows += compare("Brown, 45 tags, no dictionary, cut-off 3", text, open_dictionary(45), 3, (1,), 4)
    if files and set(PARTS[2:]) & set(parts):
        big = (text + Text.read(files[0])).upto(20 * text.size)
        if "large" in parts:
            rows += compare("20 × Brown, cut-off 10", big, dictionary, 10, (1,), 10)
        if "large-pairs" in parts:
            rows += compare("20 × Brown, cut-off 10, classes", big, dictionary, 10, (2,), 4, classes=True)
        if "large-open" in parts:
            name = "20 × Brown, 45 tags, no dictionary, cut-off 10"
            rows += compare(name, big, open_dictionary(45), 10, (1,), 4)
    done = {row[0] for row in rows}
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            kept = [tuple(row) for row in list(csv.reader(file))[1:] if row[0] not in done]
        rows = kept + rows
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["corpus", "learner", "tokens", "arcs", "seconds per round", "of EM", "likelihood gap"])
        writer.writerows(sorted(rows, key=lambda row: (int(row[2]), len(row[0]), row[0])))


if __name__ == "__main__":
    explain()
    main()
