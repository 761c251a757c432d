"""How fast are our tagger and our dependency parser beside those that can be installed from PyPI?

Set-up: the wsj sample (dependencies, UPOS and XPOS) under LATENTGRAM_DATA, all systems trained in one run on the
same training part and given the same development part with gold words; one core, processor time, after a small run
that compiles. UDPipe 1 (`ufal.udpipe`) has `--passes` passes of its tagger and parser in place of 20 and 10, the
latter without its search-based oracle: its speed does not depend on that, its accuracy does. CRFsuite
(`python-crfsuite`) is a chain CRF in C++ with the usual features (the words around, prefixes and suffixes of up to
three letters, the form) and the averaged perceptron, ten passes; making its features, in Python, is counted apart.
Taggers are compared by XPOS, parsers by UAS of all words, gold tags given. A peer that is not installed is left
out.

Conclusion: results/peers.csv.

    LATENTGRAM_DATA=… python benchmarks/bench_peers.py [--passes 3]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import latentgram as lg
from bench_ud import Trees, UDPipe
from harness import corpora, write_rows
from latentgram.data.conllu import parse_conllu, to_conllu

RESULTS = Path(__file__).parent / "results" / "peers.csv"
Row = dict[str, str]
Result = TypeVar("Result")


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Processor seconds, and what came of it."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def row(task: str, system: str, training: float, spent: float, gold: Trees, accuracy: float) -> Row:
    words = sum(map(len, gold))
    return {
        "task": task,
        "system": system,
        "training s": f"{training:.1f}",
        "words/s": f"{words / spent:.0f}",
        "sentences/s": f"{len(gold) / spent:.0f}",
        "accuracy": f"{accuracy:.2f}",
    }


def share(gold: Sequence[Sequence[Any]], output: Sequence[Sequence[Any]]) -> float:
    """The percentage of entries that are equal."""
    pairs = [pair for one, other in zip(gold, output, strict=True) for pair in zip(one, other, strict=True)]
    return 100 * sum(one == other for one, other in pairs) / len(pairs)


def our_tagger(train: Trees, dev: Trees) -> Row:
    """Our tagger, with its defaults."""
    lg.fit(lg.Tagger, train[:20], by=lg.Gradient(passes=1)).tag("compiles what is needed")
    training, tagger = timed(lambda: lg.fit(lg.Tagger, train))
    bare = [tree.sentence.without_tags() for tree in dev]
    spent, tagged = timed(lambda: tagger.annotate(bare))
    found = [sentence.xpos or () for sentence, _ in tagged]
    return row("tagging", "latentgram", training, spent, dev, share(xpos(dev), found))


def our_parser(train: Trees, dev: Trees) -> Row:
    """Our second-order parser, with its defaults."""
    small = lg.fit(lg.ArcFactored, train[:40], by=lg.MIRA(passes=1, bits=14))
    list(lg.Parser(small).parse_many(dev.sentences()[:3]))
    training, model = timed(lambda: lg.fit(lg.ArcFactored, train))
    parser = lg.Parser(model)
    spent, parses = timed(lambda: list(parser.parse_many(dev.sentences())))
    return row("parsing", "latentgram", training, spent, dev, share(heads(dev), heads(p.tree for p in parses)))


def udpipe(train: Trees, dev: Trees, passes: int) -> list[Row]:
    """UDPipe's tagger and its parser."""
    options = {"tagger": f"iterations={passes}", "parser": f"iterations={passes};structured_interval=0"}
    text, rows = "".join(map(to_conllu, dev)), []
    for part, read, task in (("tagger", xpos, "tagging"), ("parser", heads, "parsing")):
        with tempfile.TemporaryDirectory() as folder:
            system = UDPipe(train, Path(folder) / "peer", {part: options[part]})
        spent, output = timed(lambda part=part, system=system: system.run(part, text))  # type: ignore[misc]
        accuracy = share(read(dev), read(list(parse_conllu(output))))
        rows.append(row(task, "UDPipe 1", system.seconds, spent, dev, accuracy))
    return rows


def crfsuite(train: Trees, dev: Trees) -> Row:
    """CRFsuite's tagger; its features are made before."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": 10})
    for tree in train:
        trainer.append(features(tree.words), tree.xpos)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "tagger.crf")
        training, _ = timed(lambda: trainer.train(path))
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        sequences = [pycrfsuite.ItemSequence(features(tree.words)) for tree in dev]
        spent, output = timed(lambda: [tagger.tag(sequence) for sequence in sequences])
    return row("tagging", "CRFsuite, features made before", training, spent, dev, share(xpos(dev), output))


def features(words: Sequence[str]) -> list[list[str]]:
    """Of each word: itself, its neighbours, its ends and its form."""
    lower = ["", *(word.lower() for word in words), ""]
    return [
        [
            f"w={lower[i]}", f"-1={lower[i - 1]}", f"+1={lower[i + 1]}",
            *(f"s{n}={word[-n:]}" for n in (1, 2, 3)), *(f"p{n}={word[:n]}" for n in (1, 2, 3)),
            f"digit={any(map(str.isdigit, word))}", f"upper={word[:1].isupper()}", f"dash={'-' in word}",
        ]
        for i, word in enumerate(words, 1)
    ]  # fmt: skip


def xpos(trees: Any) -> list[Sequence[str]]:
    return [tree.xpos for tree in trees]


def heads(trees: Any) -> list[Sequence[int]]:
    return [tree.heads for tree in trees]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--passes", type=int, default=3, help="of UDPipe's tagger and parser")
    passes = options.parse_args().passes
    folder = corpora() / "dependency" / "wsj-sample"
    train, dev = (lg.Treebank.read(folder / f"{part}.conllu", "conllu") for part in ("train", "dev"))
    rows = [our_tagger(train, dev), our_parser(train, dev)]
    rows += udpipe(train, dev, passes) if find_spec("ufal") else []
    rows += [crfsuite(train, dev)] if find_spec("pycrfsuite") else []
    rows.sort(key=lambda each: each["task"])
    for each in rows:
        print(*each.values(), sep="  ")
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    main()
