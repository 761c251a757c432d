"""Take the pictures of the page for the README and the guide: `python docs/take_screenshots.py`.

Serves a latent grammar of the demo treebank, opens the page in Chromium, corrects a tree, and writes
docs/_static/page.png and page-dark.png. Needs `playwright` and a Chromium (`CHROMIUM`, or `chromium` on the path).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

import uvicorn
from playwright.sync_api import Page, sync_playwright

import latentgram as lg
from latentgram.web.api import create_app
from latentgram.web.session import Session

STATIC = Path(__file__).parent / "_static"
SENTENCE = "The old teacher saw a dog with the telescope in the garden of the museum ."
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def serve(folder: Path) -> tuple[uvicorn.Server, str]:
    """A server on a free port with a grammar of the demo treebank."""
    bank = lg.demo_treebank(1500, seed=0)
    bank.write(folder / "garden.mrg")
    parser = lg.Parser(lg.fit(lg.LPCFG, bank, by=lg.Clustering(states=4)))
    lg.save(parser, folder / "garden.lg")
    waiting = [lg.Sentence(tree.words) for tree in lg.demo_treebank(40, seed=7)]
    session = Session(
        parser,
        model_path=folder / "garden.lg",
        treebank=folder / "garden.mrg",
        sentences=waiting,
        workers=1,
    )
    server = uvicorn.Server(uvicorn.Config(create_app(session), port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        threading.Event().wait(0.05)
    return server, f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}/"


def take(page: Page, address: str) -> None:
    """Parse, accept a few trees of the queue, correct one, and look."""
    page.goto(address)
    page.wait_for_function("document.getElementById('queue-count').textContent > 0")
    page.click("#tab-queue")
    page.wait_for_function("document.querySelectorAll('#queue button').length > 30")
    page.click("#queue button")
    for done in range(6):
        page.wait_for_selector("#accept:not(:disabled)")
        page.click("#accept")
        page.wait_for_function(
            f"document.getElementById('learning').textContent.startsWith('{done + 1} accepted')"
        )
        page.wait_for_timeout(500)
    page.fill("#sentence", SENTENCE)
    page.click("#parse")
    page.wait_for_function("document.querySelectorAll('.word').length == 15")
    page.wait_for_timeout(800)


def main() -> None:
    """Write the pictures."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        server, address = serve(Path(folder))
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        for scheme, name in (("light", "page.png"), ("dark", "page-dark.png")):
            page = browser.new_page(
                viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
            )
            take(page, address)
            page.locator(".node[data-label=PP]").first.hover()
            page.screenshot(path=STATIC / name)
            page.close()
        browser.close()
        server.should_exit = True


if __name__ == "__main__":
    main()
