"""How well, how fast and in how much memory does a plain PCFG parse, with exact inside and outside?

Set-up: the wsj sample (LATENTGRAM_DATA), a PCFG counted from its training part in the papers' simple binarisation
(from the left, nothing remembered), default settings. F1 is EVALB's with COLLINS.prm. Speed is processor time of
one core for everything from words to scored trees, after a run that compiles. Memory is the greatest resident
size of a process that loads the grammar and parses one sentence of so many words (made of dev sentences one after
the other), compiled code included. The test part is
run with the default decoder only.

Conclusion (results/pcfg_parsing.csv, pcfg_memory.csv): Goodman's decoder, the default, is the best of the three;
all sentences get a tree. Sentences of up to 40 words are parsed at twice the 150 a second that were asked for, and
150 words fit into what the process needs anyway, a third of a gigabyte.

    python benchmarks/bench_pcfg_parsing.py
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import latentgram as lg
from harness import corpora, explain, peak

RESULTS = Path(__file__).parent / "results" / "pcfg_parsing.csv"
COLUMNS = [
    "part",
    "tags",
    "decoder",
    "f1",
    "f1_up_to_40",
    "no_parse",
    "sentences",
    "per_second",
    "per_second_up_to_40",
]


def rate(parser: lg.Parser, bank: lg.Treebank, gold_tags: bool) -> float:
    begin = time.process_time()
    parser.evaluate(bank, gold_tags=gold_tags)
    return len(bank) / (time.process_time() - begin)


def accuracy(grammar: lg.LPCFG, folder: Path) -> list[list[object]]:
    rows: list[list[object]] = []
    for part, decoders in (("dev", (lg.Goodman(), lg.MaxRule(), lg.Viterbi())), ("test", (lg.Goodman(),))):
        bank = lg.Treebank.read(folder / f"{part}.mrg")
        for decoder in decoders:
            parser = lg.Parser(grammar, decoder)
            for gold_tags in (True, False):
                parser.evaluate(bank[:10], gold_tags=gold_tags)
                begin = time.process_time()
                score = parser.evaluate(bank, gold_tags=gold_tags)
                speed = len(bank) / (time.process_time() - begin)
                rows.append(
                    [
                        part,
                        "gold" if gold_tags else "own",
                        type(decoder).__name__,
                        f"{score.f1:.2f}",
                        f"{score.short.f1:.2f}",
                        score.no_parse,
                        score.sentences,
                        f"{speed:.0f}",
                        f"{rate(parser, bank.up_to(40), gold_tags):.0f}",
                    ]
                )
                print(*rows[-1], sep="\t", flush=True)
    return rows


def memory(model: Path, dev: Path) -> list[list[object]]:
    rows: list[list[object]] = []
    for words in (1, 40, 150, 250, 500):
        child = subprocess.run(
            [sys.executable, __file__, str(model), str(dev), str(words)],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, megabytes = child.stdout.split()
        rows.append([words, seconds, megabytes])
        print(*rows[-1], sep="\t", flush=True)
    return rows


def parse_one(model: str, dev: str, words: int) -> None:
    """In a process of its own: seconds and greatest resident megabytes."""
    parser = lg.load(model)
    text = [pair for tree in lg.Treebank.read(dev) for pair in zip(tree.words, tree.tags, strict=True)]
    parser.parse(text[:5])
    begin = time.process_time()
    parser.parse(text[:words])
    print(time.process_time() - begin, peak())


def main() -> None:
    if len(sys.argv) == 4:
        return parse_one(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    folder = corpora() / "constituency" / "wsj-sample"
    grammar = lg.fit(lg.LPCFG, lg.Treebank.read(folder / "train.mrg"), by=lg.Counting())
    print(grammar.summary())
    parsing = accuracy(grammar, folder)
    with tempfile.TemporaryDirectory() as temporary:
        lg.save(lg.Parser(grammar), Path(temporary) / "pcfg.lg")
        sizes = memory(Path(temporary) / "pcfg.lg", folder / "dev.mrg")
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *parsing])
    with RESULTS.with_name("pcfg_memory.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["words", "seconds", "megabytes"], *sizes])
    return None


if __name__ == "__main__":
    explain()
    main()
