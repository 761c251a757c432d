"""How many bytes of a sentence cross the network in training and parsing, and how many would Python trees take?

Set-up: the training part of the wsj sample under LATENTGRAM_DATA (3,126 trees of 24 words on average; generated
trees where the variable is not set), a Dask cluster of two worker processes on this machine. Bytes are those of
items and results as the engine packs them (`Cluster.sent`, `Cluster.received`), divided by sentences, and by
rounds for EM; what is sent once to all (a model, the parameters of a round) is given apart, in kilobytes. `wire`
is what the loopback interface has carried meanwhile (Linux), again a sentence: everything passes the scheduler, so
it is about twice the sum, and more for what is sent once. The last rows are the same trees and parses as pickles.

Conclusion (results/cluster_bytes.csv): trees go out at 145 to 200 bytes where pickled Python trees take 744, and
parses come back at 60 % of their pickles (most of it is posteriors, eight bytes each, which nothing shortens), or
as text at a quarter. Counts of EM come back by the shard of 4,096 trees, so they weigh less the more trees there
are in a shard; its trees go out in the first round only and stay on the workers, so with three rounds a third of
them counts for each. Only spectral training sends more than it saves: the features of all nodes go out, and the
maps from features to views come back, m numbers a feature; it belongs on one large machine.

    python benchmarks/bench_cluster_bytes.py
"""

from __future__ import annotations

import csv
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster

import latentgram as lg
from harness import explain
from latentgram.parallel import Cluster
from latentgram.parser.answers import Question, answers
from latentgram.sequences.counting import count_ngrams

RESULTS = Path(__file__).parent / "results" / "cluster_bytes.csv"
PARSED = 512
ROUNDS = 3
COLUMNS = ("pass", "sent B/sentence", "received B/sentence", "once kB", "wire B/sentence")


class Meter(Cluster):
    """A cluster that tells what functions cost from what items cost."""

    once = 0

    def _packed(self, value: object) -> bytes:
        packed = super()._packed(value)
        self.once += len(packed) if callable(value) else 0
        return packed


def trees() -> tuple[Any, Any]:
    """Constituency and dependency trees of the same sentences."""
    folder = os.environ.get("LATENTGRAM_DATA")
    if folder is None:
        return lg.demo_treebank(3000, seed=0), lg.demo_dependencies(3000, seed=0)
    return (
        lg.Treebank.read(Path(folder) / "constituency/wsj-sample/train.mrg"),
        lg.Treebank.read(Path(folder) / "dependency/wsj-sample/train.conllu"),
    )


def passes(constituents: Any, arcs: Any, text: Path) -> dict[str, tuple[int, Callable[[Cluster], object]]]:
    """The work to be measured, with the number of sentences (times rounds) that it goes over."""
    number = len(constituents)
    plain = lg.Parser(lg.fit(lg.LPCFG, constituents, by=lg.Counting()))
    heads = lg.Parser(lg.fit(lg.SHAG, arcs, by=lg.Counting()))
    words = constituents.sentences()[:PARSED]
    tagged = arcs.sentences()[:PARSED]
    em = lg.EM(states=4, iterations=ROUNDS - 1)
    return {
        "count a PCFG": (number, lambda e: lg.fit(lg.LPCFG, constituents, by=lg.Counting(), engine=e)),
        "spectral L-PCFG, 8 states": (
            number,
            lambda e: lg.fit(lg.LPCFG, constituents, by=lg.Spectral(states=8), engine=e),
        ),
        "a round of EM, L-PCFG, 4 states": (
            ROUNDS * number,
            lambda e: lg.fit(lg.LPCFG, constituents, by=em, engine=e),
        ),
        "a round of EM, HMM, 17 states": (
            ROUNDS * number,
            lambda e: lg.fit(lg.HMM, lg.Text.read(text), by=lg.EM(iterations=ROUNDS), engine=e),
        ),
        "spectral latent tree": (number, lambda e: lg.fit(lg.LatentTree, arcs, by=lg.Spectral(), engine=e)),
        "n-grams of orders 1 to 3": (number, lambda e: count_ngrams(text, order=3, engine=e)),
        "parse, to text": (PARSED, lambda e: list(answers(plain, map(Question, words), engine=e))),
        "parse, PCFG, to Parse": (PARSED, lambda e: list(plain.parse_many(words, engine=e))),
        "parse, head automata, to Parse": (PARSED, lambda e: list(heads.parse_many(tagged, engine=e))),
    }


def loopback() -> int | None:
    """Bytes that the loopback interface has carried since the machine was started."""
    try:
        lines = Path("/proc/net/dev").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.split()[0] == "lo:"), None)


def measured(name: str, number: int, work: Callable[[Cluster], object], client: Any) -> dict[str, object]:
    engine = Meter(client)
    before = loopback()
    work(engine)
    after = loopback()
    return {
        "pass": name,
        "sent B/sentence": round((engine.sent - engine.once) / number),
        "received B/sentence": round(engine.received / number),
        "once kB": round(engine.once / 1000),
        "wire B/sentence": "" if before is None or after is None else round((after - before) / number),
    }


def pickled(constituents: Any, arcs: Any) -> list[dict[str, object]]:
    """The same as Python objects."""
    parser = lg.Parser(lg.fit(lg.LPCFG, constituents, by=lg.Counting()))
    batch = list(parser.parse_many(constituents.sentences()[:64]))
    sizes = {
        "pickled trees": len(pickle.dumps(list(constituents))) / len(constituents),
        "pickled dependency trees": len(pickle.dumps(list(arcs))) / len(arcs),
        "pickled parses, PCFG": len(pickle.dumps(batch)) / len(batch),
    }
    return [{"pass": name, "sent B/sentence": round(size)} for name, size in sizes.items()]


def main() -> None:
    constituents, arcs = trees()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        text.write_text("".join(" ".join(sentence.words) + "\n" for sentence in constituents.sentences()))
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,  # type: ignore[no-untyped-call]
            Client(workers) as client,  # type: ignore[no-untyped-call]
        ):
            for name, (number, work) in passes(constituents, arcs, text).items():
                rows.append(measured(name, number, work, client))
                print(*rows[-1].values(), sep="\t", flush=True)
    for row in pickled(constituents, arcs):
        rows.append(row)
        print(*row.values(), sep="\t")
    with open(RESULTS, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    explain()
    warnings.simplefilter("ignore")
    print(*COLUMNS, sep="\t")
    main()
