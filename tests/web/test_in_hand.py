"""Things in hand are moved by keys; traces and what they refer to; columns of CoNLL-U; trees ticked for export."""

from __future__ import annotations

import zipfile
from typing import Any

from latentgram.data.conllu import parse_conllu
from web.browser import AXE, TEXT, ask, faults, node, until, wait
from web.conftest import needs_chromium

pytestmark = needs_chromium

ROWS = (
    "# sent_id = s-1\n# text = Il va du parc.\n1\tIl\til\tPRON\tPRP\tNumber=Sing\t2\tnsubj\t2:nsubj\t_\n"
    "2\tva\taller\tVERB\tVBZ\t_\t0\troot\t0:root\t_\n3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\tde\tde\tADP\tIN\t_\t5\tcase\t5:case\t_\n4\tle\tle\tDET\tDT\t_\t5\tdet\t5:det\t_\n"
    "5\tparc\tparc\tNOUN\tNN\t_\t2\tobl\t2:obl\tSpaceAfter=No\n6\t.\t.\tPUNCT\t.\t_\t2\tpunct\t2:punct\t_\n\n"
)


def fixes(page: Any, count: int) -> None:
    """Wait until there are so many corrections, and a tree that shows them."""
    ready = "document.getElementById('drawing').getAttribute('aria-busy') === 'false'"
    wait(page, f"document.querySelectorAll('#fixes li').length === {count} && {ready}")


def test_a_constituent_is_moved_by_keys_and_a_trace_gets_what_it_refers_to(serve: Any, page: Any) -> None:
    page.goto(serve().url)
    ask(page, TEXT)
    page.click(node("PP 8 11"))
    page.keyboard.press("m")
    assert page.text_content("#in-hand").startswith("Where does PP “of the museum” belong?")
    page.keyboard.press("Escape")
    assert page.is_hidden("#in-hand")
    page.keyboard.press("m")
    page.click("#in-hand")
    assert page.is_hidden("#in-hand")
    page.keyboard.press("m")
    while page.evaluate("document.activeElement.dataset.label") != "VP":
        page.keyboard.press("ArrowUp")
    # On the way nothing else is selected.
    assert page.text_content("#editor .quote") == "“of the museum”"
    page.keyboard.press("Enter")
    fixes(page, 1)
    assert page.is_hidden("#in-hand")
    assert "PP “of the museum” under VP" in page.text_content("#fixes")

    page.click(node("VP 2 11"))
    page.click("#editor .more summary")
    page.fill("#editor [aria-label='a trace at its end']", "ADVP *T*")
    page.keyboard.press("Enter")
    fixes(page, 2)
    assert page.is_hidden("#changes")
    page.click('.node.tag[data-label="-NONE-"]')
    assert page.text_content("#editor .quote") == "an empty element: *T*"
    page.keyboard.press("i")
    page.click(node("NP 0 2"))
    fixes(page, 3)
    tree = page.input_value("#by-hand")
    assert "(NP-1 (DT A) (NN teacher))" in tree
    assert "(ADVP (-NONE- *T*-1))" in tree
    # A node with an index is the grammar's own still: it can be kept, and get function tags with its label.
    page.click(node("NP-1 0 2"))
    page.fill("#editor [aria-label='another label']", "NP-SBJ-1")
    page.keyboard.press("Enter")
    fixes(page, 4)
    until(page, "NP-SBJ-1 0 2")
    page.click("[data-act=keep]")
    wait(page, "document.getElementById('message').textContent.startsWith('This replaces')")
    assert page.is_enabled("#accept")
    # What cannot be meant is told at the field.
    page.fill("#editor [aria-label='another label']", "two words")
    page.keyboard.press("Enter")
    assert not page.evaluate("document.activeElement.validity.valid")
    fixes(page, 4)


