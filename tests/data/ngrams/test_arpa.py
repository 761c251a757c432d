"""ARPA files: there and back, repairs, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from tests.sequences.test_ngram import every_string, layered_text

from latentgram.data.ngrams.arpa import read_arpa
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError
from latentgram.sequences.counting import from_arpa, from_counts

GOOD = """\\data\\
ngram 1=4
ngram 2=4

\\1-grams:
-99 <s> -0.1760913
-0.60206 </s>
-0.60206 a 0
-0.30103 b -0.30103

\\2-grams:
-0.30103 <s> a
-0.30103 a b
-0.30103 b </s>
-0.60206 b a

\\end\\
"""


def test_there_and_back(tmp_path: Path) -> None:
    model = from_counts(NGramCounts.of(Text.of(layered_text()), order=3, cutoff=4), "failure")
    model.to_arpa(tmp_path / "m.arpa")
    again = from_arpa(read_arpa(tmp_path / "m.arpa"), strict=True)
    for words in every_string()[:-1]:
        assert np.exp(again.logprob(list(words))) == pytest.approx(np.exp(model.logprob(list(words))), abs=1e-6)
    with pytest.raises(SettingError, match="the reading exclusive"):
        from_counts(NGramCounts.of(Text.of(["a"]), order=2)).to_arpa(tmp_path / "x.arpa")
    assert not (tmp_path / "x.arpa").exists()


@pytest.mark.parametrize("reading", ["exclusive", "failure"])
def test_openfst_text_holds_every_path(tmp_path: Path, reading: str) -> None:
    model = from_counts(NGramCounts.of(Text.of(layered_text()), order=3, cutoff=4), reading)
    model.to_openfst(tmp_path / "m.txt")
    rows = [line.split("\t") for line in (tmp_path / "m.txt").read_text().splitlines()]
    arcs: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for row in rows[:-1]:
        arcs.setdefault((row[0], row[2]), []).append((row[1], float(row[4])))
    (final,) = rows[-1]
    down = "<phi>" if reading == "failure" else "<eps>"

    def weight(state: str, words: list[str]) -> float:
        if not words:
            return float(state == final)
        own = sum(np.exp(-cost) * weight(to, words[1:]) for to, cost in arcs.get((state, words[0]), []))
        if (own and reading == "failure") or ((state, words[0]) in arcs and reading == "failure"):
            return own
        return own + sum(np.exp(-cost) * weight(to, words) for to, cost in arcs.get((state, down), []))

    for words in every_string()[:-1:3]:
        found = weight(rows[0][0], [*words, "</s>"])
        assert found == pytest.approx(np.exp(model.logprob(list(words))), rel=1e-6, abs=1e-12)
    names = [line.split("\t")[0] for line in (tmp_path / "m.txt.syms").read_text().splitlines()]
    assert {row[2] for row in rows[:-1]} <= set(names)


def test_missing_parts_get_what_backing_off_gives(tmp_path: Path) -> None:
    text = GOOD.replace("ngram 2=4\n", "ngram 2=3\nngram 3=1\n").replace("-0.30103 a b\n", "")
    text = text.replace("\n\\end\\", "\n\\3-grams:\n-0.1 <s> a b\n\n\\end\\")
    (tmp_path / "m.arpa").write_text(text)
    arpa = read_arpa(tmp_path / "m.arpa")
    assert arpa.repairs == {"missing parts of n-grams added": 1}
    row = int(arpa.trie.find(np.array([[1, 2]]))[0])
    assert arpa.logprob[row] == pytest.approx(-0.30103)


def test_wrong_sums_are_mended_or_refused(tmp_path: Path) -> None:
    (tmp_path / "m.arpa").write_text(GOOD.replace("-0.30103 a b", "-0.01 a b").replace("b -0.30103", "b 0.2"))
    arpa = read_arpa(tmp_path / "m.arpa")
    assert arpa.repairs == {"back-off weights above 1 kept": 1}
    model = from_arpa(arpa)
    assert model.repairs["histories made to sum to one"] == 2
    own = np.bincount(model.source, model.arc_prob, minlength=model.states)
    for state in range(1, model.states):
        arcs = np.arange(model.arc_start[state], model.arc_start[state + 1])
        below = sum(model.arc_prob[model.arc_lower[arc]] for arc in arcs if model.arc_lower[arc] >= 0)
        assert own[state] + model.failure[state] * (1 - below) == pytest.approx(1.0, abs=1e-2)
    with pytest.raises(DataError, match="do not sum to one, the first of them"):
        from_arpa(arpa, strict=True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\data\\", "data", "not an ARPA file"),
        ("ngram 2=4", "ngram 3=4", r":3: expected 'ngram 2=COUNT'"),
        ("-0.30103 a b\n", "-0.30103 a\n", r":13: '-0.30103 a' is not a probability, 2 words"),
        ("-0.30103 a b", "0.3 a b", r":13: log probability 0.3"),
        ("-0.30103 a b", "x a b", r":13: 'x a b' has no number"),
        ("\\2-grams:", "\\4-grams:", r":11: expected \\2-grams:"),
        ("\n\\end\\\n", "", "truncated"),
        ("-0.60206 b a", "-0.60206 b c", r":15: the word 'c' has no unigram"),
        ("-99 <s> -0.1760913", "-0.60206 a", r":8: the 1-gram of this line occurs twice"),
        ("-0.60206 b a", "-0.60206 a b", r":15: the 2-gram of this line occurs twice"),
        ("-0.60206 </s>", "-0.60206 c", "there is no unigram </s>, so no sentence ever ends"),
        ("-0.60206 a 0", "nan a 0", r":8: log probability nan or back-off 0.0 is not a finite number"),
        ("-0.60206 a 0", "-0.60206 a -inf", r":8: .* is not a finite number"),
        ("-0.30103 a b", "-inf a b", r":13: .* is not a finite number"),
        ("ngram 1=4", "ngram 1=99999999999", r":10: .* is truncated: 4 n-grams, but the header promises 99,999"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "m.arpa").write_text(GOOD.replace(old, new))
    with pytest.raises(DataError, match=message):
        read_arpa(tmp_path / "m.arpa")


def test_scores_are_those_of_the_package_kenlm(tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    path = tmp_path / "m.arpa"
    from_counts(NGramCounts.of(Text.of(layered_text()), order=3, cutoff=4), "failure").to_arpa(path)
    path.write_text(path.read_text().replace("\\1-grams:\n", "\\1-grams:\n-99\t<unk>\n").replace("1=10", "1=11"))
    peer, model = kenlm.Model(str(path)), from_arpa(read_arpa(path))
    for words in every_string()[:-1]:
        log = model.logprob(list(words))
        if log > -100:
            assert log / np.log(10) == pytest.approx(peer.score(" ".join(words)), abs=1e-4)
