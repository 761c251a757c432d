"""`Operations`: the API, declared by the signatures of functions, on Starlette.

    @operations.on("GET /api/queue")
    def queue(limit: Annotated[int, Field(ge=1, le=200)] = 50) -> QueueAnswer: ...

A parameter whose type is a pydantic model is read from the body, `Request` is the request, all others come from
the query. The return value is written as JSON by its annotation, unless it is a response. Readers and writers are
made when they are first needed, and the OpenAPI document when it is requested, so that the server starts sooner.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from latentgram.web.faults import Fault

Handler = Callable[..., Any]
Document = dict[str, Any]
Problems = Mapping[int, tuple[type[BaseModel], str]]
"""What is answered with a status other than 200, and when."""
_SCHEMAS = "#/components/schemas/{model}"


class Invalid(Exception):
    """A request that is not as it should be; `fault` is the first thing that is wrong."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault


class Operation:
    """One of them: a method, a path, and the function that answers."""

    def __init__(
        self,
        method: str,
        path: str,
        handler: Handler,
        problems: Problems,
        answers: type[BaseModel] | None,
        without_none: bool,
    ) -> None:
        self.method, self.path, self.handler, self.problems = method, path, handler, problems
        self._answers, self._without_none = answers, without_none

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.handler, include_extras=True)

    @cached_property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self.handler).parameters)

    @cached_property
    def _body(self) -> tuple[str, TypeAdapter[Any]] | None:
        """The parameter that is read from the body."""
        models = (name for name in self._parameters if _is_model(self._hints[name]))
        return next(((name, TypeAdapter(self._hints[name])) for name in models), None)

    @cached_property
    def _request(self) -> list[str]:
        return [name for name in self._parameters if self._hints[name] is Request]

    @cached_property
    def _query(self) -> type[BaseModel]:
        """The parameters that come from the query, as one model."""
        empty = inspect.Parameter.empty
        fields: dict[str, Any] = {
            name: (self._hints[name], ... if each.default is empty else each.default)
            for name, each in self._parameters.items()
            if self._hints[name] is not Request and not _is_model(self._hints[name])
        }
        return create_model("Query", __config__=ConfigDict(extra="ignore"), **fields)

    @cached_property
    def answer(self) -> TypeAdapter[Any]:
        """What writes the answer."""
        annotation: Any = self._answers or self._hints["return"]
        return TypeAdapter(annotation)

    async def respond(self, request: Request) -> Response:
        """Answer a request."""
        given = self._from_query(request)
        if self._body is not None:
            name, adapter = self._body
            given[name] = await _from_body(request, adapter)
        given |= dict.fromkeys(self._request, request)
        if inspect.iscoroutinefunction(self.handler):
            answer = await self.handler(**given)
        else:
            answer = await run_in_threadpool(self.handler, **given)
        if isinstance(answer, Response):
            return answer
        return Response(
            self.answer.dump_json(answer, exclude_none=self._without_none), media_type="application/json"
        )

    def _from_query(self, request: Request) -> dict[str, Any]:
        sent: dict[str, Any] = {}
        for name, field in self._query.model_fields.items():
            if values := request.query_params.getlist(name):
                sent[name] = values if get_origin(field.annotation) is list else values[-1]
        try:
            read = self._query.model_validate(sent)
        except ValidationError as error:
            raise Invalid(_first(error, "query")) from None
        return {name: getattr(read, name) for name in self._query.model_fields}

    def adapters(self) -> Iterator[tuple[tuple[str, str], str, TypeAdapter[Any]]]:
        """What has a schema in the document, with a name and whether it is read or written."""
        yield ("query", ""), "validation", TypeAdapter(self._query)
        if self._body is not None:
            yield ("body", ""), "validation", self._body[1]
        yield ("answer", "200"), "serialization", self.answer
        for status, (model, _) in self.problems.items():
            yield ("answer", str(status)), "serialization", TypeAdapter(model)

    def described(self, schemas: Mapping[tuple[str, str], Document]) -> Document:
        """Its part of the document."""
        query = schemas["query", ""]
        told: Document = {
            "summary": self.handler.__name__,
            "description": inspect.getdoc(self.handler) or "",
            "operationId": f"{self.handler.__name__}_{self.method.lower()}",
            "parameters": [
                {"name": name, "in": "query", "required": name in query.get("required", ()), "schema": schema}
                for name, schema in query.get("properties", {}).items()
            ],
            "responses": {
                status: {
                    "description": "The answer." if status == "200" else self.problems[int(status)][1],
                    "content": {"application/json": {"schema": schema}},
                }
                for (part, status), schema in schemas.items()
                if part == "answer"
            },
        }
        if self._body is not None:
            content = {"application/json": {"schema": schemas["body", ""]}}
            told["requestBody"] = {"required": True, "content": content}
        return told


class Operations:
    """All operations of an API; `problems` are the errors that any of them may answer."""

    def __init__(self, title: str, version: str, description: str, problems: Problems) -> None:
        self._info = {"title": title, "version": version, "description": description}
        self._problems = problems
        self._all: list[Operation] = []

    def on(
        self,
        call: str,
        *,
        problems: Problems | None = None,
        answers: type[BaseModel] | None = None,
        without_none: bool = False,
    ) -> Callable[[Handler], Handler]:
        """A decorator: this function answers `GET /api/…`.

        What it `answers` is to be told if it writes a response by itself; `without_none` leaves out what is None.
        """
        method, path = call.split()

        def added(handler: Handler) -> Handler:
            every = {**self._problems, **(problems or {})}
            self._all.append(Operation(method, path, handler, every, answers, without_none))
            return handler

        return added

    def routes(self, document: str) -> list[Route]:
        """The routes of all, and of the OpenAPI document."""

        def described(request: Request) -> Response:
            return Response(json.dumps(self.document), media_type="application/json")

        routes = [Route(each.path, each.respond, methods=[each.method]) for each in self._all]
        return [*routes, Route(document, described)]

    @cached_property
    def document(self) -> Document:
        """The OpenAPI document."""
        inputs = [
            ((number, *key), mode, adapter)
            for number, operation in enumerate(self._all)
            for key, mode, adapter in operation.adapters()
        ]
        made: Any = TypeAdapter.json_schemas(inputs, ref_template=_SCHEMAS)  # type: ignore[arg-type]
        paths: dict[str, Document] = {}
        for number, operation in enumerate(self._all):
            schemas = {key[1:]: schema for (key, _), schema in made[0].items() if key[0] == number}
            paths.setdefault(operation.path, {})[operation.method.lower()] = operation.described(schemas)
        components = {"schemas": made[1].get("$defs", {})}
        return {"openapi": "3.1.0", "info": self._info, "paths": paths, "components": components}


def _is_model(hint: object) -> bool:
    return inspect.isclass(hint) and issubclass(hint, BaseModel)


async def _from_body(request: Request, adapter: TypeAdapter[Any]) -> object:
    """What the body says; what is not sent as JSON is none, and no other page can send JSON unasked."""
    content = await request.body()
    if not content:
        raise Invalid({"type": "missing", "loc": ("body",), "ctx": {}})
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    sent: object = content
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        try:
            sent = json.loads(content)
        except (ValueError, RecursionError):
            raise HTTPException(400) from None
    try:
        return adapter.validate_python(sent)
    except ValidationError as error:
        raise Invalid(_first(error, "body")) from None


def _first(error: ValidationError, place: str) -> Fault:
    """The first thing that is wrong."""
    first = error.errors(include_url=False)[0]
    return {"type": first["type"], "loc": (place, *first["loc"]), "ctx": first.get("ctx", {})}
