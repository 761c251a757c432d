"""Inputs that once ended in a traceback or in silence: each is one line of error, or works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import latentgram as lg
from cli.conftest import Outcome
from latentgram.data.surface import raw_text

Run = Callable[..., Outcome]
SENTENCE = "the teacher sleeps .\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    lg.save(lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(60, 0), by=lg.Counting())), folder / "lpcfg.lg")
    lg.save(lg.Parser(lg.fit(lg.SHAG, lg.demo_dependencies(60, 0), by=lg.Counting())), folder / "shag.lg")
    (folder / "text.txt").write_text(SENTENCE)
    rows = [("the", "DET", "DT"), ("teacher", "NOUN", "NN"), ("sleeps", "VERB", "VBD"), (".", "PUNCT", ".")]
    lines = (f"{i}\t{w}\t_\t{u}\t{x}\t_\t_\t_\t_\t_\n" for i, (w, u, x) in enumerate(rows, 1))
    (folder / "text.conllu").write_text("".join(lines) + "\n")
    return folder


def refused(outcome: Outcome, *words: str, status: int = 1) -> None:
    assert outcome.status == status, outcome
    assert outcome.err.count("\n") == 1, outcome.err
    assert "unexpected" not in outcome.err
    for word in words:
        assert word in outcome.err


CONSTRAINTS = {
    "spans": ('{"spans": 5}', "spans must be a list, got 5"),
    "null": ('{"spans": null}', "spans must be a list, got None"),
    "heads": ('{"heads": 1.5}', "heads must be a list"),
    "all null": ("null", "None is not a constraint"),
    "word": ('{"tags": "NN"}', "tags must be a list"),
    "long number": ('{"spans": [[0, %s]]}' % ("9" * 5000), "a number is too long"),
    "large number": ('{"spans": [[0, %s]]}' % ("9" * 4000), "9…) ends after the 4 words"),
    "long key": ('{"tags": {"%s": "NN"}}' % ("9" * 5000), "is not a tag of a word"),
    "superscript": ('{"tags": {"\u00b2": "NN"}}', "is not a tag of a word"),
    "deep": ('{"spans": ' + "[" * 100_000, "nested too deeply"),
    "half a character": ('{"tags": {"0": "\\ud800"}}', "is not a tag of a word"),
    "half a label": ('{"spans": [[0, 2, "\\ud800"]]}', "the label of a span is a string"),
    "half a name": ('{"\\ud800": []}', "is not a constraint"),
    "truth": ('{"spans": [[false, true]]}', "a span is (first, end)"),
    "not UTF-8": ('{"tags": {"0": "\udcff"}}', "is not UTF-8"),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_odd_constraints(run: Run, models: Path, tmp_path: Path, name: str) -> None:
    line, message = CONSTRAINTS[name]
    known = tmp_path / "known.jsonl"
    known.write_text(line + "\n", encoding="utf-8", errors="surrogateescape")
    command = ("parse", models / "lpcfg.lg", models / "text.txt", "--constraints", known)
    refused(run(*command), f"{known}:1", message)
    passed = run(*command, "--skip-bad")
    assert passed.status == 0
    assert "malformed sentences skipped: 1" in passed.err


def test_negative_heads_are_no_heads(run: Run, models: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.jsonl"
    for kind in ("heads", "forbidden_heads"):
        for head in (-1, -3, True, "1"):
            known.write_text(json.dumps({kind: [[1, head]]}) + "\n")
            refused(run("parse", models / "shag.lg", models / "text.conllu", "--constraints", known), "not a head")


@pytest.mark.parametrize(
    ("lines", "told"),
    [("{}\n", "1 lines for 2 sentences: the last sentences are free"), ("{}\n" * 4, "4 lines for 2 sentences")],
)
def test_lines_that_do_not_fit_the_sentences_are_told(
    run: Run,
    models: Path,
    tmp_path: Path,
    lines: str,
    told: str,
) -> None:
    (tmp_path / "text.txt").write_text(SENTENCE * 2)
    (tmp_path / "known.jsonl").write_text(lines)
    known = ("--constraints", tmp_path / "known.jsonl")
    outcome = run("parse", models / "lpcfg.lg", tmp_path / "text.txt", *known)
    assert outcome.status == 0
    assert outcome.out.count("\n") == 2
    assert told in outcome.err
    (tmp_path / "known.jsonl").write_text('{}\n{}\n{"spans": [[0, 2]]}\n')
    refused(
        run("parse", models / "lpcfg.lg", tmp_path / "text.txt", *known), "known.jsonl:3: there is no sentence"
    )


@pytest.mark.parametrize("head", ["2147483648", "9" * 20, "9" * 5000, "²", "٣", "-1", "01", "1.0"])
def test_odd_heads(run: Run, tmp_path: Path, head: str) -> None:
    (tmp_path / "a.conllu").write_text(f"1\ta\t_\tX\tX\t_\t{head}\troot\t_\t_\n\n")
    result = run("train", "shag", tmp_path / "a.conllu", "-o", tmp_path / "m.lg")
    told = "the head of word 1 is 2147483647 or more" if len(head) in (10, 20) else "a.conllu:1: "
    refused(result, told)
    assert not (tmp_path / "m.lg").exists()


def test_huge_heads_of_a_tree_made_by_hand() -> None:
    assert "head" in str(lg.DependencyTree(("a", "b"), (0, 2**40)).fault)


@pytest.mark.parametrize("count", ["9" * 5000, "²", "1e5", "-1"])
def test_odd_counts(run: Run, tmp_path: Path, count: str) -> None:
    (tmp_path / "table.txt").write_text(f"a b\t1\na\t{count}\n")
    result = run("ngram", "count", tmp_path / "table.txt", "--table", "-o", tmp_path / "c.lg")
    refused(result, "table.txt:2: the count", "is not a non-negative integer of at most 100 digits")


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (("--memory", "inf"), 1),
        (("--memory", "nan"), 1),
        (("--memory", "1e400"), 1),
        (("--memory", "9" * 5000), 1),
        (("--cutoff", "9" * 30), 1),
        (("--cutoff", "9" * 5000), 1),
        (("--cutoff", "²"), 1),
        (("--cutoff", str(2**62)), 1),
    ],
)
def test_odd_numbers_for_counting(run: Run, tmp_path: Path, options: tuple[str, ...], status: int) -> None:
    (tmp_path / "text.txt").write_text("a b c\n")
    refused(run("ngram", "count", tmp_path / "text.txt", "-o", tmp_path / "c", *options), status=status)
    assert os.listdir(tmp_path) == ["text.txt"]


@pytest.mark.parametrize("option", ["--nbest", "--samples", "--diverse"])
@pytest.mark.parametrize("number", ["9" * 30, "9" * 5000, str(2**63), "²"])
def test_absurd_lists_are_bad_usage(run: Run, models: Path, option: str, number: str) -> None:
    outcome = run("parse", models / "lpcfg.lg", models / "text.txt", option, number)
    refused(outcome, option, status=2)


@pytest.mark.parametrize("number", ["9" * 30, str(2**62)])
def test_absurd_lists_and_samples_are_refused(run: Run, models: Path, tmp_path: Path, number: str) -> None:
    text = lg.Text.of(["the teacher sleeps ."])
    counts = lg.NGramCounts.of(text, order=2)
    made = {
        "hmm": lg.fit(lg.HMM, lg.demo_treebank(5, 1).sentences(), by=lg.Counting()),
        "ngram": lg.fit(lg.BackoffNGram, counts, by=lg.Counting()),
        "automaton": lg.fit(lg.OperatorAutomaton, text, by=lg.Spectral(states=1)),
    }
    for name, model in made.items():
        lg.save(model, tmp_path / f"{name}.lg")
        refused(run("sample", tmp_path / f"{name}.lg", "-n", number), "must be at least 1 and at most")
    refused(run("nbest", models / "lpcfg.lg", models / "text.txt", "-k", number), "must be at least 1 and at most")
    outcome = run("data", "demo", tmp_path / "demo.mrg", "-n", number)
    refused(outcome, "the number of sentences must be at least 1 and at most 1000000")
    with pytest.raises(lg.LatentgramError, match="at most 1000000"):
        made["hmm"].nbest("the teacher sleeps .", int(number))


def test_usage_errors_are_one_line(run: Run) -> None:
    for line in (("nosuch",), ("parse",), ("parse", "x.lg", "--n-jobs", "0"), ("train", "lpcfg"), ("data", "x")):
        outcome = run(*line)
        assert outcome.status == 2
        if outcome.err:
            assert outcome.err.count("\n") == 1, outcome.err
            assert outcome.err.startswith("latentgram: ")


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\x1b[2Jb", "a\u2028b", "a\x85b"])
def test_names_of_files_do_not_break_a_line_of_error(run: Run, tmp_path: Path, name: str) -> None:
    for line in (("nbest", name), ("train", "arcs", name, "-o", tmp_path / "m.lg"), ("ngram", "query", name, "x")):
        outcome = run(*line)
        assert outcome.status == 1
        assert len(outcome.err.splitlines()) == 1
        assert ascii(name)[1:-1] in outcome.err


HERE = Path(__file__).parents[2] / "src"


def shell(line: str) -> subprocess.CompletedProcess[str]:
    program = f"{sys.executable} -m latentgram"
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    return subprocess.run(
        ["bash", "-c", line.replace("LG", program)], capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_closed_and_full_streams(models: Path, tmp_path: Path) -> None:
    model, text = models / "lpcfg.lg", models / "text.txt"
    done = shell(f"LG parse {model} <&-")
    assert done.returncode == 1
    assert done.stderr == "latentgram: -: the file cannot be read (Bad file descriptor)\n"
    done = shell(f"LG parse {model} {text} >&-")
    assert done.returncode == 1
    assert done.stderr == "latentgram: -: the output cannot be written (Bad file descriptor)\n"
    assert shell(f"LG parse {model} {text} -o {tmp_path}/out <&- >&- 2>&-").returncode == 0
    assert (tmp_path / "out").read_text().count("\n") == 1
    assert shell(f"LG parse {model} {tmp_path}/nowhere.txt 2>&-").returncode == 1
    if os.path.exists("/dev/full"):
        done = shell(f"LG parse {model} {text} > /dev/full")
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "No space left" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("command", ["parse MODEL TEXT", "score MODEL TEXT", "info MODEL", "--help"])
def test_who_closes_a_pipe_has_what_it_wanted(models: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "text.txt").write_text(SENTENCE * 3000)
    line = command.replace("MODEL", str(models / "lpcfg.lg"))
    done = shell(f"LG {line.replace('TEXT', str(tmp_path / 'text.txt'))} | true; echo ${{PIPESTATUS[0]}}")
    assert done.stdout.strip() == "0", done.stderr
    assert "Traceback" not in done.stderr


def test_a_part_of_a_model_cannot_be_shown(run: Run, models: Path, tmp_path: Path) -> None:
    lg.save(lg.load(models / "lpcfg.lg").model.binarisation, tmp_path / "rules.lg")
    refused(run("show", tmp_path / "rules.lg"), "rules.lg: a Binarisation has no summary")


def test_a_parser_is_calibrated_on_trees_of_its_kind(run: Run, models: Path, tmp_path: Path) -> None:
    lg.demo_treebank(5, 1).write(tmp_path / "trees.mrg")
    lg.demo_dependencies(5, 1).write(tmp_path / "arcs.conllu")
    for model, data in (
        ("shag", tmp_path / "trees.mrg"),
        ("lpcfg", tmp_path / "arcs.conllu"),
        ("lpcfg", models / "text.txt"),
    ):
        outcome = run("calibrate", models / f"{model}.lg", data, "-o", tmp_path / "out.lg")
        refused(outcome, f"{data.name}: the parser makes", "but the treebank is")


def test_a_model_of_dependency_trees_scores_no_others(run: Run, tmp_path: Path) -> None:
    lg.demo_treebank(5, 1).write(tmp_path / "trees.mrg")
    model = lg.fit(lg.LatentTree, lg.demo_dependencies(12, 0), by=lg.EM(states=2, iterations=1))
    lg.save(model, tmp_path / "model.lg")
    outcome = run("score", tmp_path / "model.lg", tmp_path / "trees.mrg")
    refused(outcome, "trees.mrg: a LatentTree scores only dependency trees")


@pytest.mark.parametrize("states", [1, 2])
def test_spectral_latent_trees_of_words_that_tell_nothing_of_each_other(
    run: Run, tmp_path: Path, states: int
) -> None:
    """One dimension was all on the first word and none on the second: the singular values of NaN."""
    rows = ("1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n", "2\ta\t_\tX\tX\t_\t1\tdep\t_\t_\n\n")
    (tmp_path / "a.conllu").write_text("".join(rows))
    options = ("--by", "spectral", "--states", states, "-o", tmp_path / "m.lg")
    outcome = run("train", "latent-tree", tmp_path / "a.conllu", *options)
    assert outcome.status == (states == 1)
    assert ("a.conllu: words and their neighbours are unrelated" in outcome.err) == (states == 1)
    assert "unexpected" not in outcome.err


@pytest.mark.parametrize("number", ["9" * 30, str(2**63), str(2**31)])
def test_an_absurd_number_of_workers(run: Run, models: Path, number: str) -> None:
    refused(run("parse", models / "lpcfg.lg", models / "text.txt", "--n-jobs", number), "n_jobs must be at most")


def test_a_long_line_is_no_long_work(run: Run, tmp_path: Path) -> None:
    """Its first line tells whether a file is a table, once in time that grew with the square of its length."""
    (tmp_path / "text.txt").write_text("a" * 400_000 + "\n")
    (tmp_path / "short.txt").write_text("a\n")
    run("ngram", "count", tmp_path / "short.txt", "-o", tmp_path / "short", "--order", "1")  # compiles
    started = time.process_time()
    assert run("ngram", "count", tmp_path / "text.txt", "-o", tmp_path / "long", "--order", "1").status == 0
    assert time.process_time() - started < 10


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_what_an_encoding_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "tree.mrg").write_text("(S (N été))\n", encoding="utf-8")
    done = shell(f"PYTHONIOENCODING=latin-1 LG show {tmp_path}/tree.mrg")
    assert done.returncode == 1
    assert done.stderr.startswith("latentgram: -: '\\u2514' cannot be written in the encoding ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("value", ["²", "9" * 5000])
def test_odd_numbers_in_a_parameter_file(run: Run, tmp_path: Path, value: str) -> None:
    (tmp_path / "rules.prm").write_text(f"DEBUG 0\nCUTOFF_LEN {value}\n")
    (tmp_path / "trees.mrg").write_text("(S (N a))\n")
    trees = (tmp_path / "trees.mrg",) * 2
    refused(run("eval", *trees, "--rules", tmp_path / "rules.prm"), "rules.prm:2: CUTOFF_LEN must be an integer")


def test_long_numbers_of_multiword_tokens(run: Run, tmp_path: Path) -> None:
    row = "1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(f"1-{'9' * 5000}\tab" + "\t_" * 8 + "\n" + row)
    refused(run("train", "ud", tmp_path / "a.conllu", "-o", tmp_path / "m.lg"), "a.conllu:1: the id '1-999")
    tree = lg.DependencyTree(("a",), (0,), extra_rows=((0, f"1-{'9' * 5000}\tab" + "\t_" * 8),))
    with pytest.raises(lg.DataError, match="is not placed before its first word"):
        raw_text([tree])


def test_a_tree_that_is_too_deep_for_an_outline(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep.mrg").write_text("(S " * 20_000 + "(X a)" + ")" * 20_000)
    refused(run("show", tmp_path / "deep.mrg"), "a tree of more than 5,000 levels has no outline")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_pipe_is_read_once(models: Path, tmp_path: Path) -> None:
    """To look at its format used its beginning up: of a short one nothing was left."""
    cat = f"<(cat {models / 'text.txt'})"
    done = shell(f"LG parse {models / 'lpcfg.lg'} {cat}")
    assert done.returncode == 1
    assert "a pipe is read only once: name its format" in done.stderr
    assert done.stderr.count("\n") == 1
    done = shell(f"LG parse {models / 'lpcfg.lg'} --format text {cat}")
    assert done.stdout.count("\n") == 1
    done = shell(f"LG ngram count --order 1 -o {tmp_path / 'counts.txt'} {cat}")
    assert done.returncode == 0, done.stderr
    assert "teacher\t1" in (tmp_path / "counts.txt").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_warning_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "tree.mrg").write_text("(S (N a))\n")
    done = shell(f"NUMBA_NUM_THREADS=x LG parse {tmp_path}/none.lg {tmp_path}/tree.mrg")
    assert "Traceback" not in done.stderr
    done = shell(f"NUMBA_NUM_THREADS=x LG train lpcfg {tmp_path}/tree.mrg --by counting -o {tmp_path}/m.lg")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--vertical", "--horizontal"])
def test_more_labels_in_a_symbol_than_trees_have(run: Run, tmp_path: Path, option: str) -> None:
    lg.demo_treebank(5, 1).write(tmp_path / "trees.mrg")
    command = ("train", "lpcfg", tmp_path / "trees.mrg", "--by", "counting", option)
    assert run(*command, "9" * 30, "-o", tmp_path / "all.lg").status == 0
    assert run(*command, 90, "-o", tmp_path / "deep.lg").status == 0
    trees = [lg.load(tmp_path / name).parse("the teacher sleeps .").tree for name in ("all.lg", "deep.lg")]
    assert trees[0] == trees[1]


@pytest.mark.parametrize(
    ("kind", "option", "number"),
    [
        ("lpcfg", "--dimensions", "9" * 30),
        ("shag", "--deterministic", "9" * 30),
        ("shag", "--deterministic", str(2**31)),
        ("shag", "--ridge", "1e308"),
        ("shag", "--smoothing", "1e308"),
        ("arcs", "--folds", "9" * 30),
        ("reranker", "--count", "9" * 30),
        ("latent-tree", "--valency", str(2**31)),
        ("tagger", "--frequent", "9" * 30),
        ("tagger", "--step", "1e308"),
    ],
)
def test_settings_beyond_measure(run: Run, tmp_path: Path, kind: str, option: str, number: str) -> None:
    lg.demo_treebank(5, 1).write(tmp_path / "trees.mrg")
    lg.demo_dependencies(5, 1).write(tmp_path / "arcs.conllu")
    data, learner = ("trees.mrg", "clustering") if kind == "lpcfg" else ("arcs.conllu", "spectral")
    by = () if kind in ("arcs", "reranker", "tagger") else ("--by", learner)
    outcome = run("train", kind, tmp_path / data, *by, option, number, "-o", tmp_path / "m.lg")
    refused(outcome, f"{option.removeprefix('--')} must be", "and at most")


def test_a_step_that_no_weight_survives() -> None:
    with pytest.raises(lg.LatentgramError, match="with a step of 1000: use a smaller one"):
        lg.fit(lg.Tagger, lg.demo_dependencies(20, 1), by=lg.Gradient(step=1000, passes=3))


def test_patterns_that_would_never_end(run: Run, tmp_path: Path) -> None:
    """Python's regular expressions would take exponentially long, and obey no signal in a thread of the page."""
    (tmp_path / "trees.mrg").write_text(f"(S (A {'a' * 60}b))\n")
    outcome = run("search", "/(a+)+$/", tmp_path / "trees.mrg")
    assert (outcome.status, outcome.out) == (0, "")
    refused(run("search", "(" * 5000, tmp_path / "trees.mrg"), "nested too deeply")
    refused(run("search", f"/{'(' * 5000}/", tmp_path / "trees.mrg"), "is not a regular expression")
