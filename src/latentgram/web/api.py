"""The JSON API of the page, documented by OpenAPI at `/api/openapi.json`, and the page itself.

The files of the page are read when the application is created and served by name from a table: no path in a
request ever reaches the file system.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import resources
from typing import Annotated, Literal

from pydantic import Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import latentgram
from latentgram.data.dependencies import UNIVERSAL_TAGS
from latentgram.data.treebank import DEPENDENCY
from latentgram.errors import LatentgramError, SettingError, a_or_an
from latentgram.kinds.looks import Look
from latentgram.web import schemas
from latentgram.web.analysis import answer, entropies
from latentgram.web.bank import Entry, doubts_of
from latentgram.web.editing.question import ParseRequest
from latentgram.web.faults import in_words, told
from latentgram.web.guard import Guard
from latentgram.web.heldout import score_part
from latentgram.web.history import Measured, Taken
from latentgram.web.operations import Invalid, Operations
from latentgram.web.routes.people import add_people
from latentgram.web.routes.queue import add_queue, progress_of, scored
from latentgram.web.routes.treebank import add_treebank
from latentgram.web.session import Session
from latentgram.web.workers import Busy, GivenUp

logger = logging.getLogger("latentgram")
PARSE_SECONDS = 60.0
"""A parse that takes longer is given up."""
NOT_JSON, NO_PAGE = "the body of the request is not JSON", "there is no such page"
_SCORED_TOGETHER = 4
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

_PROBLEMS = {
    400: "The request is not JSON.",
    401: "A token is needed.",
    403: "Not from here.",
    413: "The request is too long.",
    422: "The request is invalid; `detail` says why.",
    499: "The client went away.",
    503: "It took too long, or all workers are busy.",
}


def create_app(session: Session, token: str | None = None) -> Starlette:
    """The application around a session; with a token every request to the API must carry it."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        session.start()
        tasks = [asyncio.create_task(work(session)) for work in (_score_queue, _score_bank, _measure)]
        yield
        for task in tasks:
            task.cancel()
        session.close()

    operations = Operations(
        "latentgram",
        latentgram.__version__,
        "Parse, correct and learn: the API behind the page of `latentgram serve`.",
        {status: (schemas.Problem, description) for status, description in _PROBLEMS.items()},
    )
    _add_parsing(operations, session)
    _add_learning(operations, session)
    add_queue(operations, session)
    add_treebank(operations, session)
    add_people(operations, session)
    _add_model(operations, session)
    return Starlette(
        routes=[*operations.routes("/api/openapi.json"), *_page_routes()],
        middleware=[Middleware(Guard, token=token)],
        exception_handlers=_errors(),
        lifespan=lifespan,
    )


def _problem(status: int, detail: str) -> Response:
    return JSONResponse({"detail": detail}, status)


def _errors() -> dict[type[Exception], Callable[[Request, Exception], Response]]:
    """What is answered when something is wrong."""

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, Invalid)
        return _problem(422, told(error.fault))

    def unanswered(request: Request, error: Exception) -> Response:
        """What is refused before anybody is asked: bytes that are no text, deep nesting, other paths."""
        assert isinstance(error, HTTPException)
        words = {400: NOT_JSON, 404: NO_PAGE, 405: "this cannot be done there"}
        return _problem(error.status_code, words.get(error.status_code, error.detail))

    def busy(request: Request, error: Exception) -> Response:
        return _problem(503, str(error))

    def given_up(request: Request, error: Exception) -> Response:
        return _problem(499, "the client went away")

    def taken(request: Request, error: Exception) -> Response:
        assert isinstance(error, Taken)
        other = error.other
        told = schemas.Conflict(
            detail=error.message, id=other.id, annotator=other.annotator, time=other.time, tree=other.tree
        )
        return JSONResponse(told.model_dump(), 409)

    def wrong(request: Request, error: Exception) -> Response:
        assert isinstance(error, LatentgramError)
        return _problem(422, in_words(error))

    return {
        Invalid: invalid,
        HTTPException: unanswered,
        Busy: busy,
        GivenUp: given_up,
        Taken: taken,
        LatentgramError: wrong,
    }


