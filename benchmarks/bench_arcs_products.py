"""What is the exact product of arc scores and a head-automata grammar worth, without any lists?

Set-up: wsj-sample of LATENTGRAM_DATA, gold tags, attachment without punctuation (Penn's tags), development part.
The scores of a first-order parser, raised to a power, times a spectral or EM grammar, with and without the
lexicalised one at power ½; MBR over the posteriors of the product.

Conclusion (results/arcs_products.csv): generative grammars that see no features but tags still mend errors of the
discriminative parser; lexicalised ones add to that.

    LATENTGRAM_DATA=… python benchmarks/bench_arcs_products.py
"""

from __future__ import annotations

from pathlib import Path

import latentgram as lg
from harness import corpora, explain, write_rows

RESULTS = Path(__file__).parent / "results" / "arcs_products.csv"
POWERS = (1.0, 2.0, 4.0)


def main() -> None:
    root = corpora()
    folder = Path(root, "dependency", "wsj-sample")
    train, dev = (lg.Treebank.read(folder / f"{part}.conllu") for part in ("train", "dev"))

    def uas(model: object) -> float:
        output = [parse.tree for parse in lg.Parser(model).parse_many(dev.sentences())]
        return round(lg.score_attachment(dev, output, punctuation="ptb").uas, 2)

    arcs = lg.fit(lg.ArcFactored, train, by=lg.MIRA(order=1))
    factor = lg.ArcWeights(arcs)
    lexical = lg.fit(lg.LexicalSHAG, train, by=lg.Counting())
    rows = [{"grammar": "none (arcs alone, best tree)", "power": 1.0, "uas": uas(arcs)}]
    for name, by in (("spectral", lg.Spectral()), ("EM", lg.EM())):
        grammar = lg.fit(lg.SHAG, train, by=by)
        rows.append({"grammar": name, "power": 0.0, "uas": uas(grammar)})
        for title, product in ((name, grammar), (f"{name} × lexical^½", grammar * lexical**0.5)):
            for power in POWERS:
                rows.append({"grammar": title, "power": power, "uas": uas(product * factor**power)})
    write_rows(RESULTS, rows)
    print(RESULTS.read_text("utf-8"), end="")


if __name__ == "__main__":
    explain()
    main()
