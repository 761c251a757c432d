"""How good is the arc-factored parser on other treebanks, with no setting changed?

Set-up: the dependency packs of LATENTGRAM_DATA, or those named, gold tags and morphological features, second
order, all defaults; trees that are not projective are lifted for training and scored as they are, or, with
--non-projective, learned as they are. Attachment without punctuation (Penn's tags in wsj-sample, PUNCT elsewhere),
development part. Times are processor seconds of one core (for speeds see bench_arcs_speed.py).

Conclusion (results/arcs_treebanks.csv): what was set on the wsj sample serves the others, in English, French and
Turkish; it is above the best head-automata grammar of bench_shag_treebanks.py on each of them.

    LATENTGRAM_DATA=… python benchmarks/bench_arcs_treebanks.py [--non-projective] [PACK…]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import latentgram as lg
from harness import corpora, explain, write_rows

PACKS = ("wsj-sample", "en_ewt", "gum", "fr_sequoia", "tr_imst")
RESULTS = Path(__file__).parent / "results" / "arcs_treebanks.csv"


def measure(folder: Path, crossing: bool) -> dict[str, Any]:
    """One treebank."""
    train, dev = (lg.Treebank.read(folder / f"{part}.conllu") for part in ("train", "dev"))
    lg.fit(lg.ArcFactored, train[:40], by=lg.MIRA(passes=1, bits=14, non_projective=crossing))  # compile
    started = time.process_time()
    parser = lg.Parser(lg.fit(lg.ArcFactored, train, by=lg.MIRA(non_projective=crossing)))
    learned = time.process_time()
    output = [parse.tree for parse in parser.parse_many(dev.sentences())]
    score = lg.score_attachment(dev, output, punctuation="ptb" if folder.name == "wsj-sample" else "upos")
    return {
        "treebank": folder.name,
        "train sentences": len(train),
        "train seconds": round(learned - started, 1),
        "dev UAS": round(score.uas, 2),
        "dev LAS": round(score.las, 2),
        "dev exact": round(score.exact, 2),
    }


def main() -> None:
    root, flag = corpora(), "--non-projective"
    packs = [pack for pack in sys.argv[1:] if pack != flag]
    rows = []
    for pack in packs or PACKS:
        rows.append(measure(root / "dependency" / pack, flag in sys.argv))
        print(" | ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    if len(sys.argv) == 1:
        write_rows(RESULTS, rows)


if __name__ == "__main__":
    explain()
    main()
