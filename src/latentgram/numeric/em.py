"""Expectation–maximisation: one loop for all models.

With hidden variables h, data x and parameters θ, each round computes

    expect:    s(θ) = E[statistics of (x, h) | x, θ], and with it the bound log p(x | θ)
    maximise:  θ' = argmax E[log p(x, h | θ')] = a closed form of s(θ)

so that the bound never falls (a smoothed `maximise` may lower it). The statistics, and how they are summed
over shards, are defined by the model; the loop reports, keeps the best round by a score on held-out data if one
is given, and stops. Cost: one pass over the data per round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from latentgram.progress import Progress, Silent

Model = TypeVar("Model")
Statistics = TypeVar("Statistics")


@dataclass(frozen=True)
class Ascent(Generic[Model]):
    """What EM ends with: the chosen model, the round it is of (0 is the start), and one record a round.

    `trace[i]["bound"]` is the bound of the model *before* round i + 1, since a round learns it on the way.
    """

    model: Model
    round: int
    trace: tuple[dict[str, float], ...]


def ascend(
    start: Model,
    expect: Callable[[Model], tuple[Statistics, float]],
    maximise: Callable[[Statistics], Model],
    *,
    iterations: int,
    tolerance: float = 0.0,
    score: Callable[[Model], float] | None = None,
    score_every: int = 1,
    progress: Progress | None = None,
    stage: str = "EM",
) -> Ascent[Model]:
    """Climb from `start` for at most `iterations` rounds.

    `expect` gives the expected statistics and the bound; a rise of the bound by less than `tolerance` times its
    size ends the climb. With `score` (higher is better) the best of every `score_every`-th model is returned,
    else the last.

    A coin of unknown bias, seen twice head and once hidden:

    >>> found = ascend(0.5, lambda p: (2 + p, 0.0), lambda heads: heads / 3, iterations=50)
    >>> round(found.model, 6), found.round
    (1.0, 50)
    """
    show = (progress or Silent()).step
    best, best_score = ((start, 0), score(start)) if score else (None, -float("inf"))
    model = start
    del start  # models may be large: what is not asked for again is let go
    trace: list[dict[str, float]] = []
    for done in range(1, iterations + 1):
        statistics, bound = expect(model)
        model = maximise(statistics)
        del statistics
        record = {"round": float(done), "bound": bound}
        last = done == iterations or (
            tolerance > 0 and bool(trace) and bound - trace[-1]["bound"] < tolerance * abs(bound)
        )
        if score and (last or done % score_every == 0):
            record["score"] = score(model)
            if record["score"] > best_score:
                best, best_score = (model, done), record["score"]
        show(stage, done, iterations, **{name: record[name] for name in record if name != "round"})
        trace.append(record)
        if last:
            break
    return Ascent(*(best or (model, len(trace))), tuple(trace))
