"""From raw text to CoNLL-U: how do we compare with UDPipe 1, trained on the same treebank in the same run?

Set-up: `UDParser` and `ufal.udpipe` (PyPI; needed by this benchmark only) learn from the training part of a
treebank, each with its own defaults, and get the raw text of the development part, one paragraph per line. Both
are scored by the CoNLL 2018 measures, in percent. Times are CPU seconds of one core. Lemmas are also compared on
the gold words: ours with gold tags, UDPipe's with its own, since it chooses tags and lemmas together.

With `--gold-tags` only parsers are compared: `ArcFactored` and UDPipe's learn from gold words, tags and features
and get those of the development part; every word counts, and the last row is the accuracy of our relations at gold
heads.

UDPipe takes long to learn; `--tokenizer epochs=20` shortens its longest part (100 by default), and with
`--keep FOLDER` its models are kept there and found again, with the time that they took.

    LATENTGRAM_DATA=… python benchmarks/bench_ud.py [tr_imst] [--tokenizer epochs=20] [--keep FOLDER] [--first 500]
    LATENTGRAM_DATA=… python benchmarks/bench_ud.py tr_imst --gold-tags [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import latentgram as lg
from harness import corpora, write_rows
from latentgram.data.conllu import parse_conllu, to_conllu
from latentgram.data.surface import raw_text
from latentgram.evaluate.conll18 import Conll18Score

RESULTS = Path(__file__).parent / "results" / "ud.csv"
Trees = lg.Treebank[lg.DependencyTree]
Row = dict[str, float]


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


def udpipe(name: str, train: Trees, dev: Trees, folder: Path, tokenizer: str) -> Row:
    """The same by UDPipe."""
    from ufal.udpipe import Model, Pipeline

    path, learning = kept_model(folder / f"{name}.udpipe", train, tokenizer, "", "")
    model = Model.load(str(path))
    began = time.process_time()
    output = Pipeline(model, "tokenize", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu").process(raw_text(dev))
    seconds = time.process_time() - began
    words = "".join(map(to_conllu, dev))
    tagged = Pipeline(model, "conllu", Pipeline.DEFAULT, Pipeline.NONE, "conllu").process(words)
    lemmas = [tree.lemmas for tree in parse_conllu(tagged)]
    score = lg.score_conll18(dev, parse_conllu(output))
    return row(score, accuracy(dev, lemmas), learning, seconds, path.stat().st_size)


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


def udpipe_trees(name: str, train: Trees, dev: Trees, folder: Path) -> Row:
    """The same by UDPipe."""
    from ufal.udpipe import Model, Pipeline

    path, learning = kept_model(folder / f"{name}.gold.udpipe", train, "none", "none", "")
    model = Model.load(str(path))  # which a pipeline does not keep alive
    parser = Pipeline(model, "conllu", Pipeline.NONE, Pipeline.DEFAULT, "conllu")
    began = time.process_time()
    output = parser.process("".join(map(to_conllu, dev)))
    seconds = time.process_time() - began
    return attachment(dev, list(parse_conllu(output)), learning, seconds, path.stat().st_size)


def attachment(dev: Trees, trees: list[lg.DependencyTree], learning: float, parsing: float, size: int) -> Row:
    """UAS and LAS of all words, and the rest."""
    score = lg.score_attachment(dev, trees, punctuation="none")
    rest = {"training, s": learning, "parsing, s": parsing, "model, MB": size / 1e6}
    return {"UAS": score.uas, "LAS": score.las, **rest}


def kept_model(path: Path, train: Trees, *options: str) -> tuple[Path, float]:
    """A model of UDPipe that is kept, learned now if it is not there, and the seconds that it took."""
    told = path.with_suffix(".json")
    if not path.exists():
        began = time.process_time()
        path.write_bytes(learned_by_udpipe(train, *options))
        told.write_text(json.dumps({"seconds": time.process_time() - began, "options": options}))
    return path, json.loads(told.read_text())["seconds"]


def learned_by_udpipe(train: Trees, tokenizer: str, tagger: str, parser: str) -> bytes:
    """A model with UDPipe's defaults but for some options of its parts; `none` leaves a part out."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences, Trainer

    reader, error, held = InputFormat.newConlluInputFormat(), ProcessingError(), Sentences()
    reader.setText("".join(map(to_conllu, train)))
    while reader.nextSentence(sentence := Sentence(), error):
        held.push_back(sentence)
    model = Trainer.train("morphodita_parsito", held, Sentences(), tokenizer, tagger, parser, error)
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


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("treebank", nargs="?", default="tr_imst")
    options.add_argument("--tokenizer", default="", help="options of UDPipe's tokenizer, such as epochs=20")
    options.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()), help="folder for the models")
    options.add_argument("--first", type=int, help="only so many training sentences")
    options.add_argument("--gold-tags", action="store_true", help="parsers only, with gold tags and features")
    options.add_argument("--alone", action="store_true", help="without UDPipe, as where it is not installed")
    chosen = options.parse_args()
    alone = chosen.alone or find_spec("ufal") is None
    folder = corpora() / "dependency" / chosen.treebank
    train, dev = (lg.Treebank.read(folder / f"{part}.conllu", "conllu") for part in ("train", "dev"))
    train = train[: chosen.first]
    columns = {"latentgram": (our_trees if chosen.gold_tags else ours)(train, dev, chosen.keep)}
    name = f"{chosen.treebank}{chosen.first or ''}"
    if not alone and chosen.gold_tags:
        columns["UDPipe 1"] = udpipe_trees(name, train, dev, chosen.keep)
    elif not alone:
        columns["UDPipe 1"] = udpipe(name, train, dev, chosen.keep, chosen.tokenizer)
    print(f"{chosen.treebank + ', dev':24}" + "".join(f"{name:>12}" for name in columns))
    for name in columns["latentgram"]:
        print(f"{name:24}" + "".join(f"{each[name]:12.2f}" if name in each else "" for each in columns.values()))
    write_rows(
        RESULTS.with_stem(f"ud_{chosen.treebank}" + ("_gold" if chosen.gold_tags else "")),
        [{"system": name, **{k: f"{v:.2f}" for k, v in each.items()}} for name, each in columns.items()],
    )


if __name__ == "__main__":
    main()
