"""Corrections: those that cannot be met are told, those by hand are made, and nothing else of the tree changes."""

from __future__ import annotations

from typing import Any

import pytest

import latentgram as lg
from latentgram.data.brackets import parse_tree
from latentgram.data.conllu import parse_conllu, to_conllu
from latentgram.errors import DataError
from latentgram.parser.pipeline import fit_parser
from latentgram.web.analysis import Asked, analyse
from latentgram.web.annotations import agreement
from latentgram.web.editing import arcs
from latentgram.web.editing.corrections import Tag
from latentgram.web.editing.phrases import Draft

TEXT = "A teacher saw the dog in the garden of the museum ."
TREE = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat)) (PP (IN in) (NP (NN town)))))"


def changed(tree: str, change: str, *args: Any) -> str:
    draft = Draft.of(parse_tree(tree))
    getattr(draft, change)(*args)
    return str(draft.tree())


@pytest.mark.parametrize(
    ("change", "args", "expected"),
    [
        (
            "bracket",
            (3, 7, "X"),
            TREE.replace("(NP (DT a)", "(X (NP (DT a)").replace("town)))))", "town)))))) ")[:-1],
        ),
        ("bracket", (1, 2, "NML"), TREE.replace("(NN dog)", "(NML (NN dog))")),
        ("bracket", (0, 2, "NP"), TREE.replace("(NP (DT the) (NN dog))", "(NP (NP (DT the) (NN dog)))")),
        ("unbracket", (3, 5, "NP"), TREE.replace("(NP (DT a) (NN cat))", "(DT a) (NN cat)")),
        (
            "attach",
            ((5, 7, "PP"), (3, 5, "NP")),
            "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat) (PP (IN in) (NP (NN town))))))",
        ),
        (
            "attach",
            ((5, 7, "PP"), (0, 7, "S")),
            "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat))) (PP (IN in) (NP (NN town))))",
        ),
        ("label_as", ((0, 2, "NP"), "NP-SBJ-1"), TREE.replace("(NP (DT the)", "(NP-SBJ-1 (DT the)")),
        ("trace", (5, (2, 7, "VP"), "NP", "*T*-1"), TREE.replace("(PP", "(NP (-NONE- *T*-1)) (PP")),
        ("split", (4, ("ca", "t")), TREE.replace("(NN cat)", "(NN ca) (NN t)")),
        ("merge", (0,), TREE.replace("(DT the) (NN dog)", "(DT thedog)")),
        ("tag", (1, "NNP"), TREE.replace("(NN dog)", "(NNP dog)")),
    ],
)
def test_what_is_done_by_hand_to_phrases_is_all_that_changes(change: str, args: Any, expected: str) -> None:
    assert changed(TREE, change, *args) == expected


def test_a_trace_and_what_it_refers_to_have_one_index() -> None:
    traced = changed(TREE, "trace", 5, (2, 7, "VP"), "NP-SBJ", "*T*")
    indexed = changed(traced, "coindex", 5, "*T*", (0, 2, "NP"))
    assert indexed == traced.replace("*T*", "*T*-1").replace("(NP (DT the)", "(NP-1 (DT the)")
    again = changed(indexed, "trace", 3, (2, 7, "VP"), "NP", "*-7")
    other = changed(again, "coindex", 3, "*-7", (3, 5, "NP"))  # a new number: 1 and 7 are taken
    assert "(NP (-NONE- *-8)) (NP-8 (DT a)" in other
    assert "(-NONE- *-1)" in changed(again, "coindex", 3, "*-7", (0, 2, "NP-1"))
    assert "(-NONE- *U*)" in changed(indexed, "retrace", 5, "*T*-1", "*U*")
    with pytest.raises(DataError, match="no trace \\*T\\*-2 there"):
        changed(indexed, "retrace", 5, "*T*-2", "*")


