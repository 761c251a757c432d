"""From raw text to CoNLL-U: how do we compare with UDPipe 1, trained on the same treebank in the same run?

Set-up: `UDParser` and `ufal.udpipe` (PyPI; needed by this benchmark only) learn from the training part of a
treebank, each with its own defaults, and get the raw text of the development part, one paragraph per line. Both
are scored by the CoNLL 2018 measures, in percent. Times are CPU seconds of one core. Lemmas are also compared on
the gold words: ours with gold tags, UDPipe's with its own, since it chooses tags and lemmas together.

With `--gold-tags` only parsers are compared: `ArcFactored` and UDPipe's learn from gold words, tags and features
and get those of the development part; every word counts, and the last row is the accuracy of our relations at gold
heads. With `--cuts` only `Segmenter` and UDPipe's tokenizer are: tokens, sentences and words.

UDPipe takes long to learn: with its defaults about 5 s per pass of its tokenizer (100 passes, whatever the size of
the treebank), and for 1,000 words about 0.4 s per pass of its tagger (20) and 1.8 s per pass of its parser (10),
in all an hour and a half on en_ewt. So its parts are learned one by one, with the options of `--tokenizer`,
`--tagger` and `--parser`, and with `--keep FOLDER` they are kept there and found again, with the time that they
took: a run that was stopped goes on. Its parser learns from gold tags, so that one serves both comparisons;
learned beside its tagger it would have the tags that this gives to its own training sentences.

    LATENTGRAM_DATA=… python benchmarks/bench_ud.py [tr_imst] [--tokenizer epochs=20] [--keep FOLDER] [--first 500]
    LATENTGRAM_DATA=… python benchmarks/bench_ud.py tr_imst --gold-tags [--parser iterations=2] [--keep FOLDER]
    LATENTGRAM_DATA=… python benchmarks/bench_ud.py tr_imst --cuts [--tokenizer epochs=20] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import latentgram as lg
from harness import corpora, write_rows
from latentgram.data.conllu import parse_conllu, to_conllu
from latentgram.data.surface import raw_text
from latentgram.evaluate.conll18 import Conll18Score
from latentgram.parser.parser import as_written

RESULTS = Path(__file__).parent / "results" / "ud.csv"
Trees = lg.Treebank[lg.DependencyTree]
Row = dict[str, float]
PARTS = ("tokenizer", "tagger", "parser")


def ours(train: Trees, dev: Trees, folder: Path) -> Row:
    """Learn, store, load, parse and score."""
    began = time.process_time()
    model = lg.fit(lg.UDParser, train, by=lg.Gradient())
    learned = time.process_time()
    path = folder / "ud.lg"
    lg.save(lg.Parser(model), path, "compact")
    parser = lg.load(path, lg.Parser)
    list(parser.parse_many(parser.sentences_of("One .")))
    loaded = time.process_time()
    trees = [parse.tree for parse in parser.parse_many(parser.sentences_of(raw_text(dev)))]
    parsed = time.process_time()
    lemmas = model.lemmatiser.lemmatise([tree.sentence for tree in dev]) if model.lemmatiser else []
    return row(
        lg.score_conll18(dev, trees),
        accuracy(dev, [each for each, _ in lemmas]),
        learned - began,
        parsed - loaded,
        path.stat().st_size,
    )


def udpipe(parts: UDPipe, dev: Trees) -> Row:
    """The same by UDPipe."""
    began = time.process_time()
    words = parts.run("tokenizer", raw_text(dev))
    output = parts.run("parser", parts.run("tagger", words))
    seconds = time.process_time() - began
    lemmas = [tree.lemmas for tree in parse_conllu(parts.run("tagger", "".join(map(to_conllu, dev))))]
    score = lg.score_conll18(dev, parse_conllu(output))
    return row(score, accuracy(dev, lemmas), parts.seconds, seconds, parts.size)


def our_trees(train: Trees, dev: Trees, folder: Path) -> Row:
    """Parsing with gold words, tags and features."""
    began = time.process_time()
    model = lg.fit(lg.ArcFactored, train, by=lg.MIRA())
    learning = time.process_time() - began
    path = folder / "arcs.lg"
    lg.save(lg.Parser(model), path, "compact")
    parser = lg.load(path, lg.Parser)
    parser.parse(dev[0].sentence)
    began = time.process_time()
    trees = [parse.tree for parse in parser.parse_many(tree.sentence for tree in dev)]
    seconds = time.process_time() - began
    named = lg.score_attachment(dev, parser.name_arcs(dev, gold_tags=True), punctuation="none").las
    return {**attachment(dev, trees, learning, seconds, path.stat().st_size), "relations at gold heads": named}


def udpipe_trees(parts: UDPipe, dev: Trees) -> Row:
    """The same by UDPipe."""
    began = time.process_time()
    output = parts.run("parser", "".join(map(to_conllu, dev)))
    seconds = time.process_time() - began
    return attachment(dev, list(parse_conllu(output)), parts.seconds, seconds, parts.size)


def our_cuts(train: Trees, dev: Trees, folder: Path) -> Row:
    """Sentences, tokens and words only."""
    began = time.process_time()
    segmenter = lg.fit(lg.Segmenter, train, by=lg.Gradient())
    learning = time.process_time() - began
    path = folder / "segmenter.lg"
    lg.save(segmenter, path, "compact")
    segmenter = lg.load(path, lg.Segmenter)
    list(segmenter.sentences("One ."))
    began = time.process_time()
    sentences = list(segmenter.sentences(raw_text(dev)))
    seconds = time.process_time() - began
    trees = [as_written(lg.DependencyTree(each.words, flat(len(each))), each) for each in sentences]
    return cuts(dev, trees, learning, seconds, path.stat().st_size)


def udpipe_cuts(parts: UDPipe, dev: Trees) -> Row:
    """The same by UDPipe."""
    began = time.process_time()
    output = parts.run("tokenizer", raw_text(dev))
    seconds = time.process_time() - began
    rows = [line.split("\t") for line in output.split("\n")]
    for columns in rows:
        if columns[0].isdecimal():
            columns[6:8] = ["0", "root"] if columns[0] == "1" else ["1", "dep"]
    trees = list(parse_conllu("\n".join(map("\t".join, rows))))
    return cuts(dev, trees, parts.seconds, seconds, parts.size)


def flat(length: int) -> tuple[int, ...]:
    """Heads of a tree whose first word is the root of all others: measures of cuts do not look at them."""
    return (0, *(1,) * (length - 1))


def cuts(dev: Trees, trees: list[lg.DependencyTree], learning: float, cutting: float, size: int) -> Row:
    """What was cut right, and the rest."""
    score = lg.score_conll18(dev, trees)
    figures = {Conll18Score.NAMES[name]: getattr(score, name).f1 for name in ("tokens", "sentences", "words")}
    return {**figures, "training, s": learning, "cutting, s": cutting, "model, MB": size / 1e6}


def attachment(dev: Trees, trees: list[lg.DependencyTree], learning: float, parsing: float, size: int) -> Row:
    """UAS and LAS of all words, and the rest."""
    score = lg.score_attachment(dev, trees, punctuation="none")
    rest = {"training, s": learning, "parsing, s": parsing, "model, MB": size / 1e6}
    return {"UAS": score.uas, "LAS": score.las, **rest}


class UDPipe:
    """The parts of UDPipe by their names, each a model of its own that is kept in a file beside its time."""

    def __init__(self, train: Trees, place: Path, options: dict[str, str]) -> None:
        from ufal.udpipe import Model

        self.seconds, self.size = 0.0, 0
        self.models = {}
        for part, option in options.items():
            path = place.with_name(f"{place.name}.{part}.udpipe")
            told = path.with_suffix(".json")
            if not path.exists():
                began = time.process_time()
                learned = learned_by_udpipe(train, {part: option})
                told.write_text(json.dumps({"seconds": time.process_time() - began, "option": option}))
                path.write_bytes(learned)
            kept = json.loads(told.read_text())
            if kept["option"] != option:
                raise SystemExit(f"{path} was learned with the options {kept['option']!r}: move it away")
            self.seconds += kept["seconds"]
            self.size += path.stat().st_size
            self.models[part] = Model.load(str(path))  # which a pipeline does not keep alive

    def run(self, part: str, text: str) -> str:
        """The output of one part as CoNLL-U, from plain text for the tokenizer and from CoNLL-U for the others."""
        from ufal.udpipe import Pipeline

        reads = "tokenize" if part == "tokenizer" else "conllu"
        tags, parses = (Pipeline.DEFAULT if part == each else Pipeline.NONE for each in ("tagger", "parser"))
        output: str = Pipeline(self.models[part], reads, tags, parses, "conllu").process(text)
        return output


def learned_by_udpipe(train: Trees, options: dict[str, str]) -> bytes:
    """A model with the parts that have options; empty ones are UDPipe's defaults."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences, Trainer

    reader, error, held = InputFormat.newConlluInputFormat(), ProcessingError(), Sentences()
    reader.setText("".join(map(to_conllu, train)))
    while reader.nextSentence(sentence := Sentence(), error):
        held.push_back(sentence)
    each = (options.get(part, "none") for part in PARTS)
    model = Trainer.train("morphodita_parsito", held, Sentences(), *each, error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    return bytes(model)


def accuracy(dev: Trees, lemmas: list[tuple[str, ...]]) -> float:
    """Right lemmas of gold words, in percent."""
    pairs = [pair for tree, each in zip(dev, lemmas, strict=False) for pair in zip(tree.lemmas, each, strict=True)]
    return 100 * sum(right == guess for right, guess in pairs) / max(len(pairs), 1)


def row(score: Conll18Score, lemmas: float, learning: float, parsing: float, size: int) -> Row:
    """All figures by name."""
    figures = {shown: getattr(score, name).f1 for name, shown in Conll18Score.NAMES.items()}
    rest = {"lemmas, gold words": lemmas, "training, s": learning, "parsing, s": parsing, "model, MB": size / 1e6}
    return {**figures, **rest}


KINDS: dict[str, tuple[tuple[str, ...], Callable[[Trees, Trees, Path], Row], Callable[[UDPipe, Trees], Row]]] = {
    "raw": (PARTS, ours, udpipe),
    "gold": (("parser",), our_trees, udpipe_trees),
    "cuts": (("tokenizer",), our_cuts, udpipe_cuts),
}
"""For each comparison the parts of UDPipe that it needs, and what is done by each side."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("treebank", nargs="?", default="tr_imst")
    for part, such in zip(PARTS, ("epochs=20", "iterations=4", "iterations=2"), strict=True):
        options.add_argument(f"--{part}", default="", help=f"options of UDPipe's {part}, such as {such}")
    options.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()), help="folder for the models")
    options.add_argument("--first", type=int, help="only so many training sentences")
    options.add_argument("--gold-tags", action="store_true", help="parsers only, with gold tags and features")
    options.add_argument("--cuts", action="store_true", help="sentences, tokens and words only")
    options.add_argument("--alone", action="store_true", help="without UDPipe, as where it is not installed")
    chosen = options.parse_args()
    folder = corpora() / "dependency" / chosen.treebank
    train, dev = (lg.Treebank.read(folder / f"{part}.conllu", "conllu") for part in ("train", "dev"))
    train = train[: chosen.first]
    kind = "gold" if chosen.gold_tags else "cuts" if chosen.cuts else "raw"
    wanted, by_us, by_udpipe = KINDS[kind]
    columns = {"latentgram": by_us(train, dev, chosen.keep)}
    if not (chosen.alone or find_spec("ufal") is None):
        told = {part: getattr(chosen, part) for part in wanted}
        place = chosen.keep / f"{chosen.treebank}{chosen.first or ''}"
        columns["UDPipe 1"] = by_udpipe(UDPipe(train, place, told), dev)
        print("UDPipe's options:", ", ".join(f"{part} {option or 'defaults'}" for part, option in told.items()))
    print(f"{chosen.treebank + ', dev':24}" + "".join(f"{name:>12}" for name in columns))
    for name in columns["latentgram"]:
        print(f"{name:24}" + "".join(f"{each[name]:12.2f}" if name in each else "" for each in columns.values()))
    write_rows(
        RESULTS.with_stem(f"ud_{chosen.treebank}" + ("" if kind == "raw" else f"_{kind}")),
        [{"system": name, **{k: f"{v:.2f}" for k, v in each.items()}} for name, each in columns.items()],
    )


if __name__ == "__main__":
    main()
