"""How much smaller are compact model files, and what do they cost in accuracy, time and memory?

Set-up: grammars of the wsj sample (clusters, spectral, an ensemble; default settings) and a top-down model of
en_ewt, under LATENTGRAM_DATA, each stored with full and with compact precision. Every file has a process of its
own: processor time of loading (the least of three), F1 on the development trees with gold tags, by how much
the log-probabilities of sentences (of trees, top-down) differ from those of the full file, at most and in the
mean, in nats, and the greatest resident size after loading it once and parsing. Models that FOLDER has already are
not retrained; without a FOLDER the files are not kept.

Conclusion (results/file_sizes.csv): files are eight to twenty-six times as small, F1 is what it was within 0.05
(spectral: 0.2, of which two sentences make the most), and they load within half a second, an ensemble within
one. What takes memory is the model itself, in double precision when these figures were made; since then the rules
of compact files stay in single precision, which is half of it.

    python benchmarks/bench_file_sizes.py [FOLDER [clusters|spectral|ensemble|top-down…]]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import latentgram as lg
from harness import corpora, explain, peak, write_rows

RESULTS = Path(__file__).parent / "results" / "file_sizes.csv"
MODELS: dict[str, Any] = {
    "clusters": (lg.LPCFG, lg.Clustering()),
    "spectral": (lg.LPCFG, lg.Spectral()),
    "ensemble": (lg.Ensemble, lg.Combining()),
    "top-down": (lg.TopDown, lg.Gradient()),
}


def treebank(kind: str, part: str) -> lg.Treebank[Any]:
    """The trees of a kind of model."""
    if kind == "top-down":
        return lg.Treebank.read(corpora() / "dependency" / "en_ewt" / f"{part}.conllu")
    return lg.Treebank.read(corpora() / "constituency" / "wsj-sample" / f"{part}.mrg").clean()[0]


def measure(kind: str, path: Path) -> dict[str, Any]:
    """What a file gives, in this process."""
    model, trees = lg.load(path), treebank(kind, "dev")
    row: dict[str, Any] = {"load s": ""}
    if kind == "top-down":
        logs = [model.logprob(tree) for tree in trees if tree.is_projective]
    else:
        parses = list(lg.Parser(model).parse_many([tree.sentence for tree in trees]))
        logs = [parse.logprob for parse in parses]
        row["F1"] = f"{lg.score_brackets(trees, [parse.tree for parse in parses]).f1:.3f}"
    row |= {"peak MB": peak(), "logs": logs}  # before the file is loaded again beside the model
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        lg.load(path)
        seconds.append(time.process_time() - begin)
    return row | {"load s": f"{min(seconds):.2f}"}


def main(folder: Path, names: list[str]) -> None:
    """Measure and write the table."""
    rows = []
    for name in names:
        full, compact = (folder / f"{name}.{precision}.lg" for precision in ("full", "compact"))
        if not full.exists():
            model, learner = MODELS[name]
            lg.save(lg.fit(model, treebank(name, "train"), by=learner), full)
        lg.save(lg.load(full), compact, precision="compact")
        exact: list[float] = []
        for path in (full, compact):
            own = [sys.executable, __file__, "--measure", name, str(path)]
            row = json.loads(subprocess.run(own, check=True, capture_output=True, text=True).stdout)
            logs = row.pop("logs")
            exact = exact or logs
            moved = [abs(log - before) for log, before in zip(logs, exact, strict=True)]
            size = f"{path.stat().st_size / 1e6:.1f}"
            rows.append({"model": name, "file": path.suffixes[0][1:], "MB": size, **row})
            rows[-1] |= {"moved at most": f"{max(moved):.3f}", "in the mean": f"{sum(moved) / len(moved):.3f}"}
            print(rows[-1], flush=True)
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    explain()
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], Path(sys.argv[3]))))
    elif sys.argv[1:]:
        main(Path(sys.argv[1]), sys.argv[2:] or list(MODELS))
    else:
        with tempfile.TemporaryDirectory() as place:
            main(Path(place), list(MODELS))
