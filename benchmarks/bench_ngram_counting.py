"""How fast are n-grams counted, and how much memory do counting and learning take?

Set-up: a text file given as argument (one sentence per line), else 3 million tokens drawn from a Zipf law; one
core, processor time of one run after one that compiles. Counting is from word numbers in memory;
reading is the file to word numbers. Memory is the greatest resident size of the process after counting trigrams
with cut-off 10 and ten rounds of n-gram EM with 17 states (a tenth of the words limited to one tag each).

Conclusion (results/ngram_counting.csv): three to four million tokens per second on a busy machine, the fewer the
more n-grams are kept; 21.6 million tokens are counted and learned from in 1.3 GB.

    python benchmarks/bench_ngram_counting.py [TEXT]
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

import latentgram as lg
from harness import explain, peak
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.text import Text
from latentgram.sequences.counting import from_counts

RESULTS = Path(__file__).parent / "results" / "ngram_counting.csv"


def generated() -> Text:
    rng = np.random.default_rng(0)
    tokens = (rng.zipf(1.2, 3_000_000) % 100_000 + 1).astype(np.int32)
    tokens[::21] = 0
    words = Text.of([[f"w{n}" for n in range(1, 100_001)]]).words
    return Text(words, np.append(tokens, 0).astype(np.int32))


def main() -> None:
    NGramCounts.of(Text.of(["a b c d e f"]), order=5)
    rows: list[tuple[str, str]] = []
    begin = time.process_time()
    text = Text.read(sys.argv[1]) if len(sys.argv) > 1 else generated()
    rows.append(("tokens", f"{text.size}"))
    if len(sys.argv) > 1:
        rows.append(("tokens read a second", f"{text.size / (time.process_time() - begin):.0f}"))
    _ = text.digest
    for order, cutoff in ((3, 3), (3, 10), (5, 3), (5, 10)):
        begin = time.process_time()
        counts = NGramCounts.of(text, order=order, cutoff=cutoff)
        spent = time.process_time() - begin
        rows.append((f"tokens counted a second, order {order}, cut-off {cutoff}", f"{text.size / spent:.0f}"))
        rows.append((f"n-grams kept, order {order}, cut-off {cutoff}", str(len(counts))))
    del counts
    tags = [str(t) for t in range(1, 18)]
    fixed = {word: {tags[i % 17]} for i, word in enumerate(text.words.symbols[1::10])}
    model = from_counts(NGramCounts.of(text, order=3, cutoff=10))
    learner = lg.Variational(dictionary=TagDictionary.from_entries(tags, fixed), iterations=10)
    lg.fit(lg.HMM, model, by=learner)
    rows.append(("greatest memory, counting and learning, MB", peak()))
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "figure"])
        writer.writerows(rows)
    for name, value in rows:
        print(f"{name:50s} {value:>14}")


if __name__ == "__main__":
    explain()
    main()
