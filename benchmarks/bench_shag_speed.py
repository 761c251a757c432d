"""How long do spectral learning, EM and parsing take, against the number of states?

Set-up: wsj-sample, training part for learning, development part (425 sentences, 24 words on average) for parsing,
one core, processor seconds, the best of five runs after one that compiles. Learning starts from trees in memory
and ends with a grammar; parsing starts from tagged sentences and ends with trees, relations, posteriors and
log-probabilities. "whole" is the spectral grammar × words × distances.

Conclusion (results/shag_speed.csv): EM on a trie of modifier sequences is quick too: 25 rounds take as long as
spectral learning at few states and about twice as long at 15. The paper's factor of 150 was mostly its EM code. A
sentence of 250 words takes about a second.

    LATENTGRAM_DATA=… python benchmarks/bench_shag_speed.py
"""

from __future__ import annotations

import time
from pathlib import Path

import latentgram as lg
from harness import corpora, explain, write_rows

RESULTS = Path(__file__).parent / "results" / "shag_speed.csv"
RUNS = 5


def quickest(run):
    """The least of several times, in processor seconds, and the last result."""
    run()
    times = []
    for _ in range(RUNS):
        started = time.process_time()
        result = run()
        times.append(time.process_time() - started)
    return min(times), result


def main() -> None:
    folder = corpora()
    pack = folder / "dependency" / "wsj-sample"
    train, dev = (lg.Treebank.read(pack / f"{part}.conllu") for part in ("train", "dev"))
    sentences = dev.sentences()
    longest = max(sentences, key=len)
    copies = -(-250 // len(longest))
    long = lg.Sentence(*((part * copies)[:250] for part in (longest.words, longest.xpos, longest.upos)))
    lex, distance = (lg.fit(model, train, by=lg.Counting()) for model in (lg.LexicalSHAG, lg.ArcDistance))
    rows = []
    for states in (5, 10, 15, 20):
        spectral, shag = quickest(lambda n=states: lg.fit(lg.SHAG, train, by=lg.Spectral(states=n)))
        em, _ = quickest(
            lambda n=states: lg.fit(lg.SHAG, train, by=lg.EM(states=n, iterations=25, start="random", backoff=0.0))
        )
        row = {"states": states, "spectral seconds": f"{spectral:.3f}", "EM (25) seconds": f"{em:.3f}"}
        row["EM : spectral"] = f"{em / spectral:.1f}"
        for name, model in (("shag", shag), ("whole", shag * lex**0.7 * distance**0.5)):
            parser = lg.Parser(model)
            seconds, _ = quickest(lambda parser=parser: list(parser.parse_many(sentences)))
            row[f"{name} sentences per second"] = f"{len(sentences) / seconds:.0f}"
            seconds, _ = quickest(lambda parser=parser: parser.parse(long))
            row[f"{name} 250 words, seconds"] = f"{seconds:.2f}"
        rows.append(row)
        print(" | ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    explain()
    main()
