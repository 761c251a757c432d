"""How fast do latent grammars parse, where does the time go, and what do pruning and single precision cost in F1?

Set-up: treebanks under LATENTGRAM_DATA (by default the wsj sample; others are named as arguments), grammars
learned with default settings from the training part, gold tags unless said, development part, EVALB with
COLLINS.prm. Speed is processor time of one core for everything from sentences to trees, the least of three
runs after one that compiles; the stages are timed in a run of their own: `first` is the one-state pass with its
pruning, `small` and `full` are the latent stages, `rest` is everything else (looking words up, decoding, building
trees, and all of sentences of more than 100 words). `exact` looks at the whole chart in double precision. The
long sentences, of 249 and 700 words, are made of development sentences one after the other; each is parsed in a
process of its own, whose greatest resident size is given.

`no cell closed` leaves out what a grammar has learned about cells that are no phrases (lpcfg/closing.py). `test
part` is timed, not scored. "ensemble of five" is what `latentgram train ensemble` makes; it is measured where it
is named.

Conclusion (results/lpcfg_parsing.csv, lpcfg_long.csv): one clustered grammar parses 1,100 sentences per second
with given tags and 850 with its own, an ensemble of five a third of that. The one-state pass takes a third of the
time. Closing cells costs no F1. In a run of "spectral 16" single and double precision gave the same F1, and
looking at much more of the chart cost nearly three times as much and gained nothing.

    python benchmarks/bench_lpcfg_parsing.py [TREEBANK…] ["spectral 16"…]
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import latentgram as lg
import latentgram.lpcfg.parse.cascade as cascade
import latentgram.lpcfg.parse.first_stage as first_stage
from harness import explain, peak, write_rows
from latentgram.lpcfg.parse.backend import WITH_CLOSING, PhraseBackend
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.view.plots import line_plot

FOLDER = Path(__file__).parent / "results"
FULL = WITH_CLOSING
LONG, RUNS = (249, 700), 3
LONG_MODELS = ("clusters 16", "spectral 16", "spectral 32", "ensemble of four")
STAGES = ("first", "small", "full", "rest")


SINGLE = {
    **{f"spectral {m}": lg.Spectral(states=m) for m in (8, 16, 32)},
    **{f"clusters {m}": lg.Clustering(states=m) for m in (8, 16)},
}
ENSEMBLE = ("spectral 16", "spectral 32", "clusters 8", "clusters 16")
FIVE = "ensemble of five"


def grammars(train: lg.Treebank[Any], names: list[str]) -> dict[str, Any]:
    """The grammars of these names, all of them if there are none; all of the ensemble's bring the ensemble."""
    wanted = [name for name in SINGLE if not names or name in names]
    every: dict[str, Any] = {name: lg.fit(lg.LPCFG, train, by=SINGLE[name]) for name in wanted}
    if set(ENSEMBLE) <= set(wanted):
        every["ensemble of four"] = lg.Ensemble(tuple(every[name] for name in ENSEMBLE))
    if FIVE in names:
        every[FIVE] = lg.fit(lg.Ensemble, train, by=lg.Combining())
    return every