def _add_parsing(operations: Operations, session: Session) -> None:
    @operations.on("POST /api/parse", answers=schemas.ParseAnswer)
    async def parse(asked: ParseRequest, request: Request) -> Response:
        """Parse a sentence, obeying what is known of its tree. Hanging up ends the work."""
        question, guessed = await asyncio.to_thread(session.question, asked)
        content = await session.workers.run(
            answer,
            question,
            session.version,
            guessed,
            limit=PARSE_SECONDS,
            gone=request.is_disconnected,
            fresh=False,
        )
        return Response(content, media_type="application/json")

    @operations.on("POST /api/sentences")
    def sentences(asked: schemas.TextRequest) -> schemas.TextAnswer:
        """Cut text into sentences and words, as `latentgram parse` does."""
        cut = session.cut(asked.text, asked.tokenised)
        return schemas.TextAnswer(
            sentences=[schemas.CutSentence(words=each.words, space_after=each.space_after) for each in cut]
        )


def _add_learning(operations: Operations, session: Session) -> None:
    @operations.on("GET /api/status")
    def status() -> schemas.Status:
        """All that the page shows besides parses."""
        return _status(session)

    @operations.on("POST /api/accept", problems={409: (schemas.Conflict, "It has a tree already.")})
    def accept(asked: schemas.AcceptRequest) -> schemas.AcceptAnswer:
        """Append a tree to the treebank and learn from it. The same `id` is carried out once."""
        started = time.perf_counter()
        tree = session.annotations.parse(asked.tree)
        proposed = None if asked.proposed is None else session.annotations.parse(asked.proposed)
        annotator = asked.annotator or session.annotator
        entry, updated = session.accept(asked.id, tree, proposed, asked.fixes, asked.queue, annotator, asked.over)
        return schemas.AcceptAnswer(
            version=session.version,
            absorbed=updated,
            refitting=session.refit.running,
            accepted=len(session.annotations.history),
            agreement=entry.agreement,
            milliseconds=1000 * (time.perf_counter() - started),
        )

    @operations.on("POST /api/refit")
    def refit() -> schemas.Refit:
        """Begin to retrain the model from all trees."""
        session.start_refit()
        return _refit(session)

    @operations.on("DELETE /api/refit")
    def cancel() -> schemas.Refit:
        """Give up learning again."""
        session.refit.cancel()
        return _refit(session)

    @operations.on("POST /api/model/save")
    def save() -> schemas.Problem:
        """Write the model that was retrained over the model file."""
        return schemas.Problem(detail=f"saved as {session.save()}")


def _status(session: Session) -> schemas.Status:
    phrases, tags, relations = session.labels()
    waiting = session.queue.waiting
    history, path = session.annotations.history, session.annotations.path
    return schemas.Status(
        instance=session.instance,
        version=session.version,
        kind=session.kind,
        summary=session.parser.summary(),
        model="unsaved model" if session.model_path is None else session.model_path.name,
        learner=session.parser.model.provenance.learner,
        treebank=None if path is None else path.name,
        accepted=len(history),
        history=[
            schemas.Point(agreement=each.agreement, fixes=each.fixes, words=each.words) for each in history[-500:]
        ],
        heldout=None if session.heldout is None else [_point(each) for each in session.heldout.curve],
        refit=_refit(session),
        queue=len(waiting),
        scored=scored(waiting),
        phrase_labels=phrases,
        tags=tags,
        relations=relations,
        universal_tags=sorted(UNIVERSAL_TAGS),
        needs_tags=session.kind == DEPENDENCY and not (session.parser.tagger or session.guesser),
        max_words=schemas.MAX_WORDS,
        saved=session.saved,
        warming=session.workers.warming,
        annotator=session.annotator,
        guidelines=session.guidelines,
        progress=progress_of(session),
    )


def _point(measured: Measured) -> schemas.HeldOutPoint:
    return schemas.HeldOutPoint(version=measured.version, accepted=measured.accepted, score=measured.score)


