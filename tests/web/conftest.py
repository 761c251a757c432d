"""Small models of the demo treebanks, and servers around them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn

import latentgram as lg
from latentgram.web.analysis import Asked, analyse
from latentgram.web.api import create_app
from latentgram.web.session import Session
from web.browser import CHROMIUM, FLAGS

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here (install Debian's chromium)"
)
QUESTIONS = ("The teacher sleeps .", "A teacher saw the dog in the garden of the museum .")


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a PCFG and a deterministic head-automata grammar, and what they were learned from."""
    folder = tmp_path_factory.mktemp("models")
    trees, arcs = lg.demo_treebank(300, seed=0), lg.demo_dependencies(200, seed=0)
    trees.write(folder / "bank.mrg")
    arcs.write(folder / "bank.conllu")
    for name, kind, bank in (("phrases", lg.LPCFG, trees), ("arcs", lg.SHAG, arcs)):
        parser = lg.Parser(lg.fit(kind, bank, by=lg.Counting()))
        lg.save(parser, folder / f"{name}.lg")
        # What is compiled here is not compiled while a browser waits.
        analyse(parser, Asked(bank[0].sentence, count=2))
    return folder


class Served:
    """A session and its server on a port of its own."""

    def __init__(self, session: Session, token: str | None = None, port: int = 0) -> None:
        self.session = session
        self.server = uvicorn.Server(uvicorn.Config(create_app(session, token), port=port, log_level="error"))
        self._thread = threading.Thread(target=self.server.run, daemon=True)
        self._thread.start()
        while not self.server.started:
            assert self._thread.is_alive()
            threading.Event().wait(0.02)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://localhost:{self.port}"
        self.client = httpx.Client(base_url=self.url, timeout=60)

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self.client.post(path, json=body)

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def close(self) -> None:
        self.client.close()
        self.server.should_exit = True
        self._thread.join(20)


@pytest.fixture
def serve(models: Path, tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Makes servers; the model works on a copy of its treebank, in threads unless workers are asked for."""
    made: list[Served] = []

    def start(
        kind: str = "phrases", token: str | None = None, workers: int = 0, port: int = 0, **more: Any
    ) -> Served:
        bank = tmp_path / ("bank.mrg" if kind == "phrases" else "bank.conllu")
        if not bank.exists():
            shutil.copy(models / bank.name, bank)
        sentences = [lg.Sentence.of(text) for text in QUESTIONS]
        settings = {"treebank": bank, "model_path": models / f"{kind}.lg", "sentences": sentences, **more}
        session = Session(lg.load(models / f"{kind}.lg", lg.Parser), workers=workers, **settings)
        made.append(Served(session, token, port))
        return made[-1]

    yield start
    for served in made:
        served.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages that fail the test on any error, and on any request that leaves this machine."""
    wrong: list[str] = []
    contexts: list[Any] = []

    def open_tab(width: int = 1280, height: int = 900, **more: Any) -> Any:
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, reduced_motion="reduce", **more)
        contexts.append(context)
        opened = context.new_page()
        opened.set_default_timeout(20_000)
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.on(
            "request",
            lambda request: urlsplit(request.url).hostname in ("localhost", None) or wrong.append(request.url),
        )
        return opened

    yield open_tab
    for context in contexts:
        context.close()
    assert not wrong, wrong


@pytest.fixture
def page(tab: Callable[..., Any]) -> Any:
    """A page of the usual size."""
    return tab()
