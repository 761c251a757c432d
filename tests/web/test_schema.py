"""The API against its own OpenAPI document: what a client makes of it, right or nearly, is answered as it says.

FUZZ_EXAMPLES sets how many requests of each kind are made, one for a hundred files of the readers' (`make fuzz`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, checks

import latentgram as lg
from latentgram.web.session import Session
from web.conftest import Served

EXAMPLES = max(6, int(os.environ.get("FUZZ_EXAMPLES", "0")) // 100)
OPERATIONS = (
    "POST /api/parse",
    "POST /api/sentences",
    "POST /api/accept",
    "GET /api/status",
    "POST /api/refit",
    "DELETE /api/refit",
    "POST /api/model/save",
    "GET /api/queue",
    "POST /api/queue",
    "POST /api/queue/assign",
    "POST /api/queue/take",
    "POST /api/note",
    "GET /api/trees",
    "PUT /api/trees",
    "POST /api/trees/delete",
    "POST /api/undo",
    "GET /api/changes",
    "GET /api/past",
    "POST /api/export",
    "GET /api/people",
    "POST /api/settle",
    "GET /api/model",
    "GET /api/model/symbol",
)
CHECKS = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
)


@pytest.fixture(scope="module")
def served(models: Path) -> Iterator[Served]:
    made = Served(Session(lg.load(models / "phrases.lg", lg.Parser), workers=0))
    yield made
    made.close()


def test_every_operation_is_tried(served: Served) -> None:
    paths = served.get("/api/openapi.json")["paths"]
    assert {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods} == set(OPERATIONS)


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        *((operation, GenerationMode.POSITIVE) for operation in OPERATIONS),
        *((operation, GenerationMode.NEGATIVE) for operation in (*OPERATIONS[:3], "POST /api/queue")),
    ],
)
def test_answers_are_as_documented(served: Served, operation: str, mode: GenerationMode) -> None:
    method, path = operation.split()
    document = schemathesis.openapi.from_dict(served.get("/api/openapi.json"))

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="FUZZ_EXAMPLES" not in os.environ,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=document[path][method].as_strategy(generation_mode=mode))
    def try_it(case: schemathesis.Case) -> None:
        answer = case.call(base_url=served.url)
        case.validate_response(answer, checks=CHECKS)

    try_it()
