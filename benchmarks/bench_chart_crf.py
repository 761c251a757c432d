"""What does a discriminative layer over a latent-variable grammar add, and what does it cost?

Set-up: treebanks `wsj-sample` and `genia` (X over X collapsed in training and scoring) under LATENTGRAM_DATA,
learned from `train` with the defaults, parsed and scored (EVALB, COLLINS) on `dev`, with the treebank's tags and
with the parser's own, beside the very grammar that the layer stands on. `curve` takes the first 100, 300 and 1,000
trees of wsj-sample. `committee` learns several layers over different grammars and scores the first of them, the
first two, … together, each parsed once. One process, one thread, processor time, compiled code warm; the speeds
of grammar and layer are taken by turns in one run. The size is that of the model file without its grammar, of a
committee that of the whole file; memory is the peak of the process.

Conclusion (results/chart_crf_*.csv): the layer adds about two points on thousands of trees and three to four on
hundreds, with and without tags, at a few times the cost of learning the grammar and nearly its speed. A
committee of three layers adds half a point more at three times the cost, and more on hundreds of trees.

    python benchmarks/bench_chart_crf.py [PACK] [MEMBERS]   # wsj-sample or genia; grammars below the layer
    python benchmarks/bench_chart_crf.py curve [LAYERS]     # more than one: of a committee
    python benchmarks/bench_chart_crf.py committee [PACK] [LAYERS] [FILE] [BITS]   # FILE: where the model is kept
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import latentgram as lg
from harness import corpora, explain, peak, write_rows
from latentgram.data.cleaning import collapse_repeats

RESULTS = Path(__file__).parent / "results"
TURNS = 6
"""How often the speeds of both parsers are taken."""


def treebank(pack: str, part: str) -> lg.Treebank[Any]:
    """A part of a pack, X over X collapsed in GENIA."""
    read = lg.Treebank.read(corpora() / "constituency" / pack / f"{part}.mrg")
    return lg.Treebank.of(collapse_repeats(read.forest)[0]) if pack == "genia" else read


def learned(train: lg.Treebank[Any], members: int) -> tuple[lg.ChartCRF, float]:
    """The layer and the processor seconds it took."""
    began = time.process_time()
    model = lg.fit(lg.ChartCRF, train, by=lg.Gradient(members=members))
    return model, time.process_time() - began


def speeds(parsers: list[lg.Parser], dev: lg.Treebank[Any], gold_tags: bool) -> list[float]:
    """Sentences per second of each parser, by turns; the best of each."""
    sentences = [sentence if gold_tags else sentence.without_tags() for sentence in dev.sentences()]
    best = [0.0] * len(parsers)
    for _ in range(TURNS):
        for number, parser in enumerate(parsers):
            began = time.process_time()
            for _ in parser.parse_many(sentences):
                pass
            best[number] = max(best[number], len(sentences) / (time.process_time() - began))
    return best


def size_of(model: object) -> int:
    """Bytes of its file."""
    with tempfile.TemporaryDirectory() as folder:
        lg.save(model, Path(folder) / "model.lg")
        return (Path(folder) / "model.lg").stat().st_size


def rows(pack: str, members: int) -> list[dict[str, object]]:
    """With both kinds of tags: F1 and speed of grammar and layer."""
    train, dev = treebank(pack, "train"), treebank(pack, "dev")
    model, seconds = learned(train, members)
    parsers = [lg.Parser(model.grammar), lg.Parser(model)]
    table: list[dict[str, object]] = []
    for tags in ("gold", "own"):
        scores = [parser.evaluate(dev, gold_tags=tags == "gold").f1 for parser in parsers]
        rates = speeds(parsers, dev, tags == "gold")
        table.append(
            {
                "tags": tags,
                "grammar F1": f"{scores[0]:.2f}",
                "layer F1": f"{scores[1]:.2f}",
                "grammar sentences/s": f"{rates[0]:.0f}",
                "layer sentences/s": f"{rates[1]:.0f}",
                "ratio": f"{rates[1] / rates[0]:.2f}",
                "training s": f"{seconds:.0f}",
                "layer MB": f"{(size_of(model) - size_of(model.grammar)) / 1e6:.1f}",
                "peak MB": peak(),
            }
        )
    return table


class Clock:
    """Notes the processor seconds after each layer of a committee."""

    def __init__(self) -> None:
        self.began, self.seconds = time.process_time(), []

    def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
        """Note them, if it is a layer that is done."""
        if stage == "layers":
            self.seconds.append(time.process_time() - self.began)


def committee(pack: str, layers: int, file: Path | None, bits: int | None) -> list[dict[str, object]]:
    """F1 and speed of one layer, of two, … together."""
    clock = Clock()
    if file is not None and file.exists():
        model = lg.load(file, lg.Committee)
    else:
        by = lg.Gradient(layers=layers, bits=bits)
        model = lg.fit(lg.Committee, treebank(pack, "train"), by=by, progress=clock)
        if file is not None:
            lg.save(model, file)
    dev = treebank(pack, "dev")
    table: list[dict[str, object]] = []
    for size in range(1, len(model.layers) + 1):
        few = lg.Committee(model.layers[:size])
        row: dict[str, object] = {"layers": size}
        for tags in ("gold", "own"):
            began = time.process_time()
            row[f"F1, {tags} tags"] = f"{lg.Parser(few).evaluate(dev, gold_tags=tags == 'gold').f1:.2f}"
            row[f"sentences/s, {tags}"] = f"{len(dev) / (time.process_time() - began):.0f}"
        row["training s"] = f"{clock.seconds[size - 1]:.0f}" if clock.seconds else ""
        row["MB"] = f"{size_of(few) / 1e6:.1f}"
        table.append(row)
        print(row, file=sys.stderr, flush=True)
    return table


def committee_curve(layers: int) -> list[dict[str, object]]:
    """Committees of the first trees of wsj-sample, gold tags."""
    train, dev = treebank("wsj-sample", "train"), treebank("wsj-sample", "dev")
    table: list[dict[str, object]] = []
    for size in (100, 300, 1000):
        clock = Clock()
        model = lg.fit(lg.Committee, train[:size], by=lg.Gradient(layers=layers), progress=clock)
        row: dict[str, object] = {"trees": size}
        for few in range(1, layers + 1):
            parser = lg.Parser(lg.Committee(model.layers[:few]))
            row[f"F1, {few} layer{'s' if few > 1 else ''}"] = f"{parser.evaluate(dev, gold_tags=True).f1:.2f}"
        table.append({**row, "training s": f"{clock.seconds[-1]:.1f}"})
        print(table[-1], file=sys.stderr, flush=True)
    return table


def curve() -> list[dict[str, object]]:
    """The first trees of wsj-sample, with both kinds of tags; speeds with the parser's own tags."""
    train, dev = treebank("wsj-sample", "train"), treebank("wsj-sample", "dev")
    table: list[dict[str, object]] = []
    for size in (100, 300, 1000):
        model, seconds = learned(train[:size], 1)
        parsers = {"grammar": lg.Parser(model.grammar), "layer": lg.Parser(model)}
        row: dict[str, object] = {"trees": size}
        for tags in ("gold", "own"):
            for name, parser in parsers.items():
                row[f"{name} F1, {tags}"] = f"{parser.evaluate(dev, gold_tags=tags == 'gold').f1:.2f}"
        rates = speeds(list(parsers.values()), dev, gold_tags=False)
        row |= {"ratio of speeds, own": f"{rates[1] / rates[0]:.2f}", "training s": f"{seconds:.1f}"}
        table.append(row)
        print(row, file=sys.stderr, flush=True)
    return table


