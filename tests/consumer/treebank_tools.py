"""What a user's own program says of the types it meets; checked by mypy, never run."""

from collections.abc import Iterator
from typing import assert_type

import latentgram as lg


def train(path: str) -> lg.LPCFG:
    trees = lg.Treebank.read(path)
    grammar = lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=8))
    assert_type(grammar, lg.LPCFG)
    return grammar


def ask(grammar: lg.LPCFG, text: str) -> Iterator[float]:
    parser = lg.Parser(grammar)
    parse = parser.parse(text)
    assert_type(parse, lg.Parse)
    assert_type(parse.logprob, float)
    for other in parser.nbest(text, 3):
        assert_type(other, lg.Parse)
        yield other.logprob


def learn(trees: lg.Treebank[lg.DependencyTree]) -> lg.ArcFactored:
    parser = lg.Parser(lg.fit(lg.ArcFactored, trees))
    assert_type(parser.evaluate(trees).uas, float)
    assert_type(parser.nbest("a b", 2), lg.NBest)
    assert_type(lg.load("model.lg", lg.Parser), lg.Parser)
    return lg.fit(lg.ArcFactored, trees)


def describe(path: str) -> str:
    stored = lg.load(path)
    if isinstance(stored, lg.Parser):
        assert_type(stored.parse("The dog sleeps."), lg.Parse)
    if isinstance(stored, lg.BackoffNGram):
        return f"order {stored.order}"
    return stored.summary()


def tag(sentences: list[list[str]]) -> lg.HMM:
    return lg.fit(lg.HMM, lg.Text.of(sentences), by=lg.EM(states=4))


def guarded(parser: lg.Parser, words: list[str]) -> lg.Parse | None:
    try:
        return parser.parse(words)
    except lg.NoParse:
        return None
