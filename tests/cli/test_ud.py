"""`latentgram train ud`, and raw text to CoNLL-U by the model."""

import json

from latentgram.data.conllu import parse_conllu


def test_raw_text_becomes_numbered_sentences(run, dependencies, tmp_path):
    model, text = tmp_path / "m.lg", tmp_path / "raw.txt"
    trained = run("train", "ud", dependencies / "train.conllu", "-o", model, "--passes", 2, "--folds", 2)
    assert trained.status == 0, trained.err
    assert "segmenter with" in trained.err
    text.write_text("The dog sleeps . A cat runs .\n\nThe teacher sleeps .\n")
    result = run("parse", model, text, "--to", "conllu", "--probabilities")
    trees = parse_conllu(result.out)
    numbers = [line for tree in trees for line in tree.comments if line.startswith("# sent_id")]
    assert numbers == [f"# sent_id = {i}" for i in range(1, len(trees) + 1)]
    assert sum("# newpar" in tree.comments for tree in trees) == 2
    for mark in ("LemmaProb=", "TagProb=", "UposProb=", "XposProb=", "HeadProb=", "RelProb=", "TokenProb="):
        assert mark in result.out
    assert run("parse", model, text, "--to", "json").out.count("\n") == len(trees)
    scored = run("eval", model, dependencies / "dev.conllu", "--measures", "conll18", "--json")
    assert scored.status == 0
    rows = run("parse", model, dependencies / "dev.conllu")
    assert len(parse_conllu(rows.out)) == 30
    tagged = run("tag", model, text, "--conllu", "--decoder", "viterbi")
    cells = [line.split("\t") for line in tagged.out.splitlines() if line[:1].isdigit()]
    assert [cell[3] for cell in cells] == [tag for tree in trees for tag in tree.upos]
    assert [cell[1] for cell in cells] == [word for tree in trees for word in tree.words]
    relations = json.loads(run("eval", model, dependencies / "dev.conllu", "--gold-heads", "--json").out)
    assert relations["uas"] == 100
    assert 50 < relations["las"] == relations["relation_accuracy"]
    assert run("eval", model, dependencies / "dev.conllu", "--gold-heads", "--measures", "conll18").status == 1


def test_whether_arcs_may_cross_is_chosen_and_told(run, tmp_path):
    """Trees whose arcs cross, as names of relations can tell: the projective parser is as good, and is kept."""
    rows = ((1, 0, "A"), (2, 1, "B"), (3, 1, "C"), (4, 2, "D"))
    tree = "".join(
        f"{word}\t{tag.lower()}\t_\t{tag}\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_\n"
        for word, head, tag in rows
    )
    train, dev = tmp_path / "train.conllu", tmp_path / "dev.conllu"
    train.write_text(f"{tree}\n" * 30)
    dev.write_text(f"{tree}\n" * 5)
    choice = ("--choose-crossing", "--passes", 3)
    for command in (("arcs", *choice), ("arcs", *choice, "--dev", dev), ("ud", *choice, "--folds", 2)):
        told = run("train", command[0], train, "-o", tmp_path / "m.lg", *command[1:])
        assert told.status == 0, told.err
        assert "projective trees 100.00, crossing arcs 100.00" in told.err
        assert "arcs may cross" not in told.err
