"""Every reader, fed with what nobody would write: it reads it, or says in one sentence with a place what is wrong.

Two kinds of input: files made by a grammar of the format whose parts are odd, and good files with bytes changed,
cut, doubled and mixed. FUZZ_EXAMPLES sets how many of each are tried (`make fuzz` tries many).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import latentgram as lg
from latentgram.data.constraints import Constraints, partial_brackets, read_constraints
from latentgram.data.ngrams.arpa import read_arpa
from latentgram.data.ngrams.tables import read_table
from latentgram.data.tagged import read_tagged
from latentgram.data.tokenise import read_raw

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "40"))
many = settings(
    max_examples=EXAMPLES,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)

READERS: dict[str, Callable[[Path], Any]] = {
    "a.mrg": lambda path: list(lg.Treebank.read(path, "brackets")),
    "a.conllu": lambda path: list(lg.Treebank.read(path, "conllu")),
    "a.tsv": lambda path: list(read_tagged(path)),
    "a.txt": lambda path: [list(lg.Text.read(path)), list(read_raw(path, lg.Tokeniser()))],
    "a.jsonl": lambda path: list(read_constraints(path)),
    "a.table": read_table,
    "a.arpa": lambda path: (read_arpa(path), lg.read_arpa(path)),
    "a.mrg.gz": lambda path: list(lg.Treebank.read(path, "brackets")),
    "a.lg": lg.load,
}
LENIENT: dict[str, Callable[[Path], Any]] = {
    "a.mrg": lambda path: list(lg.Treebank.read(path, "brackets", skip_bad=True)),
    "a.conllu": lambda path: list(lg.Treebank.read(path, "conllu", skip_bad=True)),
    "a.tsv": lambda path: list(read_tagged(path, bad=[])),
    "a.jsonl": lambda path: list(read_constraints(path, bad=[])),
}
ARPA = """\\data\\
ngram 1=3
ngram 2=2

\\1-grams:
-1.0\t</s>
-99\t<s>\t-0.3
-0.5\ta\t-0.2

\\2-grams:
-0.1\t<s> a
-0.4\ta </s>

