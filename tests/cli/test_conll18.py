"""`latentgram eval --measures conll18`: two files, or a model that gets the text of the gold trees."""

from latentgram.data.conllu import parse_conllu, to_conllu

ROWS = """1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\tSpaceAfter=No
2\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""


def test_two_files(run, tmp_path):
    gold, output = tmp_path / "gold.conllu", tmp_path / "output.conllu"
    gold.write_text(ROWS)
    output.write_text(to_conllu(parse_conllu(ROWS)[0].replace(upos=("X", "X"))))
    outcome = run("eval", gold, output, "--measures", "conll18")
    rows = {line.split()[0]: line.split()[1:] for line in outcome.out.splitlines()}
    assert rows["LAS"] == ["100.00"] * 4
    assert rows["UPOS"] == ["0.00"] * 4
    assert rows["MLAS"][2] == "0.00"
    output.write_text(ROWS.replace("\tHi\t", "\tHo\t"))
    outcome = run("eval", gold, output, "--measures", "conll18")
    assert outcome.status == 1, outcome.err
    assert "output.conllu: the text of the output differs" in outcome.err


def test_a_model_gets_the_text(run, dependencies, tmp_path):
    model = tmp_path / "m.lg"
    run("train", "shag", dependencies / "train.conllu", "-o", model, "--by", "counting")
    outcome = run("eval", model, dependencies / "dev.conllu", "--measures", "conll18")
    rows = {line.split()[0]: line.split()[1:] for line in outcome.out.splitlines()}
    assert outcome.status == 0, outcome.err
    assert float(rows["Tokens"][2]) > 90
    assert float(rows["LAS"][2]) > 30
    outcome = run("eval", model, dependencies / "dev.conllu", "--measures", "conll18", "--gold-tags")
    assert outcome.status == 1, outcome.err
    assert "--measures excludes" in outcome.err
