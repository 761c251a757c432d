"""Several annotators in a real browser: sentences given out, held, annotated twice, compared and decided."""

from __future__ import annotations

from typing import Any

import pytest

import latentgram as lg
from web.browser import AXE, TEXT, faults, says, wait
from web.conftest import needs_chromium

pytestmark = needs_chromium


def as_person(served: Any, tab: Any, name: str, **more: Any) -> Any:
    """A page in the hands of somebody."""
    page = tab(**more)
    page.add_init_script(f"localStorage.setItem('annotator', '{name}')")
    page.goto(served.url)
    return page


def test_sentences_are_given_out_and_held_for_one(serve: Any, tab: Any) -> None:
    served = serve()
    ann, bob = as_person(served, tab, "Ann"), as_person(served, tab, "Bob")
    ann.click("#tab-queue")
    wait(ann, "document.querySelectorAll('#queue li').length === 2")
    ann.click("#queue-give")
    ann.fill("#name", "Ann, Bob")
    ann.click("#ask-name button[value=yes]")
    wait(ann, "document.getElementById('queue').textContent.includes('for Bob')")
    bob.click("#tab-people")
    wait(bob, "document.querySelectorAll('#people tbody tr').length === 2")
    assert "0 not assigned" in bob.text_content("#people")
    # One's own come first; what somebody works on is marked for others.
    bob.click("#tab-queue")
    wait(bob, "document.querySelector('#queue li')?.textContent.includes('for Bob')")
    mine = bob.text_content("#queue li:nth-child(1) [dir]").split(" for Bob")[0].strip()
    ann.click("#queue li:nth-child(1) button")
    wait(ann, "document.querySelectorAll('.word').length > 0")
    assert ann.input_value("#sentence") != mine
    wait(bob, "document.getElementById('queue').textContent.includes('Ann has it')")
    bob.click("#queue li:nth-child(1) button")
    wait(bob, "!document.getElementById('accept').disabled")
    assert bob.input_value("#sentence") == mine
    bob.keyboard.press("a")
    end = "no more sentences in the queue but skipped ones and those of others."
    wait(bob, f"document.getElementById('message').textContent.endsWith('{end}')")
    # Who opens it all the same is told.
    bob.click("#tab-queue")
    wait(bob, "document.querySelectorAll('#queue li').length === 1")
    bob.click("#queue li button")
    says(bob, "Ann has this sentence.")
    # Whoever looks after the work sees it, too; one's own other tab is named as such.
    bob.click("#tab-people")
    wait(bob, "document.querySelector('#people tbody tr td:last-child')?.textContent.length > 9")
    other = as_person(served, tab, "Ann")
    other.click("#tab-queue")
    wait(other, "document.getElementById('queue').textContent.includes('you have it in another tab')")


@pytest.mark.parametrize("kind", ["phrases", "arcs"])
def test_two_trees_of_a_sentence_are_compared_and_one_stays(serve: Any, tab: Any, kind: str) -> None:
    served = serve(kind, double=1.0)
    trees = [tree["plain"] for tree in served.post("/api/parse", text=TEXT, count=2).json()["trees"]]
    path = served.session.annotations.path
    for name, tree, over in (("Ann", trees[0], "ask"), ("Bob", trees[1], "beside")):
        done = served.post("/api/accept", id=f"accepted-{name}", annotator=name, tree=tree, over=over)
        assert done.status_code == 200
    size = len(lg.Treebank.read(path))
    page = as_person(served, tab, "Cat", width=1366, height=768)
    page.click("#tab-people")
    page.click("#people .dispute summary")
    assert page.locator("#people mark").count() >= 2
    assert page.locator("#people .rival .new").count() >= 2
    assert "Ann and Bob" in page.text_content("#people")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    left, right = (page.locator("#people .rival").nth(side).bounding_box() for side in (0, 1))
    assert left["x"] + left["width"] <= right["x"]
    assert page.evaluate(
        "[...document.querySelectorAll('.rival')].every(one => one.scrollWidth <= one.clientWidth)"
    )
    if AXE.exists():
        assert not faults(page)
    # Neither is right: the one in the file is corrected, and one comes back to decide.
    page.click("text=Correct it …")
    page.wait_for_selector(".word")
    page.locator(".word").nth(0).click()
    page.keyboard.press("e")
    page.keyboard.type("ZZ")
    page.keyboard.press("Enter")
    if kind == "arcs":
        page.click("#fixes [data-act=by-hand]")
    wait(
        page, "document.querySelectorAll('#fixes li').length === 1 && !document.getElementById('accept').disabled"
    )
    page.keyboard.press("Control+Enter")
    wait(page, "!document.getElementById('view-people').hidden")
    # What was open stays open when the view is made anew.
    wait(page, "document.querySelector('#people pre').textContent.includes('ZZ')")
    page.locator("#people >> text=This one stays").nth(1).click()
    says(page, "The tree of Bob stays")
    wait(page, "document.querySelectorAll('#people .dispute').length === 0")
    bank = lg.Treebank.read(path)
    assert len(bank) == size
    assert "ZZ" not in path.read_text()
    assert page.is_visible("#message")


def test_the_same_arcs_under_different_names_agree(serve: Any) -> None:
    served = serve("arcs", double=1.0)
    tree = served.post("/api/parse", text="The teacher sleeps .").json()["trees"][0]["plain"]
    for name, over in (("Ann", "ask"), ("Bob", "beside")):
        served.post("/api/accept", id=f"accepted-{name}", annotator=name, tree=tree, over=over)
    people = served.get("/api/people")
    assert people["pairs"][0]["agreement"]["same"] == 1
    assert people["disputes"] == []
