from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentgram.data.brackets import parse_forest
from latentgram.data.forest import Forest
from latentgram.data.rarewords import RareWords
from latentgram.data.tree import Tree
from latentgram.errors import DataError, SettingError

words = st.text(st.sampled_from("abAB1-/.é‹"), min_size=1, max_size=6)
texts = st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=8)


@given(texts, texts, st.integers(0, 3), st.integers(1, 4))
def test_every_word_gets_a_symbol_seen_in_training(
    train: list[list[str]], new: list[list[str]], threshold: int, support: int
) -> None:
    rule = RareWords.learn(train, threshold=threshold, support=support)
    counts = Counter(word for sentence in train for word in sentence)
    trained = {symbol for sentence in train for symbol in rule.symbols(sentence)}
    for sentence in train:
        for word, symbol in zip(sentence, rule.symbols(sentence), strict=True):
            frequent = counts[word] > threshold and not word.startswith("‹")
            assert (symbol == word) == frequent
    if trained - set(rule.known):
        assert {symbol for sentence in new for symbol in rule.symbols(sentence)} <= trained | set(rule.known)


@given(texts, st.integers(0, 3))
def test_forests_and_sentences_agree(train: list[list[str]], threshold: int) -> None:
    forest = Forest.of([Tree("S", tuple(Tree("X", word=word) for word in sentence)) for sentence in train])
    rule = RareWords.of_forest(forest, threshold=threshold, support=2)
    assert rule == RareWords.learn(train, threshold=threshold, support=2)
    assert [tree.words for tree in rule.apply(forest)] == [rule.symbols(sentence) for sentence in train]


def test_signatures_show_the_form() -> None:
    rare = ["walking", "Talking", "1990-92", "IBM", "McCoy", "re-run", "%"]
    rule = RareWords.learn([["first", *rare]], threshold=1, support=1)
    assert rule.symbols(["x", *rare])[1:] == (
        "‹a-ing›", "‹Aa-ing›", "‹.d-›", "‹AA-bm›", "‹aA-coy›", "‹a--run›", "‹.›",
    )  # fmt: skip


def test_position_counts_only_for_capitals() -> None:
    text = [["Profits", "profits", "profits", "Xyzzing"], ["Plughing"]]
    rule = RareWords.learn(text, threshold=1, support=1)
    assert rule.symbol("Profits", first=True) == "profits"
    assert rule.symbol("Profits") == "‹Aa-ing›"
    assert rule.symbol("Jumping", first=True) == "‹^Aa-ing›"
    assert rule.symbol("Jumping") == "‹Aa-ing›"
    assert rule.symbol("jumping", first=True) == rule.symbol("jumping")


def test_brackets_are_known_by_either_name() -> None:
    rule = RareWords.learn([["-LRB-", "a", "-LRB-"]], threshold=1, support=1)
    assert rule.symbols(["x", "(", "-LRB-"])[1:] == ("-LRB-", "-LRB-")


def test_rare_words_as_tags() -> None:
    forest = parse_forest("(S (NN cat) (NN cat) (NN dog) (, ,))")
    rule = RareWords.of_forest(forest, threshold=1, mode="tag")
    assert rule.apply(forest)[0].words == ("cat", "cat", "‹=NN›", "‹=,›")
    assert rule.symbols(["cat", "emu"], ["NN", "NNP"]) == ("cat", "‹=NNP›")
    renamed = forest.rename(lambda label: f"X+{label}")
    assert rule.apply(renamed, [name[2:] for name in renamed.labels])[0].words[2] == "‹=NN›"
    with pytest.raises(DataError, match="tagged"):
        rule.symbols(["cat"])


def test_settings_are_checked() -> None:
    with pytest.raises(SettingError):
        RareWords(threshold=-1)
    with pytest.raises(SettingError):
        RareWords(mode="shape")  # type: ignore[arg-type]
