"""The commands on text, tags and n-grams, from counting to tagging."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome

import latentgram as lg
from latentgram.data.demo import demo_treebank
from latentgram.data.tagged import write_sentences

Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Demo sentences, tagged and plain."""
    place = tmp_path_factory.mktemp("sequences")
    for name, size, seed in (("train", 300, 0), ("dev", 40, 1)):
        sentences = demo_treebank(size, seed).sentences()
        write_sentences(place / f"{name}.tsv", sentences)
        (place / f"{name}.txt").write_text("".join(" ".join(s.words) + "\n" for s in sentences))
    return place


def accuracy(output: str, gold: Path) -> float:
    pairs = [
        (line.split("\t")[1], right.split("\t")[1])
        for line, right in zip(output.splitlines(), gold.read_text().splitlines(), strict=False)
        if line
    ]
    return sum(one == other for one, other in pairs) / len(pairs)


def test_from_text_to_tags(run: Run, folder: Path, tmp_path: Path) -> None:
    counts, automaton, model = tmp_path / "c.lg", tmp_path / "n.lg", tmp_path / "hmm.lg"
    found = run("ngram", "count", folder / "train.txt", "-o", counts, "--order", 3, "--cutoff", 2)
    assert found.status == 0
    assert "n-gram counts of" in found.err
    assert run("ngram", "build", counts, "-o", automaton).status == 0
    dictionary = f"{folder / 'train.tsv'}:1:2"
    arguments = ["--by", "variational", "--dictionary", dictionary, "--iterations", 5, "-o", model]
    assert run("train", "hmm", automaton, *arguments).status == 0
    slow = run("tag", model, folder / "dev.txt", "--probabilities")
    assert slow.status == 0
    assert accuracy(slow.out, folder / "dev.tsv") > 0.9
    assert all(0 <= float(line.split("\t")[2]) <= 1 for line in slow.out.splitlines() if line)
    fast = run("tag", model, "--fast", automaton, given=(folder / "dev.txt").read_text())
    assert accuracy(fast.out, folder / "dev.tsv") > 0.9
    assert run("info", model).status == 0


