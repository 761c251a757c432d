"""In a real browser: requests that are lost, late, or overtaken by what a person does next. Nothing is timed: a
request is held by the test until it lets it go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import latentgram as lg
from web.browser import TEXT, ask, node, says, until, wait
from web.conftest import needs_chromium

pytestmark = needs_chromium
OTHER = "The teacher sleeps ."
FULL = """
const set = Storage.prototype.setItem;
Storage.prototype.setItem = function (name, value) {
  if (name === "drafts" && value.length > 5000) throw new DOMException("full", "QuotaExceededError");
  return set.call(this, name, value);
};
const fixes = { past: [], at: 0 }, proposed = "x".repeat(600);
const old = Array.from({ length: 9 }, (_, n) => ({ name: `old ${n}`, fixes, proposed, edited: null }));
if (!localStorage.getItem("drafts")) set.call(localStorage, "drafts", JSON.stringify(old));
"""
"""A store for drafts that has no more room."""
IDLE = "document.getElementById('drawing').ariaBusy === 'false'"


class Held:
    """Requests to an address, kept from the server while `closed`."""

    def __init__(self, page: Any, path: str) -> None:
        self.page, self.routes, self.closed = page, list[Any](), True
        page.route(f"**{path}", self._take)

    def _take(self, route: Any) -> None:
        if self.closed:
            self.routes.append(route)
        else:
            route.continue_()

    def wait(self, count: int = 1) -> None:
        """Until there are so many."""
        while len(self.routes) < count:
            self.page.wait_for_timeout(20)

    def go(self) -> None:
        """Let all of them go, and those to come."""
        self.closed = False
        for route in self.routes:
            route.continue_()

    def lose(self) -> None:
        """They never arrive; those to come do."""
        self.closed = False
        for route in self.routes:
            route.abort("connectionreset")


@pytest.fixture
def hold(page: Any) -> Callable[[str], Held]:
    """Holds the requests to an address."""
    return lambda path: Held(page, path)


def trees(served: Any) -> int:
    return len(lg.Treebank.read(served.session.annotations.path))


def test_an_acceptance_that_was_lost_on_the_way_is_sent_again(serve: Any, page: Any, hold: Any) -> None:
    served = serve()
    size = trees(served)
    page.goto(served.url)
    ask(page, TEXT)
    held = hold("/api/accept")
    page.click("#accept")
    held.wait()
    held.lose()
    says(page, "Accepted")
    assert trees(served) == size + 1


def forbid_on_the_way(serve: Any, page: Any, hold: Any) -> Any:
    """Forbid a constituent of a new sentence; what the server says to it is held back."""
    page.goto(serve().url)
    ask(page, TEXT)
    wait(page, IDLE)
    held = hold("/api/parse")
    page.locator(node("NP 3 5")).click()
    page.click("[data-act=forbid]")
    held.wait()
    return held


def test_a_correction_that_was_lost_on_the_way_is_asked_again(serve: Any, page: Any, hold: Any) -> None:
    held = forbid_on_the_way(serve, page, hold)
    held.lose()
    until(page, "NP 3 5", there=False)
    wait(page, "!document.getElementById('accept').disabled")


@pytest.mark.parametrize("arrives", [True, False])
def test_a_reload_while_a_tree_is_accepted(serve: Any, page: Any, hold: Any, arrives: bool) -> None:
    served = serve()
    size = trees(served)
    page.goto(served.url)
    ask(page, TEXT)
    held = hold("/api/accept")
    page.click("#accept")
    held.wait()
    if arrives:
        held.routes[0].fetch()  # and the page never hears of it
    held.closed = False
    page.reload()
    says(page, "Accepted")
    assert trees(served) == size + 1


def test_who_goes_on_before_an_acceptance_is_answered_stays_where_he_is(serve: Any, page: Any, hold: Any) -> None:
    served = serve()
    size = trees(served)
    page.goto(served.url)
    ask(page, OTHER)
    page.locator(".word").nth(1).click()
    page.keyboard.press("e")
    page.keyboard.type("VB")
    page.keyboard.press("Enter")
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    ask(page, TEXT)
    held = hold("/api/accept")
    page.click("#accept")
    held.wait()
    ask(page, OTHER)
    held.go()
    says(page, "Accepted")
    assert page.input_value("#sentence") == OTHER
    assert page.locator("#fixes li").count() == 1
    assert not page.is_disabled("#accept")
    ask(page, TEXT)
    ask(page, OTHER)
    wait(page, "document.querySelectorAll('#fixes li').length === 1")
    assert trees(served) == size + 1


def test_a_conflict_is_told_of_the_sentence_that_it_is_of(serve: Any, page: Any, hold: Any) -> None:
    served = serve()
    tree = served.post("/api/parse", text=TEXT).json()["trees"][0]["plain"]
    served.post("/api/accept", id="by-another-1", annotator="Ann", tree=tree)
    size = trees(served)
    page.goto(served.url)
    ask(page, TEXT)
    page.locator(node("NP 3 5")).click()
    page.click("[data-act=forbid]")
    until(page, "NP 3 5", there=False)
    held = hold("/api/accept")
    page.click("#accept")
    held.wait()
    page.click("#tab-queue")
    page.click(f"#queue li button >> text={OTHER}")
    wait(page, "document.querySelectorAll('.word').length === 4")
    held.go()
    says(page, "“A … .” was not accepted: Ann accepted a tree of this sentence")
    assert page.is_hidden("#conflict")
    assert not page.is_disabled("#accept")
    # His corrections are there when he comes back.
    page.evaluate("document.body.classList.remove('annotating')")
    ask(page, TEXT)
    assert page.locator("#fixes li").count() == 1
    page.click("#accept")
    page.click("#conflict >> text=Replace it by mine")
    says(page, "Accepted")
    assert trees(served) == size
    assert served.get("/api/queue")["waiting"] == 1


def test_two_quick_keys_skip_one_sentence(serve: Any, page: Any, hold: Any) -> None:
    served = serve(sentences=[lg.Sentence.of(f"The {noun} sleeps .") for noun in ("teacher", "dog", "cat", "man")])
    page.goto(served.url)
    page.click("#tab-queue")
    page.check("input[name=order][value=file]")
    page.click("#queue li button >> text=The teacher sleeps .")
    wait(page, "document.querySelectorAll('.word').length === 4")
    held = hold("/api/note")
    page.keyboard.press("s")
    page.keyboard.press("s")
    held.wait(2)
    held.go()
    wait(page, "document.getElementById('sentence').value === 'The dog sleeps .'")
    wait(page, "!document.getElementById('result').inert")
    assert [item["note"]["skipped"] for item in served.get("/api/queue")["items"]].count(True) == 1
    page.keyboard.press("f")
    wait(page, "document.getElementById('flag').ariaPressed === 'true'")
    assert page.input_value("#sentence") == "The dog sleeps ."


def test_a_comment_that_is_being_written_outlives_a_parse(serve: Any, page: Any, hold: Any) -> None:
    held = forbid_on_the_way(serve, page, hold)
    page.click("#comment")
    page.keyboard.type("half a thou")
    held.go()
    until(page, "NP 3 5", there=False)
    assert page.input_value("#comment-text") == "half a thou"


def test_a_tree_whose_acceptance_was_taken_back_can_be_accepted_again(serve: Any, page: Any) -> None:
    served = serve()
    size = trees(served)
    page.goto(served.url)
    ask(page, OTHER)
    page.locator("#drawing").focus()
    for _ in range(2):
        page.keyboard.press("a")
        says(page, "Accepted")
        assert trees(served) == size + 1
        page.keyboard.press("a")
        says(page, "This tree is already in the treebank")
        page.keyboard.press("U")
        says(page, "The last acceptance was taken back")
        assert trees(served) == size


def test_the_text_that_was_asked_for_last_is_shown(serve: Any, page: Any, hold: Any) -> None:
    page.goto(serve().url)
    held = hold("/api/sentences")
    page.fill("#sentence", TEXT)
    page.press("#sentence", "Enter")
    held.wait()
    held.closed = False
    ask(page, OTHER)
    with page.expect_response("**/api/sentences"):
        held.routes[0].continue_()
    page.evaluate("fetch('/api/status').then((answer) => answer.text())")
    assert page.locator(".word").count() == 4
    assert page.input_value("#sentence") == OTHER


def test_a_full_store_of_the_browser_stops_nobody(serve: Any, page: Any) -> None:
    served = serve()
    page.add_init_script(FULL)
    page.goto(served.url)
    ask(page, TEXT)
    page.locator(node("NP 3 5")).click()
    page.click("[data-act=forbid]")
    until(page, "NP 3 5", there=False)
    ask(page, OTHER)
    ask(page, TEXT)
    assert page.locator("#fixes li").count() == 1
