import gzip
import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentgram.data.brackets import (
    escape,
    format_forest,
    parse_forest,
    parse_tree,
    read_brackets,
    stream_forests,
    stream_trees,
    unescape,
    write_brackets,
)
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.errors import DataError

CATS = "(S (NP (NNS Cats)) (VP (VBP sleep)))"


def test_layouts_are_the_same_trees() -> None:
    one_line = parse_tree(f"(TOP {CATS})")
    spread = parse_tree("( TOP\n\t(S\r\n (NP (NNS\n Cats) )\n(VP(VBP sleep)) )\n)\n")
    assert one_line == spread
    assert parse_tree(f"( {CATS})") == Tree("", (parse_tree(CATS),))
    assert str(parse_tree(f"( {CATS})")) == f"( {CATS})"


def test_words_are_not_touched() -> None:
    text = "(X (-LRB- -LRB-) (# #) (% 5%) (CD 1\\/2) (NN caf\u00e9) (NN New\u00a0York) (, ,))"
    assert str(parse_tree(text)) == text


def test_comments_stand_between_trees_only() -> None:
    text = f"% one\n  # two (\n*x* Copyright (C) *x*\n{CATS}\n#three)\n(X\n#\n)\n"
    assert [str(tree) for tree in parse_forest(text)] == [CATS, "(X #)"]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("(S (A a)", 1, 1, "never closed"),
        ("(A a)\n(S\n (B (A a))\n", 2, 1, "never closed"),
        ("(A a)\n(S (A a)))\n", 2, 10, "closes nothing"),
        ("(A a)\n  word (A a)", 2, 3, "outside"),
        ("(A a) % no comment here", 1, 7, "outside"),
        ("*note\n(A a)", 1, 1, "outside"),
        ("(S\n ((A a)))", 2, 2, "no label"),
        ("(S (\u00e9 \u00e9) ())", 1, 10, "no label"),
        ("(S (A))", 1, 4, "neither words"),
        ("()", 1, 1, "neither words"),
        ("(S (A a) b)", 1, 10, "a word next to a subtree"),
        ("(S a\n (A b))", 2, 2, "a subtree next to a word"),
        ("(S (A a b))", 1, 9, "second word"),
    ],
)
def test_faults_have_a_place(text: str, line: int, column: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.mrg"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=message) as caught:
        read_brackets(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (str(path), line, column)
    with pytest.raises(DataError, match=message) as caught:
        list(stream_trees(path, block_bytes=3))
    assert (caught.value.line, caught.value.column) == (line, column)


def test_one_tree_is_one_tree() -> None:
    for text in ("", "  \n", f"{CATS} {CATS}"):
        with pytest.raises(DataError, match="expected one tree"):
            parse_tree(text)


def test_invalid_utf8_has_a_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.mrg"
    path.write_bytes(b"(A a)\n(S (A \xc3\xa9) (A x\xff))\n")
    with pytest.raises(DataError, match="UTF-8") as caught:
        read_brackets(path)
    assert (caught.value.line, caught.value.column) == (2, 14)


def test_packed_files_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "wsj"
    (folder / "01").mkdir(parents=True)
    (folder / "01" / "b.mrg.gz").write_bytes(gzip.compress(b"(X b)"))
    (folder / "00.mrg").write_text("\ufeff(X a)\n", "utf-8")
    (folder / "02.mrg.xz").write_bytes(lzma.compress(b"(X c)\n(X d)"))
    (folder / ".hidden").write_text("(", "utf-8")
    assert [tree.words[0] for tree in read_brackets(folder)] == ["a", "b", "c", "d"]
    assert len(read_brackets([folder / "02.mrg.xz", folder / "00.mrg"])) == 3


@pytest.mark.parametrize("name", ["cut.mrg.gz", "cut.mrg.xz"])
def test_damaged_archives(name: str, tmp_path: Path) -> None:
    pack = gzip.compress if name.endswith("gz") else lzma.compress
    whole = pack(CATS.encode() * 100)
    path = tmp_path / name
    for damaged in (whole[:-10], b"not packed at all", b"\x00".join([whole[:20], whole[21:]])):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="compressed file") as caught:
            read_brackets(path)
        assert caught.value.path == str(path)


def test_missing_files(tmp_path: Path) -> None:
    for path in (tmp_path / "none.mrg", tmp_path):
        with pytest.raises(DataError, match=r"no such file|no files"):
            read_brackets(path)


def test_bad_trees_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "some.mrg"
    path.write_bytes(
        b"(A 1)\n"
        b"(S (A lost)\n"  # never closed
        b"(A 2)\n"
        b"(S (A \xff)) (A 3)\n"
        b"(S (A lost)\n   beside)\n"
        b"(S\n  (A 4))\n"
        b"(S (A lost)\n"
        b"(A 5)\n"
    )
    bad: list[DataError] = []
    forest = read_brackets(path, bad=bad)
    assert [tree.words for tree in forest] == [("1",), ("2",), ("3",), ("4",), ("5",)]
    assert [(error.line, error.column) for error in bad] == [(2, 1), (4, 1), (6, 4), (9, 1)]
    streamed: list[DataError] = []
    assert Forest.concatenate(list(stream_forests(path, bad=streamed, block_bytes=5))) == forest
    assert [str(error) for error in streamed] == [str(error) for error in bad]


def test_skipping_changes_nothing_in_good_files(tmp_path: Path) -> None:
    path = tmp_path / "good.mrg"
    path.write_text("(S\n(A a)\n(B b))\n(A c)\n", "utf-8")
    bad: list[DataError] = []
    forest = read_brackets(path, bad=bad)
    assert forest == read_brackets(path)
    assert len(forest) == 2
    assert not bad


def test_blocks_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "some.mrg"
    trees = [f"(S{i} (NP (NNS w{i % 7}\u00e9)) (VP (VBP {'x' * (i % 13)}y)))" for i in range(200)]
    path.write_text("% comment\n" + "\n".join(trees), "utf-8")
    whole = read_brackets(path)
    assert [str(tree) for tree in whole] == trees
    for block in (1, 7, 64, 1000):
        assert Forest.concatenate(list(stream_forests(path, block_bytes=block))) == whole


@pytest.mark.parametrize("name", ["out.mrg", "out.mrg.gz", "out.mrg.xz"])
def test_what_is_written_can_be_read(name: str, tmp_path: Path) -> None:
    odd = Tree("S", (Tree("(", word="("), Tree("NP", word="New York"), Tree("SYM", word=":-)")))
    trees = [parse_tree(CATS), odd]
    write_brackets(trees, tmp_path / name)
    as_trees = read_brackets(tmp_path / name)
    write_brackets(Forest.of(trees), tmp_path / name)
    assert read_brackets(tmp_path / name) == as_trees
    first, second = as_trees
    assert str(first) == CATS
    assert second.words == ("-LRB-", "New\u00a0York", ":--RRB-")
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_escapes() -> None:
    for word in ("(", ")", "[", "]", "{", "}", "a(b)", "word", "-"):
        assert unescape(escape(word)) == word


def test_forests_are_written_as_trees_are() -> None:
    text = f"{CATS} ( {CATS} (X (\u00e9 \u00e9))) (X x) (A (B (C (D d) (E e))))"
    forest = parse_forest(text)
    assert format_forest(forest).decode() == "".join(f"{tree}\n" for tree in forest)
    assert format_forest(Forest.of([])) == b""


@pytest.mark.corpus
@pytest.mark.parametrize("pack", ["wsj-sample", "genia", "gum"])
def test_corpora_come_out_as_they_went_in(pack: str, corpora: Path) -> None:
    path = corpora / "constituency" / pack / "train.mrg"
    assert format_forest(read_brackets(path)) == path.read_bytes()


def simple_parse(text: str) -> list[Tree] | None:
    """Trees by the definition, one token at a time; None where there is a fault."""
    lines, depth = [], 0
    for line in text.split("\n"):
        comment = depth == 0 and line.lstrip().startswith(("%", "#", "*x*"))
        lines.append("" if comment else line)
        depth += 0 if comment else line.count("(") - line.count(")")
    trees: list[Tree] = []
    stack: list[tuple[str, list[Tree], list[str]]] = []
    tokens = re.findall(r"\(\s*[^\s()]*|\)|[^\s()]+", "\n".join(lines))
    for token in tokens:
        if token.startswith("("):
            stack.append((token[1:].strip(), [], []))
            if len(stack) > 1 and not stack[-1][0]:
                return None
        elif not stack:
            return None
        elif token != ")":
            stack[-1][2].append(token)
        else:
            label, children, words = stack.pop()
            if len(words) + bool(children) != 1:
                return None
            tree = Tree(label, tuple(children), words[0] if words else None)
            (stack[-1][1] if stack else trees).append(tree)
    return None if stack else trees


pieces = st.sampled_from(
    ["(", ")", "(", ")", "(A ", "(B b)", " ", "\n", "word", "%", "#", "*x*", "\u00e9", "\r\n\t"]
)


@settings(max_examples=400)
@given(st.lists(pieces, max_size=20).map("".join))
def test_the_scanner_agrees_with_the_definition(text: str) -> None:
    expected = simple_parse(text)
    try:
        found = list(parse_forest(text))
    except DataError:
        found = None
    assert found == expected


def test_a_model_file_is_named_even_if_its_first_byte_is_a_bracket(tmp_path: Path) -> None:
    """The first bytes are a length, and may be any."""
    path = tmp_path / "model"
    path.write_bytes(b'(\0\0\0\0\0\0\0{"__metadata__":{"latentgram":"x"}}')
    with pytest.raises(DataError, match="this is a model file of latentgram"):
        read_brackets(path)
