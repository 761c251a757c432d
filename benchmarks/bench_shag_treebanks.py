"""How good are head-automata grammars on other treebanks, with no setting changed?

Set-up: the dependency packs of LATENTGRAM_DATA, gold tags, symbols UPOS|XPOS, trees lifted where they are not
projective (scored as they are), all defaults. Attachment without punctuation, development part; with `--test` the
test part as well. Times are processor seconds of one core after reading; parsing includes relations and scoring.

Conclusion (results/shag_treebanks.csv): DET < DET+F < spectral < spectral × distance < × words on every treebank,
in English, French and Turkish; EM and clusters are within 0.6 of spectral learning.

    LATENTGRAM_DATA=… python benchmarks/bench_shag_treebanks.py [--test]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import latentgram as lg
from harness import corpora, explain, write_rows

PACKS = ("wsj-sample", "en_ewt", "gum", "fr_sequoia", "tr_imst")
RESULTS = Path(__file__).parent / "results" / "shag_treebanks.csv"


def learned(train: lg.Treebank) -> dict[str, tuple[object, float]]:
    """The grammars by name, and the seconds they took."""
    made = {}

    def fit(name, model, by):
        started = time.process_time()
        made[name] = (lg.fit(model, train, by=by), time.process_time() - started)
        return made[name]

    fit("DET", lg.SHAG, lg.Counting(memory="none"))
    fit("DET+F", lg.SHAG, lg.Counting(memory="first"))
    spectral, seconds = fit("spectral", lg.SHAG, lg.Spectral())
    fit("EM", lg.SHAG, lg.EM())
    fit("clusters", lg.SHAG, lg.Clustering())
    distance, more = fit("distance", lg.ArcDistance, lg.Counting())
    del made["distance"]
    made["spectral × distance"] = (spectral * distance**0.5, seconds + more)
    fit("LEX+FCP", lg.LexicalSHAG, lg.Counting(memory="kind"))
    fit("spectral × words × distance", lg.ProductSHAG, lg.Spectral())
    return made


def main() -> None:
    folder = corpora()
    parts = ("dev", "test") if "--test" in sys.argv else ("dev",)
    rows = []
    for pack in PACKS:
        base = folder / "dependency" / pack
        train = lg.Treebank.read(base / "train.conllu")
        lg.fit(lg.ProductSHAG, train[:20], by=lg.Spectral(states=2))  # compile
        scored = {part: lg.Treebank.read(base / f"{part}.conllu") for part in parts}
        for name, (model, seconds) in learned(train).items():
            row = {"treebank": pack, "grammar": name, "train seconds": f"{seconds:.2f}"}
            parser = lg.Parser(model)
            parser.parse(scored["dev"][0].sentence)
            for part, bank in scored.items():
                started = time.process_time()
                score = parser.evaluate(bank)
                speed = len(bank) / (time.process_time() - started)
                row |= {f"{part} UAS": f"{score.uas:.2f}", f"{part} LAS": f"{score.las:.2f}"}
                if part == "dev":
                    row["sentences per second"] = f"{speed:.0f}"
            row["lifted words"] = int(model.provenance.trace[0]["lifted"]) if model.provenance.trace else ""
            rows.append(row)
            print(" | ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    explain()
    main()
