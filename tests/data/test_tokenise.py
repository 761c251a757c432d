"""The tokeniser: what English and others want, and that no letter is lost whatever the text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentgram.data.sentence import Sentence
from latentgram.data.tokenise import AT_EDGE, INSIDE, NEVER, Tokeniser, read_raw, ruled_places

RULES = Tokeniser()


def tokens(text: str, rules: Tokeniser = RULES) -> list[list[str]]:
    return [list(sentence.words) for sentence in rules.sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They can't, won't and didn't.", "They ca n't , wo n't and did n't ."),
        ("I cannot; we're gonna!", "I can not ; we 're gon na !"),
        ('He said: "No (never)".', 'He said : " No ( never ) " .'),
        ("It cost $1,250.50 -- or 12%...", "It cost $ 1,250.50 -- or 12 % ..."),
        ("Mail me@x.org, see http://a.b/c?d=1.", "Mail me@x.org , see http://a.b/c?d=1 ."),
        ("the U.S. and the E.U. agree", "the U.S. and the E.U. agree"),
        ("a well-known and/or rock'n'roll fact", "a well-known and / or rock'n'roll fact"),
        ("the boys’ dog’s tail", "the boys ’ dog ’s tail"),
        ("Привет, мир! 你好。", "Привет , мир ! 你好 。"),
        ("at 10:30 on 3/4/2020 :-)", "at 10:30 on 3/4/2020 :-)"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert [token for sentence in tokens(text) for token in sentence] == expected.split()


def test_sentences_end_where_they_end() -> None:
    assert [sentence[0] for sentence in tokens("Mr. X left. He (J. B.) ran! why? “Yes.” No. 3.5 is it.")] == [
        "Mr.", "He", "“", "No", "3.5",
    ]  # fmt: skip
    assert len(tokens("One line\nanother line")) == 2


def test_tokenised_lines_are_left_alone() -> None:
    line = "The S&P/500 , he said . `` Yes . ''"
    assert tokens(line) == [line.split()]


def test_treebanks_teach_their_language() -> None:
    french = [
        Sentence(("l'", "homme", "qu'", "il", "a", "vu", "à", "5", "h", ".")),
        Sentence(("M.", "X", "arrive", ".")),
    ]
    rules = Tokeniser.of(french)
    assert tokens("L'homme qu'on voit, M. Y.", rules) == [["L'", "homme", "qu'", "on", "voit", ",", "M.", "Y."]]
    hyphens = Tokeniser.of([Sentence(("a", "well", "-", "known", "thing"))])
    assert tokens("third-party", hyphens) == [["third", "-", "party"]]
    assert tokens("third-party") == [["third-party"]]


@given(st.text(max_size=60))
def test_nothing_is_lost_or_changed(text: str) -> None:
    found = list(RULES.sentences(text))
    assert "".join(word for sentence in found for word in sentence.words) == "".join(text.split())
    for sentence in found:
        assert [sentence.text[begin:end] for begin, end in sentence.offsets] == list(sentence.words)


@given(st.text(max_size=30))
def test_rules_speak_of_every_place_and_never_cut_off_a_mark(text: str) -> None:
    """Where no mark is involved they cut a text as a tokeniser does that knows no abbreviations and clitics."""
    text = " ".join(text.split())
    said = ruled_places(text)
    assert len(said) == len(text)
    ends, place = set(), 0
    for piece in text.split():
        for token in Tokeniser((), (), ()).cut(piece):
            place += len(token)
            ends.add(place)
        place += 1
    for end, (sign, answer) in enumerate(zip(text, said, strict=True), 1):
        if answer == NEVER:
            assert sign in "\u200c\u200d\u2060" or unicodedata.category(text[end]) in ("Mn", "Mc", "Me", "Cf")
        else:
            assert (answer in (AT_EDGE, INSIDE)) == (end in ends)
            assert end == len(text) or unicodedata.category(text[end])[0] != "M"


def test_text_can_be_had_back() -> None:
    text = "She said: \"It's  5 o'clock (maybe).\""
    (sentence,) = RULES.sentences(text)
    assert sentence.text == " ".join(text.split())


def test_files_stream(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Hi there. Bye!\n\nMore.\n", "utf-8")
    assert [sentence.words for sentence in read_raw(path, RULES)] == [
        ("Hi", "there", "."), ("Bye", "!"), ("More", "."),
    ]  # fmt: skip


def test_any_number_of_clitics_and_signs() -> None:
    """What calls itself for each clitic, or copies a piece for each sign, fails or takes minutes."""
    for clitic in ("'s", "n't", "'ll"):
        assert Tokeniser().sentence("a" + clitic * 5000).words == ("a", *[clitic] * 5000)
    french = Tokeniser(beginnings=("l'", "d'"))
    assert french.sentence("l'" * 5000 + "eau").words == (*["l'"] * 5000, "eau")
    assert Tokeniser().sentence("…" * 200_000).words == ("…",) * 200_000