class Clock:
    """Sums the processor time of the functions it stands in for."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def timed(self, function: Callable[..., Any], stage: Callable[..., str]) -> Callable[..., Any]:
        """The function, timed under the stage that its arguments tell."""

        def run(*arguments: Any) -> Any:
            begin = time.process_time()
            result = function(*arguments)
            self.seconds[stage(*arguments)] += time.process_time() - begin
            return result

        return run


def stage_times(backend: PhraseBackend, sentences: list[lg.Sentence]) -> dict[str, float]:
    """Milliseconds per sentence of each stage."""
    clock = Clock()
    stages = {
        (first_stage, "first_stage"): "first",
        (cascade, "refine_chart"): "small",
        (cascade, "posteriors"): "full",
    }
    kept = {place: getattr(*place) for place in stages}
    try:
        for place, stage in stages.items():
            setattr(*place, clock.timed(kept[place], lambda *_, stage=stage: stage))
        begin = time.process_time()
        backend.parse(sentences)
        whole = time.process_time() - begin
    finally:
        for place, function in kept.items():
            setattr(*place, function)
    times = {stage: 1000 * clock.seconds[stage] / len(sentences) for stage in STAGES[:-1]}
    return times | {"rest": 1000 * whole / len(sentences) - sum(times.values())}


def measure(
    name: str, model: Any, dev: lg.Treebank[Any], note: str, pruning: Pruning, tags: bool, scored: bool = True
) -> dict[str, Any]:
    backend = PhraseBackend(model, None, pruning)
    sentences = [lg.Sentence(s.words, s.tags if tags else None) for s in dev.sentences()]
    parses, runs = backend.parse(sentences), []
    for _ in range(RUNS):
        begin = time.process_time()
        backend.parse(sentences)
        runs.append(time.process_time() - begin)
    row = {
        "grammar": name,
        "setting": note,
        "F1": f"{backend.compare(dev, parses).f1:.2f}" if scored else "–",
        "fallback": sum(parse.fallback for parse in parses),
        "sentences/s": f"{len(dev) / min(runs):.0f}",
    }
    return row | {f"{stage} ms": f"{ms:.2f}" for stage, ms in stage_times(backend, sentences).items()}


def long_sentence(model: Path, treebank: Path, length: int) -> None:
    """In a process of its own: parse one long sentence; print seconds and megabytes."""
    parser = lg.load(model)
    words = [pair for s in lg.Treebank.read(treebank).sentences() for pair in zip(s.words, s.tags, strict=True)]
    parser.parse(words[:20])
    begin = time.process_time()
    parser.parse(words[:length])
    seconds = time.process_time() - begin
    print(f"{seconds:.2f} {peak()}")


def main(packs: list[str], names: list[str]) -> None:
    data = Path(
        os.environ.get("LATENTGRAM_DATA") or sys.exit("LATENTGRAM_DATA does not say where the corpora are")
    )
    rows, long_rows, curves = [], [], {}
    for pack in packs:
        folder = data / "constituency" / pack
        dev = lg.Treebank.read(folder / "dev.mrg")
        models = grammars(lg.Treebank.read(folder / "train.mrg"), names)
        for name, model in models.items():
            settings = [("default", FULL, True), ("own tags", FULL, False)]
            if name.startswith("clusters"):
                settings += [
                    ("no cell closed", FULL, True),
                    ("no cell closed, own tags", FULL, False),
                    ("no cell closed, floor 3e-5, beam 3e-4", Pruning(floor=3e-5, beam=3e-4), True),
                ]
            if name == "spectral 16":
                settings += [
                    ("double precision", Pruning(precision="float64"), True),
                    ("loosened", FULL.loosened(), True),
                    ("one latent stage", Pruning(small_states=99), True),
                ]
            for note, pruning, tags in settings:
                asked = model
                if note.startswith("no cell closed"):
                    asked = dataclasses.replace(model, closing_weight=model.closing_weight[:0])
                row = {"treebank": pack} | measure(name, asked, dev, note, pruning, tags)
                rows.append(row)
                print(*row.values(), flush=True)
            if name.startswith("clusters"):
                part = lg.Treebank.read(folder / "test.mrg")
                row = {"treebank": pack} | measure(name, model, part, "test part", FULL, True, scored=False)
                rows.append(row)
                print(*row.values(), flush=True)
        curves[pack] = [
            (float(m), 1000 / float(row["sentences/s"]))
            for m in (8, 16, 32)
            for row in rows
            if (row["treebank"], row["grammar"], row["setting"]) == (pack, f"spectral {m}", "default")
        ]
        for name in [name for name in LONG_MODELS if name in models]:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "model.lg"
                lg.save(lg.Parser(models[name]), path)
                for words in LONG:
                    call = [sys.executable, __file__, "--long", str(path), str(folder / "dev.mrg"), str(words)]
                    done = subprocess.run(call, capture_output=True, text=True, check=True)
                    row = {"treebank": pack, "grammar": name, "words": words}
                    long_rows.append(row | dict(zip(("seconds", "megabytes"), done.stdout.split(), strict=True)))
                    print(*long_rows[-1].values(), flush=True)
    for name, table in (("lpcfg_parsing.csv", rows), ("lpcfg_long.csv", long_rows)):
        if table:
            write_rows(FOLDER / name, table)
    if not any(curves.values()):
        return
    plot = line_plot(curves, title="Parsing with spectral grammars", x_label="states", y_label="ms per sentence")
    (FOLDER / "lpcfg_parsing.svg").write_text(plot, encoding="utf-8")


if __name__ == "__main__":
    explain()
    if sys.argv[1:2] == ["--long"]:
        long_sentence(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    else:
        chosen = [name for name in sys.argv[1:] if name in {*SINGLE, FIVE}]
        main([name for name in sys.argv[1:] if name not in chosen] or ["wsj-sample"], chosen)
