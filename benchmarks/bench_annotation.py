"""How much work does it save that the parser learns each accepted tree at once?

Set-up: a scripted annotator corrects 100 sentences until each tree is its gold tree, by the corrections of the
page (analysis.py), and accepts it; once with learning, once without. It sees what a person sees: the tree, the
doubt of each node, the alternatives in the panel. It corrects the widest wrong constituent first, and counts keys
as the page has them: to a node by `n` (its place among the most doubtful) or by arrows from the top, whichever is
less; a number for an alternative of the panel, a letter for a label, Delete; or the words of a constituent with
Shift and arrows and a letter; `p` (leave the rest as it is) once three corrections in a row have brought as many
new faults as they mended; one key to accept. Seconds are what a person waits for the machine, parses and
acceptances, in time of the processor. Two cases: a treebank at its beginning (200 trees of the wsj sample, then
the next 100) and a new domain (a grammar of the wsj sample, then 100 sentences of GENIA). Sentences have at most
30 words.

    python benchmarks/bench_annotation.py [--patience N] [CASE…]      (wsj, genia)

Another patience than three is printed only, not kept.

Conclusion (results/annotation.csv, annotation.svg): learning at once saves 9 of 100 corrections where a treebank
begins and 19 of 100 in a new domain, and 4 and 20 of 100 keys. Every tree becomes its gold tree.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import latentgram as lg
from harness import corpora, explain, write_rows
from latentgram.view.plots import line_plot
from latentgram.web.analysis import Asked, analyse
from latentgram.web.editing.corrections import NoSpan, Span, Tag
from latentgram.web.session import Session

SENTENCES, LONGEST, MOST = 100, 30, 60
PATIENCE = 3
"""Corrections one after the other that bring as many new faults as they mend."""
Part = tuple[str, int, int]
RESULTS = Path(__file__).parent / "results"


def cases() -> Iterator[tuple[str, Any, list[lg.Tree]]]:
    folder = corpora() / "constituency"
    wsj = lg.Treebank.read(folder / "wsj-sample" / "train.mrg")
    genia = lg.Treebank.read(folder / "genia" / "train.mrg")
    yield "wsj", wsj[:200], [tree for tree in wsj[200:] if len(tree) <= LONGEST][:SENTENCES]
    yield "genia", wsj, [tree for tree in genia if len(tree) <= LONGEST][:SENTENCES]


def _sureness(node: Any) -> float:
    """The probability of a node; what has none is passed over by `n`."""
    return 1.0 if node.probability is None else float(node.probability)


class Tree:
    """A tree on the screen, and how many keys lead to its nodes."""

    def __init__(self, analysis: Any) -> None:
        self.nodes, self.analysis = analysis.trees[0].nodes, analysis
        self.parts = [(node.label, node.first, node.end) for node in self.nodes]
        doubts = sorted(range(len(self.nodes)), key=lambda n: _sureness(self.nodes[n]))
        self.rank = {number: place + 1 for place, number in enumerate(doubts)}

    def steps(self, number: int) -> int:
        """Keys to a node: by doubt, or down from the top."""
        path, at = 0, number
        while self.nodes[at].parent is not None:
            mother = self.nodes[at].parent
            sisters = [n for n, node in enumerate(self.nodes) if node.parent == mother]
            path, at = path + 1 + sisters.index(at), mother
        return min(self.rank[number], path)

    def leaf(self, word: int) -> int:
        """The tag over a word."""
        return next(n for n, node in enumerate(self.nodes) if node.word is not None and node.first == word)


def next_correction(tree: Tree, gold: lg.Tree, alone: bool) -> tuple[Any, int]:
    """What the annotator says next, and the keys that it takes; `alone`: where the rest stays as it is."""
    wanted, there = set(gold.spans()), set(tree.parts)
    tags = gold.tags
    if alone:  # what stands in the way of a constituent goes first, since nothing goes by itself
        crossing = [part for part in there - wanted if any(_cross(part, other) for other in wanted)]
        if crossing:
            return deletion(tree, min(crossing, key=lambda part: (part[1] - part[2], part[1])))
    for label, first, end in sorted(wanted - there, key=lambda part: (part[1] - part[2], part[1])):
        node = tree.nodes[tree.leaf(first)]
        if end - first == 1 and tags[first] == label and node.label != label:
            offered = [part.label for part in tree.analysis.tags if part.first == first][:6]
            typed = 1 if label in offered else 2 + len(label)
            return Tag(kind="tag", word=first, tag=label), tree.steps(tree.leaf(first)) + typed
        wrong = [n for n, part in enumerate(tree.parts) if part[1:] == (first, end) and part not in wanted]
        if wrong and tree.nodes[wrong[0]].word is None:
            old = tree.parts[wrong[0]][0]
            fix = Span(kind="span", first=first, end=end, label=label, instead=old)
            return fix, tree.steps(wrong[0]) + 1
        by_words = tree.steps(tree.leaf(first)) + 1 + (end - first - 1) + 1
        return Span(kind="span", first=first, end=end, label=label), min(
            by_words, _offered(tree, label, first, end)
        )
    return deletion(tree, min(there - wanted, key=lambda part: (part[1] - part[2], part[1])))


def deletion(tree: Tree, part: Part) -> tuple[Any, int]:
    """Delete at a constituent."""
    label, first, end = part
    return NoSpan(kind="no-span", first=first, end=end, label=label), tree.steps(tree.parts.index(part)) + 1


def _cross(part: Part, other: Part) -> bool:
    (_, first, end), (_, start, stop) = part, other
    return first < start < end < stop or start < first < stop < end


def _offered(tree: Tree, label: str, first: int, end: int) -> int:
    """Keys to a constituent that the panel offers at one that it crosses."""
    best = 10**6
    for number, (_, start, stop) in enumerate(tree.parts):
        if not _cross((label, first, end), ("", start, stop)):
            continue
        crossing = [
            part
            for part in tree.analysis.marginals
            if part.first < start < part.end < stop or start < part.first < stop < part.end
        ]
        strongest = sorted(crossing, key=lambda part: -part.probability)[:3]
        if any((part.label, part.first, part.end) == (label, first, end) for part in strongest):
            best = min(best, tree.steps(number) + 1)
    return best


def faults(analysis: Any, gold: lg.Tree) -> int:
    """Constituents and tags that are wrong or missing."""
    return len(set(Tree(analysis).parts) ^ set(gold.spans()))


def annotate(session: Session, gold: lg.Tree, number: int, learn: bool, patience: int) -> dict[str, Any]:
    """Correct one sentence until it is right."""
    corrections: list[Any] = []
    keys = fixes = 0
    started = time.process_time()
    analysis, unmet = analyse(session.parser, Asked(lg.Sentence(gold.words)))
    proposed = lg.parse_tree(analysis.trees[0].plain)
    base, vain = None, 0
    while (wrong := faults(analysis, gold)) and fixes < MOST:
        fix, cost = next_correction(Tree(analysis), gold, alone=base is not None)
        corrections.append(fix)
        keys, fixes = keys + cost, fixes + 1
        asked = Asked(lg.Sentence(gold.words), corrections=tuple(corrections), base=base)
        analysis, unmet = analyse(session.parser, asked)
        if unmet:  # one more key makes it by hand
            hand = {each.number for each in unmet}
            corrections = [
                each.model_copy(update={"by_hand": True}) if place in hand else each
                for place, each in enumerate(corrections)
            ]
            keys += len(hand)
            asked = Asked(lg.Sentence(gold.words), corrections=tuple(corrections), base=base)
            analysis, _ = analyse(session.parser, asked)
        vain = vain + 1 if faults(analysis, gold) >= wrong else 0
        if base is None and vain == patience:  # `p`: leave the rest as it is
            keys, base, corrections = keys + 1, analysis.trees[0].plain, []
    right = not faults(analysis, gold)
    f1 = lg.score_brackets(lg.Treebank.of([gold]), [proposed]).f1
    if learn:
        session.accept(f"annotation-{number}", gold, proposed, fixes, None)
    seconds = time.process_time() - started
    return {"keys": keys + 1, "fixes": fixes, "f1": round(f1, 2), "seconds": round(seconds, 3), "finished": right}


def main() -> None:
    explain()
    options = argparse.ArgumentParser()
    options.add_argument("--patience", type=int, default=PATIENCE)
    options.add_argument("cases", nargs="*", default=["wsj", "genia"])
    given = options.parse_args()
    named = given.cases
    path = RESULTS / "annotation.csv"
    old = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    rows: list[dict[str, Any]] = [row for row in old if row["case"] not in named]
    for name, train, sentences in cases():
        if name not in named:
            continue
        parser = lg.Parser(lg.fit(lg.LPCFG, train, by=lg.Spectral(states=8)))
        for learn in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                session = Session(parser, treebank=Path(folder, "new.mrg"), workers=0)
                session.why_not_refit = "not measured here"
                for number, gold in enumerate(sentences):
                    told = annotate(session, gold, number, learn, given.patience)
                    rows.append(
                        {"case": name, "learning": learn, "sentence": number + 1, "words": len(gold), **told}
                    )
            own = [row for row in rows if row["case"] == name and str(row["learning"]) == str(learn)]
            print(name, "learning" if learn else "not learning", *_summary(own), sep="\t", flush=True)
    if given.patience != PATIENCE:
        return
    write_rows(path, rows)
    (RESULTS / "annotation.svg").write_text(_picture(rows), "utf-8")


def _summary(rows: list[dict[str, Any]]) -> list[str]:
    def mean(part: list[dict[str, Any]], column: str) -> float:
        return sum(float(row[column]) for row in part) / len(part)

    half = len(rows) // 2
    return [
        f"keys per sentence {mean(rows, 'keys'):.1f} (second half {mean(rows[half:], 'keys'):.1f})",
        f"corrections {mean(rows, 'fixes'):.2f}",
        f"F1 before {mean(rows, 'f1'):.1f} (second half {mean(rows[half:], 'f1'):.1f})",
        f"CPU s per sentence {mean(rows, 'seconds'):.2f}",
        f"unfinished {sum(str(row['finished']) != 'True' for row in rows)}",
    ]


def _picture(rows: list[dict[str, Any]]) -> str:
    series = {}
    for name in dict.fromkeys(row["case"] for row in rows):
        for learn in ("True", "False"):
            total, points = 0, []
            for row in rows:
                if row["case"] == name and str(row["learning"]) == learn:
                    total += int(row["keys"])
                    points.append((int(row["sentence"]), float(total)))
            series[f"{name}, {'learning' if learn == 'True' else 'not learning'}"] = points[::5] + points[-1:]
    return line_plot(series, title="Keys until all trees are right", x_label="sentences", y_label="keys")


if __name__ == "__main__":
    main()
