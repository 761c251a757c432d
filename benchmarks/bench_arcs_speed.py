"""How fast does the arc-factored parser learn, parse and list, and how good is it, by order?

Set-up: a dependency treebank of LATENTGRAM_DATA (wsj-sample unless named), gold tags, all defaults, one thread,
CPU time after a small run that compiles. Parsing is scoring and the best tree; `with posteriors` is what `Parser`
does (relations and the posterior of every arc as well). Lists are of 50 trees; their oracle is the best tree of
each. Attachment without punctuation (Penn's tags in wsj-sample, PUNCT elsewhere), development part.

Conclusion (results/arcs_speed.csv): the second order is a point better than the first for the same training time,
because it only looks at the few arcs that a small first-order model finds likely; both parse over a thousand
sentences per second, and list 50 trees of as many.

    LATENTGRAM_DATA=… python benchmarks/bench_arcs_speed.py [TREEBANK]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import latentgram as lg
from harness import corpora, explain, write_rows
from latentgram.arcs.nbest import nbest_lists

RESULTS = Path(__file__).parent / "results" / "arcs_speed.csv"
COUNT = 50


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def measure(name: str, order: int, train: Any, dev: Any) -> dict[str, Any]:
    rule = "ptb" if name == "wsj-sample" else "upos"
    small = lg.fit(lg.ArcFactored, train[:40], by=lg.MIRA(order=order, passes=1, bits=14))
    nbest_lists(small, dev[:3], COUNT)
    list(lg.Parser(small).parse_many(dev.sentences()[:3]))
    training, model = timed(lambda: lg.fit(lg.ArcFactored, train, by=lg.MIRA(order=order)))
    sentences = dev.sentences()
    plain, heads = timed(lambda: [model.scores(model.encode(each)).best()[0] + 1 for each in sentences])
    full, parses = timed(lambda: list(lg.Parser(model).parse_many(sentences)))
    listing, lists = timed(lambda: nbest_lists(model, dev, COUNT))
    output = [parse.tree for parse in parses]
    assert all(tuple(one.tolist()) == tree.heads for one, tree in zip(heads, output, strict=True))
    oracle = [
        tree.replace(heads=tuple(one.heads[one.oracle].tolist())) for tree, one in zip(dev, lists, strict=True)
    ]
    score = lg.score_attachment(dev, output, punctuation=rule)
    right = np.concatenate([np.array(a.heads) == np.array(b.heads) for a, b in zip(dev, output, strict=True)])
    sure = lg.calibration(np.concatenate([parse.confidence for parse in parses]), right)
    return {
        "treebank": name,
        "order": order,
        "train_seconds": round(training, 1),
        "weights": len(model.weights),
        "sentences_per_second": round(len(dev) / plain),
        "with_posteriors_per_second": round(len(dev) / full),
        "lists_per_second": round(len(dev) / listing),
        "uas": round(score.uas, 2),
        "las": round(score.las, 2),
        "exact": round(score.exact, 2),
        "oracle": round(lg.score_attachment(dev, oracle, punctuation=rule).uas, 2),
        "calibration_error": round(sure.error, 2),
    }


def main() -> None:
    root = corpora()
    name = sys.argv[1] if len(sys.argv) > 1 else "wsj-sample"
    train, dev = (lg.Treebank.read(Path(root, "dependency", name, f"{part}.conllu")) for part in ("train", "dev"))
    rows = [measure(name, order, train, dev) for order in (1, 2)]
    write_rows(RESULTS, rows)
    print(RESULTS.read_text("utf-8"), end="")


if __name__ == "__main__":
    explain()
    main()