def test_what_the_parser_had_right_is_told_of_trees_with_traces_too() -> None:
    tree = parse_tree(TREE)
    traced = parse_tree(
        changed(TREE.replace("(NP (DT the)", "(NP-SBJ (DT the)"), "trace", 5, (2, 7, "VP"), "NP", "*T*-1")
    )
    assert agreement(traced, tree) == 100.0
    assert 0 < agreement(parse_tree(changed(TREE, "unbracket", 3, 5, "NP")), tree) < 100
    assert agreement(parse_tree(TREE.replace("dog", "cat")), tree) is None
    assert agreement(parse_tree("(TOP (S (NP (-NONE- *))))"), tree) is None


def test_a_mother_left_with_one_child_of_its_own_label_goes() -> None:
    nested = TREE.replace("(NP (DT a)", "(NP-PRD (NP (DT a)") + ")"
    raised = changed(nested, "attach", (5, 7, "PP"), (2, 7, "VP"))
    assert raised == TREE.replace("(NP (DT a)", "(NP-PRD (DT a)")
    other = nested.replace("(NP (DT a)", "(NX (DT a)")
    assert "(NP-PRD (NX (DT a) (NN cat))) (PP" in changed(other, "attach", (5, 7, "PP"), (2, 7, "VP"))


@pytest.mark.parametrize(
    ("change", "args", "complaint"),
    [
        ("bracket", (1, 3, "X"), "would cross NP over “the dog”"),
        ("attach", ((0, 2, "NP"), (5, 7, "PP")), "NP over “the dog” .* other words would stand between"),
        ("attach", ((2, 7, "VP"), (5, 7, "PP")), "to itself"),
        ("unbracket", (0, 7, "S"), "outermost"),
        ("label_as", ((0, 3, "NP"), "X"), "no NP over “the dog saw”"),
        ("trace", (4, (2, 7, "VP"), "NP", "*"), "belongs under NP"),
    ],
)
def test_what_cannot_be_done_by_hand_is_told(change: str, args: Any, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        changed(TREE, change, *args)


ROWS = (
    "# sent_id = 7\n# text = vámonos al mar\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tvamos\tir\tVERB\tV\tMood=Imp\t0\troot\t0:root\t_\n2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t1:obj|4:nsubj\t_\n"
    "3\tal\ta\tADP\tE\t_\t4\tcase\t4:case\tGloss=to\n3.1\tel\tel\tDET\t_\t_\t_\t_\t4:det\t_\n"
    "4\tmar\tmar\tNOUN\tN\t_\t1\tobl\t1:obl\t_\n\n"
)


def test_arcs_cross_and_words_are_cut_and_joined_with_all_their_numbers() -> None:
    tree = parse_conllu(ROWS)[0]
    crossing = arcs.set_head(arcs.set_head(tree, 2, 1), 1, 4)
    assert crossing.heads == (0, 4, 1, 1)
    assert not crossing.is_projective
    with pytest.raises(DataError, match="cannot be its head"):
        arcs.set_head(tree, 0, 4)
    cut = arcs.split(tree, 2, ("a", "l"))
    assert cut.words == ("vamos", "nos", "a", "l", "mar")
    assert cut.heads == (0, 1, 5, 3, 1)
    assert cut.deps[1] == "1:obj|5:nsubj"
    assert [row.split("\t")[0] for _, row in cut.extra_rows] == ["1-2", "4.1"]
    assert to_conllu(arcs.merge(cut, 2)) == ROWS.replace("1:obj|4:nsubj", "1:obj|4:nsubj")
    assert parse_conllu(to_conllu(cut))[0] == cut


def test_blanks_are_where_they_were_when_words_are_cut_and_joined() -> None:
    tree = parse_conllu(ROWS.replace("Gloss=to", "Gloss=to|SpaceAfter=No"))[0]
    cut = arcs.split(tree, 2, ("a", "l"))
    assert cut.misc[2:4] == ("Gloss=to|SpaceAfter=No", "SpaceAfter=No")
    assert arcs.merge(cut, 2) == tree
    apart = arcs.split(parse_conllu(ROWS)[0], 2, ("a", "l"))
    assert apart.misc[2:4] == ("Gloss=to|SpaceAfter=No", "_")
    # Other words than the old one are those of a token that is written as it was.
    joined = arcs.split(tree, 2, ("a", "el"))
    assert [row.split("\t")[:2] for _, row in joined.extra_rows] == [
        ["1-2", "vámonos"],
        ["3-4", "al"],
        ["4.1", "el"],
    ]
    assert joined.extra_rows[1][1].endswith("\tSpaceAfter=No")
    assert (joined.words[2:4], joined.misc[2:4]) == (("a", "el"), ("Gloss=to", "_"))
    assert parse_conllu(to_conllu(joined))[0] == joined
    with pytest.raises(DataError, match="already part of a multiword token"):
        arcs.split(tree, 1, ("no", "z"))
    # Within a token of several words there are no blanks to speak of.
    assert arcs.split(tree, 1, ("n", "os")).misc[1:3] == ("_", "_")


def corrected(served: Any, *corrections: dict[str, Any], **more: Any) -> dict[str, Any]:
    asked = {"text": TEXT, **more} if "words" not in more and "source" not in more else more
    answer = served.post("/api/parse", corrections=list(corrections), **asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_cannot_be_met_is_told_and_the_rest_is_obeyed(serve: Any) -> None:
    served = serve()
    good = {"kind": "span", "first": 3, "end": 8, "label": "NP"}
    unknown = {"kind": "span", "first": 9, "end": 11, "label": "NPX", "instead": "NP"}
    crossing = {"kind": "span", "first": 2, "end": 5, "label": "VP"}
    answer = corrected(served, good, unknown, crossing)
    assert [(each["number"], each["by_hand"]) for each in answer["unmet"]] == [(1, True), (2, True)]
    assert answer["unmet"][0]["reason"] == "NPX is not a label of this grammar: add it?"
    assert "cross" in answer["unmet"][1]["reason"]
    assert [each["against"] for each in answer["unmet"]] == [None, 0]
    assert ("NP", 3, 8) in set(parse_tree(answer["trees"][0]["plain"]).spans())
    # Added by hand, the label is there; a crossing one is not to be had, and says so.
    answer = corrected(served, good, {**unknown, "by_hand": True}, {**crossing, "by_hand": True})
    assert [(each["number"], each["by_hand"]) for each in answer["unmet"]] == [(2, False)]
    assert ("NPX", 9, 11) in set(parse_tree(answer["trees"][0]["plain"]).spans())
    impossible = corrected(served, {"kind": "span", "first": 0, "end": 3, "label": "PP"})
    assert len(impossible["unmet"]) in (0, 1)


def test_the_rest_stays_as_it_is_on_a_base_tree(serve: Any) -> None:
    served = serve()
    free = corrected(served)["trees"][0]["plain"]
    base = parse_tree(free)
    noun = next((first, end) for label, first, end in base.spans() if label == "NP" and end - first == 2)
    fix = {"kind": "span", "first": noun[0], "end": noun[1], "label": "QP", "instead": "NP"}
    answer = corrected(served, fix, base=free)
    assert answer["unmet"] == []
    after = parse_tree(answer["trees"][0]["plain"])
    assert set(base.spans()) - set(after.spans()) == {("NP", *noun)}
    assert set(after.spans()) - set(base.spans()) == {("QP", *noun)}
    other = served.post("/api/parse", text="The dog sleeps .", base=free)
    assert other.status_code == 422


def test_function_tags_traces_and_new_tokens(serve: Any) -> None:
    served = serve()
    subject = {"kind": "function", "first": 0, "end": 2, "label": "NP", "function": "SBJ-1"}
    trace = {"kind": "trace", "at": 3, "mother": [2, 11, "VP"], "label": "NP", "text": "*T*-1"}
    answer = corrected(served, subject, trace)
    tree = answer["trees"][0]
    assert answer["unmet"] == []
    assert "(NP-SBJ-1 (DT A) (NN teacher))" in tree["plain"]
    assert "(NP (-NONE- *T*-1))" in tree["plain"]
    assert answer["words"] == TEXT.split()
    assert next(n for n in tree["nodes"] if n["label"] == "-NONE-")["first"] == 3
    # Nor is it asked for them: a label with a function tag is asked without, and gets the tag by hand.
    labelled = corrected(served, {"kind": "span", "first": 3, "end": 8, "label": "NP-OBJ"})
    assert labelled["unmet"] == []
    assert "(NP-OBJ " in labelled["trees"][0]["plain"]
    gone = corrected(served, subject, {"kind": "no-span", "first": 3, "end": 8, "label": "NP-OBJ"})
    assert (gone["unmet"], "NP-SBJ-1" in gone["trees"][0]["plain"]) == ([], True)
    # The grammar has no function tags and no traces, and learns the tree without them.
    assert served.post("/api/accept", id="with-traces", tree=tree["plain"]).status_code == 200
    assert not any("-" in label[1:] for label in served.get("/api/status")["phrase_labels"])
    assert "-NONE-" not in served.get("/api/status")["tags"]
    cut = corrected(
        served,
        {"kind": "span", "first": 3, "end": 8, "label": "NP"},
        {"kind": "split", "word": 1, "parts": ["teach", "er"]},
        {"kind": "span", "first": 1, "end": 3, "label": "NP"},
    )
    assert cut["words"][:4] == ["A", "teach", "er", "saw"]
    assert {("NP", 4, 9), ("NP", 1, 3)} <= set(parse_tree(cut["trees"][0]["plain"]).spans())


def test_relations_columns_and_crossing_arcs_of_dependencies(serve: Any) -> None:
    served = serve("arcs")
    words = ["The", "teacher", "saw", "the", "dog", "in", "the", "garden", "."]
    free = corrected(served, words=words)["trees"][0]
    relation = {"kind": "relation", "word": 4, "relation": "thing"}
    answer = corrected(served, relation, words=words)
    assert answer["unmet"][0]["reason"] == "thing is not a relation of this grammar: add it?"
    assert answer["trees"][0]["relations"] == free["relations"]
    tag = {"kind": "tag", "word": 4, "tag": "QQ"}
    assert corrected(served, tag, words=words)["unmet"][0]["reason"] == "QQ is not a tag of this grammar: add it?"
    for column, value, reason in (("upos", "NOM", "universal tag: add it"), ("feats", "Sing", "Name=Value")):
        set_column = {"kind": "column", "word": 4, "column": column, "value": value}
        assert reason in corrected(served, set_column, words=words)["unmet"][0]["reason"]
    by_hand = [
        {**relation, "by_hand": True},
        {"kind": "column", "word": 4, "column": "feats", "value": "Number=Sing|Case=Acc"},
        {"kind": "column", "word": 4, "column": "lemma", "value": "dog"},
        {"kind": "head", "word": 3, "head": 8, "by_hand": True},
        {"kind": "head", "word": 4, "head": 1, "by_hand": True},
    ]
    answer = corrected(served, *by_hand, words=words)
    assert answer["unmet"] == []
    tree = parse_conllu(answer["trees"][0]["plain"])[0]
    assert (tree.deprels[4], tree.feats[4], tree.lemmas[4]) == ("thing", "Case=Acc|Number=Sing", "dog")
    assert (tree.heads[3], tree.heads[4]) == (8, 1)
    assert not tree.is_projective
    assert answer["trees"][0]["rows"]["lemma"][4] == "dog"
    cut = corrected(served, {"kind": "split", "word": 5, "parts": ["into", "it"]}, words=words)
    assert cut["trees"][0]["multiword"] == [[5, 7, "in"]]
    assert "\n6-7\tin\t" in cut["trees"][0]["plain"]


def test_tags_of_a_tagger_are_asked_by_either_name_and_unknown_ones_are_offered_as_new() -> None:
    parser = fit_parser(lg.SHAG, lg.demo_dependencies(60, seed=0), by=lg.Counting(), tagger=lg.Gradient(passes=2))

    def tagged(tag: str) -> tuple[Any, list[str]]:
        asked = Asked(lg.Sentence(("The", "teacher", "sleeps")), corrections=(Tag(kind="tag", word=1, tag=tag),))
        analysis, unmet = analyse(parser, asked)
        return (analysis.xpos[1], analysis.upos[1]), [each.reason for each in unmet]

    assert tagged("NNP") == (("NNP", "PROPN"), [])
    assert tagged("PROPN") == (("NNP", "PROPN"), [])
    assert tagged("NNX")[1] == ["NNX is not a tag of this grammar: add it?"]


def test_rows_of_conllu_keep_all_that_was_not_annotated(serve: Any, tmp_path: Any) -> None:
    rows = parse_conllu(ROWS)[0].replace(xpos=("VB", "PRP", "IN", "NN"))
    served = serve("arcs", sentences=[rows])
    item = served.get("/api/queue", order="file")["items"][0]
    assert item["source"] == to_conllu(rows)
    answer = corrected(served, {"kind": "head", "word": 1, "head": 4}, source=item["source"])
    written = parse_conllu(answer["trees"][0]["plain"])[0]
    assert written.heads[1] == 4
    assert written == rows.replace(heads=written.heads, deprels=written.deprels)
    assert served.post("/api/accept", id="with-rows-1", tree=answer["trees"][0]["plain"]).status_code == 200
    assert lg.Treebank.read(served.session.annotations.path)[-1] == written
    # The same words in another place of the text are another sentence.
    twin = rows.replace(comments=("# sent_id = 8", *rows.comments[1:]))
    assert served.session.queue.add([rows, twin]) == 1
    assert [item["number"] for item in served.get("/api/queue")["items"]] == [1]
    again = answer["trees"][0]["plain"].replace("# sent_id = 7", "# sent_id = 8")
    assert served.post("/api/accept", id="another-one", tree=again, over="ask").status_code == 200
    assert served.get("/api/queue")["waiting"] == 0
    assert served.post("/api/accept", id="one-too-many", tree=again, over="ask").status_code == 409
    bare = corrected(served, words=["Hi", "!"])["trees"][0]["plain"]
    served.post("/api/accept", id="without-rows", tree=bare)
    assert lg.Treebank.read(served.session.annotations.path)[-1].comments[0] == "# sent_id = bank-3"


def test_a_constituent_under_another_mother_than_was_asked_for_is_not_met(serve: Any) -> None:
    served = serve()
    words = ["The", "teacher", "saw", "the", "dog", "in", "the", "garden", "."]
    low, high = {"node": [5, 8, "PP"], "to": [3, 5, "NP"]}, {"node": [5, 8, "PP"], "to": [2, 8, "VP"]}
    for told, spans, forbidden in ((low, [[3, 8, "NP"]], []), (high, [[2, 8, "VP"]], [[3, 8, "NP"]])):
        fix = {"kind": "attach", **told, "spans": [[5, 8, "PP"], *spans], "forbidden": forbidden}
        assert served.post("/api/parse", words=words, corrections=[fix]).json()["unmet"] == []
        # What is asked of the parser can be had without: then it is said, and done by hand.
        bare = {**fix, "spans": [[5, 8, "PP"]], "forbidden": [[3, 8, "NP"]] if told is low else []}
        steered = [bare, {"kind": "span", "first": 3, "end": 8, "label": "NP"}] if told is high else [bare]
        answer = served.post("/api/parse", words=words, corrections=steered).json()
        assert [each["number"] for each in answer["unmet"]] == [0]
        assert answer["unmet"][0]["by_hand"]


def test_other_trees_show_what_was_made_by_hand_or_are_not_offered(serve: Any) -> None:
    served = serve()
    words = ["A", "teacher", "saw", "the", "dog", "in", "the", "garden", "of", "the", "museum", "."]
    free = served.post("/api/parse", words=words, count=10).json()["trees"]
    spans = [{(n["first"], n["end"], n["label"]) for n in tree["nodes"] if n["word"] is None} for tree in free]
    first, end, label = next(iter(spans[0] - set.intersection(*spans)))
    named = {"kind": "function", "first": first, "end": end, "label": label, "function": "XYZ"}
    answer = served.post("/api/parse", words=words, corrections=[named], count=10).json()
    assert answer["unmet"] == []
    assert 0 < len(answer["trees"]) < len(free)
    assert all("-XYZ" in tree["plain"] for tree in answer["trees"])