def _refit(session: Session) -> schemas.Refit:
    now = session.refit
    state: Literal["running", "failed", "idle"] = "running" if now.running else "failed" if now.failure else "idle"
    return schemas.Refit(
        state="impossible" if session.why_not_refit else state,
        reason=session.why_not_refit or now.failure,
        stage=now.stage if now.running else None,
        done=now.done,
        total=now.total,
        seconds=now.seconds,
        pending=session.pending,
    )


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """What goes wrong with a piece of work in the background does not end it all; a defect is told in the log."""
    try:
        yield
    except (LatentgramError, OSError):
        pass
    except Exception:
        logger.exception("work in the background failed")


async def _score_queue(session: Session) -> None:
    """Find out how uncertain the parser is of the sentences in the queue, a few at a time, for ever.

    Acceptances change that too little to begin again each time; learning again does not.
    """
    while True:
        batch = session.queue.unscored(session.learned_version, _SCORED_TOGETHER)
        if not batch:
            await asyncio.sleep(0.5)
            continue
        version = session.version
        with _apart():
            sentences = [session.tagged(item.sentence)[0] for item in batch]
            told = await session.workers.run(entropies, sentences, limit=PARSE_SECONDS, background=True)
            for item, entropy in zip(batch, told, strict=True):
                item.entropy = entropy
        for item in batch:
            item.version = version
        await asyncio.sleep(0.01)


async def _score_bank(session: Session) -> None:
    """Find out how improbable the trees of the treebank are, a few at a time, once somebody has asked for it."""
    while True:
        entries: list[Entry] = []
        with _apart():
            entries = await asyncio.to_thread(session.bank.entries) if session.doubts_wanted else []
        batch = [entry for entry in entries if entry.text not in session.bank.doubts][:_SCORED_TOGETHER]
        if not batch:
            await asyncio.sleep(0.5)
            continue
        told: list[float | None] = [None] * len(batch)
        with _apart():
            trees = [session.bank.tree(entry) for entry in batch]
            told = await session.workers.run(doubts_of, trees, limit=PARSE_SECONDS, background=True)
        for entry, doubt in zip(batch, told, strict=True):
            session.bank.doubts[entry.text] = 0.0 if doubt is None else max(doubt, -1e9)
        await asyncio.sleep(0.01)


async def _measure(session: Session) -> None:
    """Measure every new version of the parser on the held-out trees, a few at a time, for ever."""
    heldout = session.heldout
    while heldout is not None:
        version = session.version
        part = heldout.part(version)
        if part is None:
            await asyncio.sleep(0.5)
            continue
        accepted, rest = len(session.annotations.history), 5.0
        with _apart():
            score = await session.workers.run(score_part, part, limit=PARSE_SECONDS, background=True)
            made = heldout.add(version, score, len(part), accepted)
            if made is not None:
                await asyncio.to_thread(session.annotations.note, made)
            rest = 0.01
        await asyncio.sleep(rest)


def _add_model(operations: Operations, session: Session) -> None:
    @operations.on("GET /api/model")
    def model() -> schemas.ModelAnswer:
        """What the model is, and its symbols, the most frequent first."""
        model, inside = session.parser.model, session.inside
        return schemas.ModelAnswer(
            summary=model.summary(),
            learner=model.provenance.learner,
            settings=model.provenance.fields,
            data_size=model.provenance.data_size,
            seconds=model.provenance.seconds,
            symbols=[] if inside is None else inside.symbols(),
        )

    @operations.on("GET /api/model/symbol")
    def symbol(
        name: Annotated[str, Field(min_length=1, max_length=200)],
        direction: Literal["left", "right"] = "left",
        clusters: Annotated[int, Field(ge=1, le=20)] = 6,
    ) -> Look:
        """What the hidden states of a symbol (or of a head and direction) mean."""
        if session.inside is None:
            kind = a_or_an(type(session.parser.model).__name__)
            raise SettingError(f"{kind} has no hidden states to show")
        return session.inside.look(name, direction, clusters)


def _page_routes() -> list[Route]:
    """The files of the page."""
    folder = resources.files("latentgram.web") / "static"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}

    async def file(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        content = files.get(name)
        if content is None:
            return _problem(404, NO_PAGE)
        return Response(content, media_type=_KINDS["." + name.rsplit(".", 1)[-1]])

    return [Route("/", file), Route("/{name}", file)]