def test_supervised_and_clusters(run: Run, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "hmm.lg"
    assert run("train", "hmm", f"{folder / 'train.tsv'}:1", "--by", "counting", "-o", model).status == 0
    assert accuracy(run("tag", model, folder / "dev.txt").out, folder / "dev.tsv") > 0.95
    options = ["--states", 6, "--iterations", 3, "--dev", folder / "dev.tsv"]
    assert run("train", "hmm", folder / "train.txt", "-o", model, *options).status == 0
    named = run("tag", model, folder / "dev.txt", "--named-by", folder / "dev.tsv", "--decoder", "viterbi")
    tags = {line.split("\t")[1] for line in (folder / "dev.tsv").read_text().splitlines() if line}
    assert {line.split("\t")[1] for line in named.out.splitlines() if line} <= tags


@pytest.mark.parametrize("kind", ["hmm", "tagger"])
def test_lists_draws_and_constraints_of_tags(run: Run, folder: Path, tmp_path: Path, kind: str) -> None:
    model, known, text = tmp_path / "m.lg", tmp_path / "known.jsonl", "the teacher mends it .\nit sleeps .\n"
    more = ["--by", "counting"] if kind == "hmm" else ["--passes", 2]
    assert run("train", kind, f"{folder / 'train.tsv'}:1", *more, "-o", model).status == 0
    listed = run("tag", model, "--tokenised", "--nbest", 3, "--json", given=text)
    rows = [json.loads(line) for line in listed.out.splitlines()]
    assert [row["sentence"] for row in rows] == [1, 1, 1, 2, 2, 2]
    assert rows[0]["tags_logprob"] >= rows[1]["tags_logprob"] >= rows[2]["tags_logprob"]
    plain = run("tag", model, "--tokenised", "--nbest", 3, given=text).out.split("\n\n\n")
    assert [len(part.split("\n\n")) for part in plain[:2]] == [3, 3]
    drawn = run("tag", model, "--tokenised", "--samples", 2, "--json", given=text)
    assert [json.loads(line)["sentence"] for line in drawn.out.splitlines()] == [1, 1, 2, 2]
    assert drawn.out == run("tag", model, "--tokenised", "--samples", 2, "--json", given=text).out
    other = rows[1]["tags"] if rows[1]["tags"][1] != rows[0]["tags"][1] else rows[0]["tags"]
    known.write_text(json.dumps({"tags": {"1": other[1]}, "forbidden_tags": [[0, "NN"]]}) + "\n\n")
    told = run("tag", model, "--constraints", known, given=text)
    assert told.out.splitlines()[1].split("\t")[1] == other[1]
    known.write_text('\n{"tags": {"0": "NOSUCH"}}\n')
    clash = run("tag", model, "--constraints", known, given=text)
    assert clash.status == 1
    assert "known.jsonl:2: no possible tag" in clash.err
    kept = run("tag", model, "--constraints", known, "--skip-bad", given=text)
    assert kept.status == 0
    assert kept.out.count("\n\n") == 1
    assert "malformed sentences skipped: 1" in kept.err
    for wrong in (
        ["--nbest", 2, "--samples", 2],
        ["--nbest", 2, "--fast", model],
        ["--decoder", "viterbi", "--fast", model],
    ):
        assert run("tag", model, *wrong, given=text).status == 1


def test_tables_and_models_of_other_programs(run: Run, folder: Path, tmp_path: Path) -> None:
    table, automaton, arpa = tmp_path / "c.tsv", tmp_path / "n.lg", tmp_path / "n.arpa"
    assert run("ngram", "count", folder / "train.txt", "-o", table, "--order", 2).status == 0
    pieces = tmp_path / "pieces.tsv"
    limits = ["--memory", "16M", "--temporary", tmp_path / "work"]
    found = run("ngram", "count", folder / "train.txt", "-o", pieces, "--order", 2, *limits)
    assert found.status == 0
    assert pieces.read_text() == table.read_text()
    assert not list((tmp_path / "work").iterdir())
    assert run("ngram", "build", table, "-o", automaton, "--reading", "failure").status == 0
    assert run("ngram", "export", automaton, "-o", arpa).status == 0
    ours, theirs = (run("ngram", "query", model, folder / "train.txt") for model in (automaton, arpa))
    one, other = ([float(line.split("\t")[0]) for line in found.out.splitlines()] for found in (ours, theirs))
    assert one == pytest.approx(other, abs=1e-4)
    assert "perplexity of known words" in ours.err
    assert run("ngram", "export", automaton, "-o", tmp_path / "n.fst", "--to", "openfst").status == 0
    assert (tmp_path / "n.fst.syms").exists()


def test_some_tags_known_and_more_sentences(run: Run, folder: Path, tmp_path: Path) -> None:
    model, after = tmp_path / "hmm.lg", tmp_path / "after.lg"
    some = tmp_path / "some.tsv"
    some.write_text("\n\n".join((folder / "train.tsv").read_text().split("\n\n")[:150]) + "\n\n")
    more = ["--known-tags", "--iterations", 10, "--unknown", "class", "-o", model]
    assert run("train", "hmm", some, folder / "train.txt", *more).status == 0
    assert accuracy(run("tag", model, folder / "dev.txt").out, folder / "dev.tsv") > 0.85
    assert run("update", model, folder / "dev.txt", "-o", after, "--n-jobs", 2).status == 0
    shared = lg.load(after)
    assert run("update", model, folder / "dev.txt", "-o", after).status == 0
    assert (lg.load(after).transition == shared.transition).all()
    assert lg.load(after).provenance.data_size == lg.load(model).provenance.data_size + 40
    assert len(run("sample", after, "-n", 4).out.splitlines()) == 4
    refused = run("update", model, folder / "dev.txt", "-o", after, "--weight", "0")
    assert refused.status == 1
    assert "must be above 0" in refused.err


def test_language_models(run: Run, folder: Path, tmp_path: Path) -> None:
    model, arpa, other, mixed = (tmp_path / name for name in ("m.lg", "m.arpa", "o.lg", "mixed.lg"))
    train, dev = folder / "train.txt", folder / "dev.txt"
    more = ["--smoothing", "kneser-ney", "--order", 4]
    assert run("ngram", "build", train, "-o", model, *more).status == 0
    assert run("ngram", "build", train, "-o", arpa, *more, "--memory", "16M").status == 0
    ours, theirs = (run("ngram", "query", place, dev, "--perplexity") for place in (model, arpa))
    rows = [[float(column) for column in line.split("\t")] for line in ours.out.splitlines()]
    assert rows == [
        pytest.approx(row, abs=0.02) for row in ([*map(float, x.split("\t"))] for x in theirs.out.splitlines())
    ]
    first = dev.read_text().splitlines()[0].split()
    assert rows[0][2] == pytest.approx(10 ** (-rows[0][0] / (len(first) + 1)), rel=1e-2)
    assert "probability 0" not in ours.err
    by_word = run("ngram", "query", model, dev, "--words")
    sentence = [line.split("\t") for line in by_word.out.split("\n\n")[0].splitlines()]
    assert [word for word, _, _ in sentence] == [*first, "</s>"]
    assert sum(float(log) for _, log, _ in sentence) == pytest.approx(rows[0][0], abs=1e-3)
    assert sum(int(unknown) for *_, unknown in sentence) == rows[0][1]
    assert by_word.err == ours.err
    table = run("ngram", "query", model, dev, "--words", "--to", "csv").out.splitlines()
    assert table[0] == "sentence,position,word,log10_p,unknown"
    assert len(table) == 1 + len(dev.read_text().split()) + len(rows)
    assert "cannot be combined with" in run("ngram", "query", model, dev, "--words", "--ngrams").err
    grams = "".join(
        " ".join(["<s>", *first, "</s>"][max(0, i - 3) : i + 1]) + "\n" for i in range(1, len(first) + 2)
    )
    answers = run("ngram", "query", model, "--ngrams", given=grams)
    assert sum(map(float, answers.out.split())) == pytest.approx(rows[0][0], abs=1e-3)
    pruned = run(
        "ngram", "build", train, "-o", other, "--smoothing", "absolute", "--cutoff", "2", "--entropy", "1e-6"
    )
    assert pruned.status == 0
    found = run("ngram", "mix", model, other, "--heldout", dev, "-o", mixed)
    assert found.status == 0
    assert f"{model}, 0." in found.err
    assert run("ngram", "mix", model, arpa, "--weights", "0.5,0.5", "-o", tmp_path / "x.arpa").status == 0
    assert "BackoffNGram" in run("info", mixed).out
    packed = tmp_path / "packed.lg"
    assert run("ngram", "build", train, "-o", packed, *more, "--compact", 12).status == 0
    assert packed.stat().st_size < model.stat().st_size / 3
    again = [float(line.split("\t")[0]) for line in run("ngram", "query", packed, dev).out.splitlines()]
    assert again == pytest.approx([row[0] for row in rows], abs=0.1)
    for wrong, message in (
        (("build", train, "-o", tmp_path / "y.arpa", *more, "--compact", 12), "not for ARPA files"),
        (("mix", model, other, "-o", mixed), "either --heldout or --weights"),
        (("mix", model, other, "--weights", "a,b", "-o", mixed), "numbers separated by commas"),
        (("mix", model, other, "--weights", "1e308,1e308", "-o", mixed), "at least 0 and at most 1e+30"),
        (("build", arpa, "-o", other, "--smoothing", "katz"), "contains probabilities already"),
        (("build", model, "-o", other, "--order", 3), "contains counts already"),
        (("build", train, "-o", other, "--cutoff", "2"), "name a smoothing"),
        (("build", train, "-o", other, "--smoothing", "katz", "--order", 9), "from 1 to 6, got 9"),
    ):
        refused = run("ngram", *wrong)
        assert refused.status == 1
        assert message in refused.err
    assert "line has no words" in run("ngram", "query", model, "--ngrams", given="a b\n\nc\n").err


def test_language_models_of_several_workers_are_the_same(run: Run, folder: Path, tmp_path: Path) -> None:
    train, dev, two = folder / "train.txt", folder / "dev.txt", ("--n-jobs", 2)
    for more in (["--smoothing", "kneser-ney"], []):
        written = []
        for jobs in ((), two):
            place = tmp_path / f"m{len(jobs)}.arpa"
            reading = more or ["--reading", "failure"]
            assert run("ngram", "build", train, "-o", place, *reading, *jobs).status == 0
            written.append(place.read_bytes())
        assert written[0] == written[1]
    model = tmp_path / "m.lg"
    assert run("ngram", "build", train, "-o", model, "--smoothing", "katz", *two).status == 0
    for how in ((), ("--perplexity",), ("--words",), ("--to", "csv"), ("--words", "--to", "jsonl")):
        one, other = (run("ngram", "query", model, train, dev, *how, *jobs) for jobs in ((), two))
        assert (0, one.out, one.err) == (one.status, other.out, other.err)
    one, other = (run("ngram", "query", model, dev, "--ngrams", *jobs) for jobs in ((), two))
    assert (0, one.out) == (one.status, other.out)
    mixed = []
    for jobs in ((), two):
        place, parts = tmp_path / f"x{len(jobs)}.arpa", (model, tmp_path / "m0.arpa")
        assert run("ngram", "mix", *parts, "--heldout", dev, "-o", place, *jobs).status == 0
        mixed.append(place.read_bytes())
    assert mixed[0] == mixed[1]
    refused = run("ngram", "build", train, "-o", model, "--smoothing", "katz", "--memory", "16M", *two)
    assert (refused.status, "leave out --n-jobs" in refused.err) == (1, True)


@pytest.mark.parametrize("by", ["spectral", "clustering", "em"])
def test_automata_from_text(run: Run, folder: Path, tmp_path: Path, by: str) -> None:
    model = tmp_path / "automaton.lg"
    held = ["--dev", folder / "dev.txt"] if by == "em" else []
    options = ["--by", by, "--states", 3, *held, "-o", model]
    assert run("train", "automaton", folder / "train.txt", *options).status == 0
    assert "automaton with" in run("show", model).out
    drawn = run("sample", model, "-n", 3, "--seed", 4)
    assert len(drawn.out.splitlines()) == 3
    assert drawn.out == run("sample", model, "-n", 3, "--seed", 4).out
    written = run("ngram", "export", model, "-o", tmp_path / "a.fst", "--to", "openfst")
    assert (written.status == 1 and "negative numbers" in written.err) if by == "spectral" else written.status == 0
    if by == "spectral":
        counts, again = tmp_path / "counts.lg", tmp_path / "again.lg"
        assert run("ngram", "count", folder / "train.txt", "-o", counts).status == 0
        assert run("train", "automaton", counts, "--by", by, "--states", 3, "-o", again).status == 0
        assert (lg.load(again).start == lg.load(model).start).all()


def test_faults_are_one_line(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.lg"
    (tmp_path / "bad.arpa").write_text("\\data\\\nngram 1=2\n\n\\1-grams:\n-1 a\n")
    exclusive = tmp_path / "n.lg"
    assert run("ngram", "build", folder / "train.txt", "-o", exclusive).status == 0
    cases = [
        (("ngram", "count", tmp_path / "none.txt", "-o", out), "there is no such file"),
        (("ngram", "count", folder / "train.txt", "-o", out, "--cutoff", "many"), "--cutoff is a number"),
        (("ngram", "count", folder / "train.txt", "-o", out, "--memory", "much"), "such as 2G; got 'much'"),
        (("ngram", "count", folder / "train.txt", "-o", out, "--cutoff", "1,2"), "or 3 of them"),
        (("ngram", "build", tmp_path / "bad.arpa", "-o", out), "truncated"),
        (("ngram", "export", exclusive, "-o", tmp_path / "x.arpa"), "failure reading"),
        (("train", "hmm", folder / "train.txt", "-o", out, "--window", "2"), "no meaning for --by em"),
        (("train", "hmm", folder / "train.txt", "-o", out, "--by", "counting"), "columns separated by tabs"),
        (("tag", exclusive, folder / "dev.txt"), "BackoffNGram"),
    ]
    for arguments, message in cases:
        found = run(*arguments)
        assert found.status == 1, arguments
        assert message in found.err
        assert len(found.err.strip().splitlines()) == 1
    assert not out.exists()


def test_reproduction_on_a_little_data(run: Run, folder: Path, tmp_path: Path) -> None:
    for name in ("brown", "wsj-sample"):
        for part, source in (("train", "train"), ("dev", "dev"), ("test", "dev")):
            rows = (folder / f"{source}.tsv").read_text().splitlines()
            lines = [f"{row}\t{row.split(chr(9))[1]}" if row else "" for row in rows]
            place = tmp_path / "tagged" / name / f"{part}.tsv"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("\n".join(lines) + "\n")
    out, little = tmp_path / "out", tmp_path / "little.txt"
    little.write_text("too little text\n")
    options = ["--data", tmp_path, "--output", out, "--sizes", "1,5", "--text", little]
    short = run("reproduce", "smith2012", *options)
    assert short.status == 1
    assert "little.txt: 5 times Brown needs" in short.err
    assert not out.exists()
    options = ["--data", tmp_path, "--output", out, "--sizes", "1,2", "--iterations", 2, "--test", "--n-jobs", 2]
    found = run("reproduce", "smith2012", *options)
    assert found.status == 0, found.err
    results = json.loads((out / "results.json").read_text())
    corpora = {"1×", "2×", *(f"wsj-sample, {seen}" for seen in (2, 3, 5))}
    assert {run["corpus"] for run in results["runs"]} == corpora
    assert "sample of its trigrams" in results["text"]
    assert all(50 < run["test_accuracy"] <= 100 for run in results["runs"])
    assert (out / "accuracy-2x.svg").read_text().startswith("<svg")


def test_a_language_model_in_bounded_memory_is_the_same_file(run: Run, folder: Path, tmp_path: Path) -> None:
    plain, bounded = tmp_path / "plain.arpa", tmp_path / "bounded.arpa"
    options = ["--smoothing", "kneser-ney", "--order", 4, "--cutoff", "1,1,2,2"]
    assert run("ngram", "build", folder / "train.txt", "-o", plain, *options).status == 0
    memory = ["--memory", "16M", "--temporary", tmp_path / "work"]
    found = run("ngram", "build", folder / "train.txt", "-o", bounded, *options, *memory)
    assert found.status == 0, found.err
    assert "language model of order 4 with" in found.err
    assert bounded.read_bytes() == plain.read_bytes()
    assert not list((tmp_path / "work").iterdir())


def test_a_language_model_is_built_from_several_files(run: Run, folder: Path, tmp_path: Path) -> None:
    lines = (folder / "train.txt").read_text().splitlines(keepends=True)
    half, whole, parts = len(lines) // 2, tmp_path / "whole.arpa", tmp_path / "parts.arpa"
    (tmp_path / "a.txt").write_text("".join(lines[:half]))
    (tmp_path / "b.txt").write_text("".join(lines[half:]))
    options = ["--smoothing", "kneser-ney", "--order", 2]
    assert run("ngram", "build", folder / "train.txt", "-o", whole, *options).status == 0
    assert run("ngram", "build", tmp_path / "a.txt", tmp_path / "b.txt", "-o", parts, *options).status == 0
    assert parts.read_bytes() == whole.read_bytes()
    for files in ((tmp_path / "a.txt", whole), (whole, tmp_path / "a.txt")):
        refused = run("ngram", "build", *files, "-o", tmp_path / "no.lg")
        assert (refused.status, refused.err.count("\n")) == (1, 1)
        assert "give only one stored automaton" in refused.err


def test_ngrams_are_learned_from_as_footnotes_2_and_21_say(run: Run, folder: Path, tmp_path: Path) -> None:
    arpa, model = tmp_path / "m.arpa", tmp_path / "h.lg"
    assert run("ngram", "build", folder / "train.txt", "-o", arpa, "--smoothing", "witten-bell").status == 0
    learn = ["train", "hmm", arpa, "--by", "variational", "--dictionary", f"{folder / 'train.tsv'}:1:2"]
    learn += ["--iterations", 2, "--lag", 1, "-o", model]
    refused = run(*learn)
    assert refused.status == 1
    assert "empty_history=False" in refused.err
    assert run(*learn, "--no-empty-history", "--sequential").status == 0
    assert accuracy(run("tag", model, folder / "dev.txt").out, folder / "dev.tsv") > 0.8


@pytest.mark.parametrize("command", ["count", "build"])
def test_a_folder_for_files_that_are_not_written_is_refused(
    run: Run, folder: Path, tmp_path: Path, command: str
) -> None:
    answer = run("ngram", command, folder / "train.txt", "-o", tmp_path / "out", "--temporary", tmp_path)
    assert answer.status == 1
    assert answer.err.count("\n") == 1
    assert "--memory" in answer.err


def test_tables_are_told_by_their_first_line(run: Run, folder: Path, tmp_path: Path) -> None:
    table, again, model = tmp_path / "c.counts", tmp_path / "c.tsv", tmp_path / "m.lg"
    assert run("ngram", "count", folder / "train.txt", "-o", table, "--order", 2).status == 0
    assert run("ngram", "count", table, "-o", again).status == 0
    assert again.read_text() == table.read_text()
    dictionary = f"{folder / 'train.tsv'}:1:2"
    for given in (table, again):
        assert run("ngram", "build", given, "-o", tmp_path / "n.lg").status == 0
        options = ["--by", "variational", "--dictionary", dictionary, "--iterations", 2, "-o", model]
        assert run("train", "hmm", given, *options).status == 0
        fast = run("tag", model, folder / "dev.txt", "--fast", given)
        assert accuracy(fast.out, folder / "dev.tsv") > 0.8
        assert run("ngram", "query", given, folder / "train.txt").status == 0


def test_impossible_sentences_have_a_place(run: Run, tmp_path: Path) -> None:
    model, text = tmp_path / "h.lg", tmp_path / "x.txt"
    (tmp_path / "t.tsv").write_text("a\tD\nrose\tN\n\n13 819\tC\nroses\tN\n\n")
    exact = ["--transition-prior", 0, "--emission-prior", 0]
    assert run("train", "hmm", tmp_path / "t.tsv", "--by", "counting", *exact, "-o", model).status == 0
    assert "13 819" in lg.load(model).words
    text.write_text("a rose\n\nrose a\na rose\n")
    for more in ([], ["--decoder", "viterbi"], ["--nbest", 2], ["--samples", 2]):
        stopped = run("tag", model, text, *more)
        assert stopped.status == 1
        assert stopped.err.strip().endswith("x.txt:3: the HMM gives probability zero to 'rose a'")
        kept = run("tag", model, text, "--skip-bad", *more)
        assert kept.status == 0
        assert "malformed sentences skipped: 1, the first:" in kept.err
        assert kept.out.count("rose\tN") == (4 if "--samples" in more else 2)


def test_impossible_sentences_do_not_hide_the_perplexity_of_the_others(run: Run, tmp_path: Path) -> None:
    text, model = tmp_path / "x.txt", tmp_path / "n.lg"
    text.write_text("a b\na b\na c\n")
    assert run("ngram", "build", text, "-o", model).status == 0
    found = run("ngram", "query", model, given="a b\nb a\n")
    assert "1 of 2 sentences have probability 0; perplexity of the others 1.14" in found.err  # (2/3)^(-1/3)
    assert "2 of 2 sentences have probability 0; no others" in run("ngram", "query", model, given="b a\nx\n").err


def test_nothing_to_do_is_said(run: Run, folder: Path, tmp_path: Path) -> None:
    empty, out, model = tmp_path / "e.txt", tmp_path / "o.tsv", tmp_path / "n.lg"
    empty.write_text("\n")
    assert run("ngram", "build", folder / "train.txt", "-o", model).status == 0
    assert run("train", "hmm", folder / "train.tsv", "--by", "counting", "-o", tmp_path / "h.lg").status == 0
    for command in (["ngram", "query", model], ["tag", tmp_path / "h.lg"]):
        found = run(*command, empty)
        assert (found.status, found.out, found.err.strip()) == (0, "", "0 sentences")
    for command in (["count", empty], ["count", empty, "--memory", "16M"], ["build", empty]):
        found = run("ngram", *command, "-o", out)
        assert found.status == 1
        assert "e.txt: there are no sentences to count" in found.err
    assert not out.exists()


def test_faults_of_counts_and_dictionaries_are_one_line(run: Run, folder: Path, tmp_path: Path) -> None:
    out, reduced, empty = tmp_path / "x.lg", tmp_path / "k.lg", tmp_path / "e.tsv"
    train, text = folder / "train.tsv", folder / "train.txt"
    (tmp_path / "neg.t").write_text("a b\t-3\na\t1\n")
    (tmp_path / "r.tsv").write_text("a\tD\n</s>\tN\n\n")
    (tmp_path / "off.arpa").write_text("\\data\\\nngram 1=3\n\n\\1-grams:\n-99 <s>\n-1 </s>\n-1 a\n\n\\end\\\n")
    empty.write_text("\n")
    assert run("ngram", "count", text, "--dictionary", f"{train}:1:2", "-o", reduced).status == 0
    variational = ["train", "hmm", reduced, "--by", "variational", "-o", out]
    cases = [
        (
            ["ngram", "build", tmp_path / "neg.t", "-o", out],
            "neg.t:1: the count '-3' is not a non-negative integer",
        ),
        (["ngram", "build", train, "-o", out], "train.tsv:1: the count"),
        (["ngram", "build", tmp_path / "off.arpa", "-o", out, "--strict"], "off.arpa: 1 histories do not sum"),
        (["ngram", "build", text, "-o", out, "--strict"], "--strict is for ARPA files"),
        ([*variational], "reduced with a tag dictionary"),
        ([*variational, "--dictionary", f"{train}:1:9"], "reduced with another tag dictionary"),
        (["train", "hmm", text, "-o", out, "--dictionary", empty], "e.tsv: there are no tagged sentences"),
        (["ngram", "count", text, "-o", out, "--dictionary", empty], "e.tsv: there are no tagged sentences"),
        (["train", "hmm", tmp_path / "r.tsv", "-o", out], "r.tsv: sentence 1 has the word </s>"),
    ]
    for sizes in ("x", "-1", "0", "1,,2"):
        options = ["--data", tmp_path, "--output", out, f"--sizes={sizes}"]
        cases.append((["reproduce", "smith2012", *options], "--sizes takes integers of at least 1"))
    for paper, option, bad, message in (
        ("cohen2013", "--states", ("x", "", "0", "8,"), "--states takes integers of at least 1"),
        ("dhillon2012", "--orders", ("x", "", "3"), "--orders takes integers from 1 to 2"),
    ):
        for numbers in bad:
            options = ["--data", tmp_path, "--output", out, f"{option}={numbers}"]
            cases.append((["reproduce", paper, *options], message))
    for arguments, message in cases:
        found = run(*arguments)
        assert found.status == 1, arguments
        *said, fault = found.err.strip().splitlines()
        assert message in fault
        assert all(line.startswith("read ") for line in said)
    assert not out.exists()


def test_the_words_of_trees_are_counted(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "t.mrg").write_text("( (S (NP-SBJ (-NONE- *T*-1)) (VP (VB sleep)) (. .)) )\n")
    (tmp_path / "t.conllu").write_text(
        "1\tsleep\t_\tVERB\t_\t_\t0\troot\t_\t_\n2\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    )
    for name in ("t.mrg", "t.conllu"):
        assert run("ngram", "count", tmp_path / name, "-o", tmp_path / "c.tsv", "--order", 1).status == 0
        assert (tmp_path / "c.tsv").read_text().splitlines() == ["</s>\t1", ".\t1", "sleep\t1"]


def test_tags_and_features_in_their_columns(run: Run, tmp_path: Path) -> None:
    rows = "1\tdu\tin\tADP\tAP\t_\t2\tcase\t_\t_\n2\tmm\tmm\tNOUN\tNN\tNumber=Plur\t0\troot\t_\t_\n\n"
    train, model = tmp_path / "train.conllu", tmp_path / "tagger.lg"
    train.write_text(rows * 3)
    assert run("train", "tagger", train, "-o", model, "--passes", 2).status == 0
    found = run("tag", model, train, "--conllu", "--probabilities")
    assert found.status == 0
    row = found.out.splitlines()[1].split("\t")
    assert row[:9] == ["2", "mm", "_", "NOUN", "NN", "Number=Plur", "_", "_", "_"]
    assert row[9] == "TagProb=1|XposProb=1|UposProb=1|FeatsProb=1"
    answer = json.loads(run("tag", model, train, "--json").out.splitlines()[0])
    assert answer["feats"] == ["_", "Number=Plur"]
    assert set(answer["posteriors"]) == {"xpos", "upos", "feats"}
    both = run("tag", model, train, "--json", "--conllu")
    assert both.status != 0
    assert "use either --json or --conllu" in both.err