\\end\\
"""
TREES = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .)))\n( (S (X (Y a)) (Z b)))\n"
CONLLU = (
    "# text = the cat sleeps\n1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n2-3\tcatsleeps\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tcat\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n3\tsleeps\t_\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No\n\n"
)
GOOD: dict[str, bytes] = {
    "a.mrg": TREES.encode() * 3,
    "a.conllu": CONLLU.encode() * 3,
    "a.tsv": b"the\tDT\ncat\tNN\n\nsleeps\tVBZ\n\n" * 3,
    "a.txt": 'The cat doesn\'t sleep. Dr. Leon (naïve) said: "no"!\na b\n'.encode() * 3,
    "a.jsonl": b'{"spans": [[0, 2, "NP"], [0, 3]], "tags": {"1": "NN"}}\n{"heads": [[1, 2]]}\n\n',
    "a.table": b"<S> a\t3\na b\t2\na\t5\nb </S>\t1\nb\t2\n",
    "a.arpa": ARPA.encode(),
    "a.mrg.gz": gzip.compress(TREES.encode() * 3, mtime=0),
    "a.lg": (Path(__file__).parents[1] / "store" / "old_files" / "text.lg").read_bytes(),
}

TOKENS = [
    *'()[]{}*_\\"', "-1", "0", "2147483648", "²", "1e999", "nan", "-inf", "</s>", "<s>", "<unk>", "-LRB-",
    "-NONE-", "1-2", "1.1", "null", "true", "\\data\\", "\\end\\", "\\2-grams:", "ngram 1=99999999999999", "-0.5",
]  # fmt: skip
BLANKS = ("", " ", "\t", "\n", "\n\n", "\r\n", "\x00", "\ufeff", "\u2028", "\x85")
ODD = st.one_of(st.text(max_size=8), st.sampled_from([*TOKENS, *BLANKS, "9" * 5000, "[" * 2000, "(" * 2000]))
BYTES = st.one_of(st.binary(max_size=6), ODD.map(lambda text: text.encode("utf-8", "surrogatepass")))


@st.composite
def mutated(draw: st.DrawFn, good: bytes) -> bytes:
    """A good file with one to six changes."""
    content = good
    for _ in range(draw(st.integers(1, 6))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        change = draw(st.integers(0, 4))
        if change == 0:
            content = content[:at] + draw(BYTES) + content[at:]
        elif change == 1:
            content = content[:at] + content[end:]
        elif change == 2:
            content = content[:at] + draw(BYTES) + content[end:]
        elif change == 3:
            content = content[:end] + content[at:end] * draw(st.integers(1, 3)) + content[end:]
        else:
            content = content[:at]
    return content


def tried(name: str, content: bytes, folder: Path) -> None:
    """Read a file strictly and leniently: nothing but errors with a sentence may come of it."""
    path = folder / name
    path.write_bytes(content)
    for readers in (READERS, LENIENT):
        if name in readers:
            said = ""
            try:
                readers[name](path)
            except lg.LatentgramError as error:
                said = str(error)
            assert "\n" not in said
            assert len(said) < 1500


@pytest.mark.parametrize("name", GOOD)
def test_good_files_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(GOOD[name])
    READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", GOOD)
def test_changed_files(name: str, tmp_path: Path) -> None:
    @many
    @given(mutated(GOOD[name]))
    def attempt(content: bytes) -> None:
        tried(name, content, tmp_path)

    attempt()


@st.composite
def bracketed(draw: st.DrawFn) -> str:
    """A tree whose labels and words are odd."""
    tree = st.recursive(ODD, lambda inner: st.tuples(ODD, st.lists(inner, max_size=4)), max_leaves=12)

    def spelled(node: Any) -> str:
        return node if isinstance(node, str) else f"({node[0]} {' '.join(map(spelled, node[1]))})"

    return "\n".join(spelled(each) for each in draw(st.lists(tree, max_size=3)))


ROW = st.tuples(
    st.one_of(st.sampled_from("12345"), ODD), ODD, ODD, ODD, ODD, ODD,
    st.one_of(st.sampled_from("012345"), ODD), ODD, ODD, ODD,
).map("\t".join)  # fmt: skip
COUNT = st.one_of(ODD, st.just("3"))
MADE: dict[str, st.SearchStrategy[str]] = {
    "a.mrg": bracketed(),
    "a.conllu": st.lists(st.one_of(ROW, ODD), max_size=8).map(lambda rows: "\n".join(rows) + "\n\n"),
    "a.tsv": st.lists(st.lists(ODD, max_size=4).map("\t".join), max_size=8).map("\n".join),
    "a.txt": st.lists(ODD, max_size=20).map(" ".join),
    "a.table": st.lists(st.tuples(ODD, COUNT).map("\t".join), max_size=8).map("\n".join),
    "a.arpa": st.lists(st.tuples(ODD, ODD).map(" ".join), max_size=6).map(
        lambda rows: ARPA.replace("-0.5\ta", "\n".join(rows))
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_odd_files(name: str, tmp_path: Path) -> None:
    @many
    @given(MADE[name])
    def attempt(text: str) -> None:
        tried(name, text.encode("utf-8", "surrogatepass"), tmp_path)

    attempt()


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), ODD),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(ODD, inner, max_size=4)),
    max_leaves=8,
)
PLACE = st.one_of(st.integers(-2, 6), JSON)
NAMES = st.sampled_from(["spans", "forbidden_spans", "tags", "forbidden_tags", "heads", "forbidden_heads"])
PARTS = st.one_of(
    st.lists(st.lists(PLACE, max_size=4), max_size=4),
    st.dictionaries(st.one_of(st.sampled_from(["0", "1", "2"]), ODD), PLACE, max_size=3),
    JSON,
)
KNOWN = st.dictionaries(st.one_of(NAMES, ODD), PARTS, max_size=3)


@many
@given(KNOWN)
def test_odd_constraints(known: Any) -> None:
    for value in (known, json.loads(json.dumps(known))):
        try:
            made = Constraints.read(value)
            made.fit(5)
            str(made).encode()
        except lg.LatentgramError as error:
            str(error).encode()


@many
@given(st.lists(ODD, max_size=12))
def test_odd_partial_brackets(tokens: list[str]) -> None:
    try:
        sentence, known = partial_brackets(" ".join(tokens))
        known.fit(len(sentence))
    except lg.LatentgramError:
        pass