def test_columns_stand_under_the_words_and_heads_are_set_by_keys(serve: Any, page: Any) -> None:
    served = serve("arcs", sentences=parse_conllu(ROWS))
    page.goto(served.url)
    page.click("#tab-queue")
    page.click("#queue li:first-child button")
    page.wait_for_selector("#accept:not(:disabled)")
    assert page.text_content('[data-tag="1"]') == "VERB VBZ aller "
    assert page.text_content(".token") == "du"
    page.click("#columns summary")
    page.check("#columns [value=feats]")
    assert page.text_content('[data-tag="0"]') == "PRON PRP il Number=Sing "
    page.click("#columns summary")
    if AXE.exists():
        assert not faults(page)
    page.click("#outline")
    page.locator(".outline .item", has_text="parc").first.click()
    assert page.text_content("#editor h2") == "Head of “parc”"
    if AXE.exists():
        assert not faults(page)
    page.click("#outline")

    page.click('.word[data-word="5"]')
    assert page.text_content("#in-hand").startswith("Now click the head of “.”")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    fixes(page, 1)
    wait(page, "document.querySelector('.arc[data-modifier=\"5\"]').dataset.head === '5'")
    page.click('.word[data-word="4"]')
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("0")
    wait(page, "document.querySelector('.arc[data-modifier=\"4\"]').dataset.head === '0'")

    # What contradicts an earlier correction names it.
    page.click('.word[data-word="1"]')
    page.click('.word[data-word="5"]')
    fixes(page, 3)
    assert "it contradicts: “parc” is the root" in page.text_content("#fixes .unmet")
    page.keyboard.press("u")
    fixes(page, 2)
    page.click('.word[data-word="4"]')

    page.keyboard.press("ArrowDown")
    assert page.text_content("#editor h2") == "Tags, lemma and features"
    assert page.input_value("#editor [aria-label=lemma]") == "parc"
    page.fill("#editor [aria-label=lemma]", "le parc")
    page.keyboard.press("Enter")
    assert not page.evaluate("document.activeElement.validity.valid")
    page.fill("#editor [aria-label=lemma]", "jardin")
    page.keyboard.press("Enter")
    fixes(page, 3)
    page.fill("#editor [aria-label=UPOS]", "NOM")
    page.keyboard.press("Enter")
    fixes(page, 4)
    assert "NOM is not a universal tag: add it?" in page.text_content("#fixes .unmet")
    assert page.is_disabled("#accept")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    fixes(page, 3)
    text = page.input_value("#by-hand")
    assert "\n3-4\tdu\t" in text
    assert "\n5\tparc\tjardin\tNOUN\tNN\t_\t0\t" in text


def test_the_treebank_is_paged_and_ticked_trees_are_exported_as_pictures(serve: Any, page: Any) -> None:
    page.goto(serve().url)
    page.click("#tab-treebank")
    page.wait_for_selector("#bank-pages:not([hidden])")
    assert page.text_content("#bank-end") == "– 50 of 300"
    page.fill("#bank-place", "290")
    page.keyboard.press("Enter")
    wait(page, "document.querySelectorAll('#bank li').length === 11")
    assert page.text_content("#bank-end") == "– 300 of 300"
    assert page.is_disabled("#bank-after")
    page.locator("#bank li input").nth(0).check()
    page.click("#bank-before")
    wait(page, "document.getElementById('bank-end').textContent === '– 289 of 300'")
    page.locator("#bank li input").nth(3).check()
    assert page.text_content("#export-what") == "Export the 2 ticked"
    page.click("#export summary")
    with page.expect_download() as got:
        page.click("[data-export=png]")
    with zipfile.ZipFile(got.value.path()) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == ["treebank-0001.png", "treebank-0002.png"]
        assert all(packed.read(name).startswith(b"\x89PNG") for name in packed.namelist())
    page.click("#untick")
    wait(page, "document.getElementById('export-what').textContent === 'Export these'")
    # How improbable a tree is stands beside it where the order asks for it, else its number.
    page.select_option("#tree-order", "doubtful")
    wait(page, "document.getElementById('bank-line').textContent.includes('log p')")
    page.select_option("#tree-order", "file")
    wait(page, "!document.getElementById('bank-line').textContent.includes('log p')")
    numbers = page.locator("#bank .n").all_text_contents()
    assert numbers == [str(number) for number in range(int(numbers[0]), int(numbers[0]) + len(numbers))]
