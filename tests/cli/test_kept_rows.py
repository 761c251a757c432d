"""What is CoNLL-U and comes out as CoNLL-U keeps everything but heads, relations and what the parser adds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import latentgram as lg

SENTENCE = """# sent_id = a-1
# text = The dog's asleep.
1\tThe\tthe\tDET\tDT\tDefinite=Def\t9\tx\t2:det\tGloss=la
2-3\tdog's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdog\tdog\tNOUN\tNN\tNumber=Sing\t9\tx\t_\tHeadProb=0.1|Gloss=perro|TagProb=0.2
3\t's\tbe\tAUX\tVBZ\t_\t9\tx\t_\t_
3.1\tfast\tfast\tADV\tRB\t_\t_\t_\t_\t_
4\tasleep\tasleep\tADJ\tJJ\t_\t9\tx\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t9\tx\t_\t_

"""
PLAIN = SENTENCE.replace("HeadProb=0.1|", "").replace("|TagProb=0.2", "")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.lg"
    trees = lg.demo_dependencies(100, 0)
    tagger = lg.Gradient(passes=2)
    lg.save(lg.Parser(lg.fit(lg.SHAG, trees, by=lg.Counting()), tagger=lg.fit(lg.Tagger, trees, by=tagger)), path)
    return path


def _blank(text: str, *columns: int) -> list[list[str]]:
    """The rows with some columns of the words taken out."""
    rows = [line.split("\t") for line in text.splitlines()]
    for row in rows:
        for column in columns if row[0].isdigit() else ():
            row[column] = ""
    return rows


@pytest.mark.parametrize("options", [(), ("--n-jobs", "2"), ("--nbest", "1")])
def test_rows_are_kept(run: Callable, model: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    file, output = tmp_path / "a.conllu", tmp_path / "b.conllu"
    file.write_text(SENTENCE * 2, "utf-8")
    parsed = run("parse", model, file, "--gold-tags", *options, "-o", output)
    assert parsed.status == 0
    assert "tags: from the input" in parsed.err
    written = output.read_text("utf-8")
    expected = PLAIN + "\n" if "--nbest" in options else PLAIN
    assert _blank(written, 6, 7) == _blank(expected * 2, 6, 7)
    assert all(row[6] != "9" and row[7] != "x" for row in _blank(written) if len(row) > 1)


def test_posteriors_are_added_and_never_twice(run: Callable, model: Path, tmp_path: Path) -> None:
    file, again = tmp_path / "a.conllu", tmp_path / "again.conllu"
    file.write_text(SENTENCE.replace("\n", "\r\n"), "utf-8", newline="")
    first = run("parse", model, file, "--probabilities", "--own-tags").out
    again.write_text(first, "utf-8", newline="")
    assert run("parse", model, again, "--probabilities", "--own-tags").out == first
    assert _blank(first, 3, 4, 6, 7, 9)[:2] == _blank(PLAIN)[:2]
    assert "Gloss=perro|HeadProb=" in first
    assert first.count("TagProb=") == 5
    assert first.count("# logprob") == 1


def test_a_run_is_not_resumed_on_other_rows(run: Callable, model: Path, tmp_path: Path) -> None:
    file, output = tmp_path / "a.conllu", tmp_path / "b.conllu"
    file.write_text(SENTENCE * 64 + SENTENCE.replace("\t.\t.", "\t\t."), "utf-8")
    assert run("parse", model, file, "-o", output).status == 1
    file.write_text(SENTENCE.replace("a-1", "a-2") * 65, "utf-8")
    refused = run("parse", model, file, "-o", output, "--resume")
    assert refused.status == 1
    assert "have changed since then" in refused.err


def test_n_best_lists_keep_rows_too(run: Callable, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(SENTENCE, "utf-8")
    found = run("nbest", model, tmp_path / "a.conllu", "-k", "2").out
    assert found.count("# sent_id = a-1") == found.count("2-3\tdog's") == 2


def test_parse_and_eval_use_tags_alike_and_say_which(run: Callable, model: Path, tmp_path: Path) -> None:
    file = tmp_path / "gold.conllu"
    lg.demo_dependencies(3, seed=9).write(file)
    for command in (("parse", model, file), ("eval", model, file)):
        assert "tags: predicted" in run(*command).err
        assert "tags: from the" in run(*command, "--gold-tags").err
