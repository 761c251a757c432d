"""Does the tokeniser cut raw text as the treebank does, in four languages and treebanks?

Set-up: the `# text` of each sentence of a development part, cut by the rules for English or by those learned from
the training part; a word is right if both its ends are. Words that a treebank makes out of one (French `du` as
`de le`) can not be found by cutting.

Conclusion (results/tokeniser.csv): what is learned from the treebank is worth half a point in English and seven in
French; what is left in French and Turkish are words that stand for two.

    LATENTGRAM_DATA=… python benchmarks/bench_tokeniser.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import latentgram as lg
from harness import corpora, explain
from latentgram.data.dependencies import DependencyTree

RESULTS = Path(__file__).parent / "results" / "tokeniser.csv"


def tokenising(folder: Path) -> list[tuple[str, ...]]:
    rows = []
    for name in ("en_ewt", "gum", "fr_sequoia", "tr_imst"):
        base = folder / "dependency" / name
        dev = lg.Treebank.read(base / "dev.conllu")
        learned = lg.Tokeniser.of(lg.Treebank.read(base / "train.conllu").sentences())
        for label, rules in (("English", lg.Tokeniser()), ("learned", learned)):
            right = gold = output = 0
            for tree in dev:
                text = next(comment[9:] for comment in tree.comments if comment.startswith("# text = "))
                wanted, found = spans(tree, text), []
                end = 0
                for sentence in rules.sentences(text):
                    for word in sentence.words:
                        begin = text.index(word, end)
                        end = begin + len(word)
                        found.append((begin, end))
                right += len(set(wanted) & set(found))
                gold, output = gold + len(wanted), output + len(found)
            rows.append((name, label, f"{200 * right / (gold + output):.2f}"))
            print(*rows[-1])
    return rows


def spans(tree: DependencyTree, text: str) -> list[tuple[int, ...]]:
    """Where the words of a tree stand in its text; parts of a contraction where they can be told."""
    ranges = {}
    for _, row in tree.extra_rows:
        identity, form = row.split("\t")[:2]
        if "-" in identity:
            first, last = map(int, identity.split("-"))
            ranges[first] = (last, form)
    found: list[tuple[int, ...]] = []
    end, number = 0, 1
    while number <= len(tree):
        last, form = ranges.get(number, (number, tree.words[number - 1]))
        words = tree.words[number - 1 : last]
        begin = text.index(form, end)
        end = begin + len(form)
        if "".join(words) == form:
            bounds = np.cumsum([begin, *map(len, words)])
            found += zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        else:
            found += [(begin, end, place) for place in range(len(words))]
        number = last + 1
    return found


def main() -> None:
    rows = tokenising(corpora())
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("treebank", "rules", "F1 of words"), *rows])


if __name__ == "__main__":
    explain()
    main()
