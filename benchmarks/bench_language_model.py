"""How good are the four smoothings on new text, and how fast are estimation and queries?

Set-up: the Brown corpus of `LATENTGRAM_DATA` (train: 961,698 tokens; judged on dev), or any text of one's own and
held-out text, as arguments; orders 2 to 5. Perplexity per token with ends of sentences: of all tokens, and of the
known ones. Processor seconds for estimating from counts, or for packing. Queries per second of processor time are
n-grams of the model's order from the held-out text: a million of them as numbers, some of them as strings, and all
tokens of the text as `ngram query` reads and scores them.

Conclusion (results/language_model.csv): modified Kneser–Ney is best at every order; with entropy pruning it keeps
its perplexity within 0.3 % and 40 % of its 5-grams and their parts. 1.8 to 7.1 million n-grams per second
as numbers, 1.0 million (order 5) to 2.8 million (order 2) as strings, on a machine under heavy load.
Packed with 10 bits per probability a model takes 4 bytes per n-gram, its words included, for 0.5 to 2 % of
perplexity.

    python benchmarks/bench_language_model.py [TEXT HELDOUT] [--orders 2,3,4,5]
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from pathlib import Path

import numpy as np

import latentgram as lg
from harness import corpora, explain
from latentgram.data.tagged import read_tagged
from latentgram.sequences.compact import CompactNGram
from latentgram.sequences.smoothing import SMOOTHINGS

RESULTS = Path(__file__).parent / "results" / "language_model.csv"
QUERIES = 1_000_000
BITS = 10


def texts(files: list[Path]) -> tuple[lg.Text, lg.Text]:
    if len(files) == 2:
        return lg.Text.read(files[0]), lg.Text.read(files[1])
    folder = corpora() / "tagged" / "brown"
    train, dev = (lg.Text.of(s.words for s in read_tagged(folder / f"{name}.tsv")) for name in ("train", "dev"))
    return train, dev


def queries_per_second(model: lg.BackoffNGram, text: lg.Text) -> list[str]:
    """N-grams of the model's order per second of processor time: as numbers, as strings, and as text."""
    tokens = text.encoded_by(model.words, unknown=model.words.index("<unk>"))
    windows = np.lib.stride_tricks.sliding_window_view(tokens, model.order)
    inside = windows[(windows[:, 1:-1] != 0).all(1)]
    grams = np.tile(inside, (QUERIES // len(inside) + 1, 1))[:QUERIES]
    strings = [" ".join(model.words.decode(row)) for row in grams[: QUERIES // 5].tolist()]
    block = "".join(" ".join(sentence.words) + "\n" for sentence in text)
    model.query(strings[:10])
    clock = [time.process_time()]
    model.gram_logprobs(grams)
    clock.append(time.process_time())
    model.query(strings)
    clock.append(time.process_time())
    model.score(lg.Text.of_block(block))
    clock.append(time.process_time())
    sizes = (len(grams), len(strings), len(tokens))
    return [f"{size / spent:.0f}" for size, spent in zip(sizes, np.diff(clock).tolist(), strict=True)]


def stored_size(model: object) -> int:
    with tempfile.TemporaryDirectory() as folder:
        lg.save(model, f"{folder}/model.lg")
        return Path(folder, "model.lg").stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description="Smoothings on new text, estimation and queries.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="text and held-out text; else Brown")
    parser.add_argument("--orders", default="2,3,4,5", help="rows of other orders are kept as they were")
    asked = parser.parse_args()
    train, heldout = texts(asked.files)
    orders = [int(order) for order in asked.orders.split(",")]
    rows = []

    def measure(name: str, model: lg.BackoffNGram, seconds: float, size: int) -> None:
        score = model.score(heldout)
        figures = [f"{score.perplexity:.2f}", f"{score.known_perplexity:.2f}", f"{seconds:.2f}"]
        rows.append([model.order, name, len(model), size, *figures, *queries_per_second(model, heldout)])
        print(*rows[-1], sep="\t", flush=True)

    for order in orders:
        counts = lg.NGramCounts.of(train, order=order)
        for method in SMOOTHINGS:
            for entropy in (0.0, 1e-8) if method == "kneser-ney" else (0.0,):
                begin = time.process_time()
                model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing=method, entropy=entropy))
                seconds = time.process_time() - begin
                measure(
                    f"{method}, pruned at {entropy:g}" if entropy else method, model, seconds, stored_size(model)
                )
                if method == "kneser-ney":
                    begin = time.process_time()
                    packed = CompactNGram.of(model, BITS)
                    seconds = time.process_time() - begin
                    name = f"the same, {BITS} bits"
                    measure(name, packed.expanded(), seconds, stored_size(packed))
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            rows += [row for row in list(csv.reader(file))[1:] if int(row[0]) not in orders]
    with RESULTS.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        columns = ["order", "smoothing", "n-grams", "bytes", "perplexity", "of known words", "estimation, s"]
        writer.writerow([*columns, "numbers per s", "strings per s", "text per s"])
        writer.writerows(sorted(rows, key=lambda row: int(row[0])))


if __name__ == "__main__":
    explain()
    main()