def main() -> None:
    explain()
    said = sys.argv[1:]
    together = said[:1] == ["committee"]
    said = said[together:]
    pack = said[0] if said else "wsj-sample"
    number = int(said[1]) if len(said) > 1 else 3 if together else 1
    name = f"{'committee' if together else 'chart_crf'}_{pack}{f'_{number}' if number > 1 else ''}"
    # Compile everything before anything is timed.
    warm = lg.demo_treebank(30, seed=0)
    if together or (pack == "curve" and number > 1):
        model: object = lg.fit(lg.Committee, warm, by=lg.Gradient(states=2, layers=2))
    else:
        model = lg.fit(lg.ChartCRF, warm, by=lg.Gradient(states=2, members=number))
    lg.Parser(model).parse(warm[0].sentence)
    if together:
        bits = int(said[3]) if len(said) > 3 else None
        table = committee(pack, number, Path(said[2]) if len(said) > 2 else None, bits)
    elif pack == "curve":
        table = committee_curve(number) if number > 1 else curve()
    else:
        table = rows(pack, number)
    print(f"| {' | '.join(table[0])} |")
    print("|" + "--:|" * len(table[0]))
    for row in table:
        print(f"| {' | '.join(map(str, row.values()))} |")
    write_rows(RESULTS / f"{name}.csv", table)


if __name__ == "__main__":
    main()
