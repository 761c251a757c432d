"""How long does a cluster take, for how many trees, states and workers, behind what network? Up to 10^9 sentences.

The model. N sentences, m states, W workers of one core each, client and scheduler on one machine behind a network
of B bytes/s. A pass over the data is a pipeline whose slowest stage sets the pace:

    work      N · c(m) / W              c(m) = a + b · m^p seconds of a worker's core a sentence
    network   (N · d + G · R(m)) / B    d bytes out and back a sentence, R(m) = r · m^q those of one sum of counts
    client    N · s + G · u · R(m) + K · h    seconds for each sentence, byte of counts, and one of K tasks

B is at most what client and scheduler can move at all, which is measured as bytes a second of their processor.
Before a pass the model, or the parameters of the round (R(m) bytes), go to the first worker and from worker to
worker, and are unpacked: (1 + log2 W) · R(m) / B + w · R(m). Parsing is one pass with K = N / 64 and no sums. A
round of EM has G = K = √(N / 4096) sums and can use no more workers than that; after it the client makes new
parameters, v · R(m). Where all share one machine, a pass is no faster than all of its work on its cores; the
sum of all work is also what a pass costs in processor time, which can be measured on a machine that has other
things to do.

Set-up: the constants are measured first, in this run and in one process, on the training part of the wsj sample
under LATENTGRAM_DATA (generated trees where it is not set) with 2, 4 and 16 states, times being processor time;
only h and the bytes a second need a cluster, of one worker on this machine. Then two points that took no part in
the fit, with other numbers of sentences, states and workers, are run on a cluster of two workers: the processor
time of all processes, and the time on the clock, which says something only on a machine with nothing else to do
(the load beside it should be below 1). The grammar is that of this treebank whatever N is; a larger treebank has
more rules, which is R and not the shape of the model.

Conclusion (results/cluster_constants.csv, cluster_check.csv, cluster_cost.csv, cluster_parse.svg, cluster_em.svg):
parsing is bound by the workers until there are as many as one client can feed, and by the client from there on;
rounds of EM wait for the network where there are many workers: for the counts that come back where trees are few,
for the trees, which are sent in every round, where they are many. Of the processor time at the two held-out points
the model foretells 73 % and 93 %: its times are lower bounds.

    python benchmarks/model_cluster_cost.py
"""

from __future__ import annotations

import os
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import inf, log2, log10, sqrt
from operator import iadd
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

import latentgram as lg
from harness import explain, write_rows
from latentgram.lpcfg import em_steps
from latentgram.lpcfg.clustering import states_by_count
from latentgram.lpcfg.em import random_counts
from latentgram.lpcfg.settings import EMLPCFG
from latentgram.lpcfg.statistics import GrammarData
from latentgram.parallel import Cluster, InProcess, shards
from latentgram.parallel.wire import pack, unpack
from latentgram.parser.answers import Question, Request, _Job, answers
from latentgram.parser.parser import BATCH
from latentgram.view.plots import line_plot

RESULTS = Path(__file__).parent / "results"
FIT = (2, 4, 16)
HELD_OUT = 8
PARSED, CHECKED = 256, 2560
COPIES = 32
"""Times that the treebank is repeated for the held-out round of EM, so that there are several sums."""
GIGABIT = 1e9 / 8


@dataclass(frozen=True)
class Power:
    """base + factor · m^exponent, the exponent among a few, fitted by least squares of relative errors."""

    base: float
    factor: float
    exponent: float

    def __call__(self, states: int) -> float:
        """The value for a number of states."""
        return self.base + self.factor * states**self.exponent

    @classmethod
    def fit(cls, states: Sequence[int], values: Sequence[float], *, based: bool = True) -> Power:
        """The curve through some values, with or without a base."""
        found = []
        for exponent in np.arange(0.5, 3.51, 0.1):
            columns = [np.ones(len(states)), np.power(states, exponent, dtype=float)][0 if based else 1 :]
            table = np.column_stack(columns) / np.array(values)[:, None]
            solution, *_ = np.linalg.lstsq(table, np.ones(len(values)))
            if solution.min() >= 0:
                found.append((float(np.sum((table @ solution - 1) ** 2)), exponent, solution))
        _, exponent, solution = min(found, key=lambda each: each[0])
        return cls(*([0.0] * (not based)), *map(float, solution), float(exponent))


@dataclass(frozen=True)
class Costs:
    """The constants of one kind of pass, in seconds and bytes."""

    work: Power
    model: Power
    exchanged: float
    client: float
    unpacking: float
    summing: float = 0.0
    finishing: float = 0.0


@dataclass(frozen=True)
class Machine:
    """What is behind the network."""

    workers: int
    bandwidth: float
    task: float
    loopback: float
    cores: float = inf


def seconds(costs: Costs, machine: Machine, sentences: float, states: int, *, em: bool) -> tuple[float, str]:
    """The time of a pass, and what sets it."""
    parts = sentences / em_steps.SHARD
    sums = max(1.0, sqrt(parts)) if em else 0.0
    tasks = sums if em else max(1.0, sentences / BATCH)
    workers = min(machine.workers, tasks)
    size, bandwidth = costs.model(states), min(machine.bandwidth, machine.loopback)
    stages = {
        "work": sentences * costs.work(states) / workers,
        "network": (sentences * costs.exchanged + sums * size) / bandwidth,
        "client": sentences * costs.client + sums * size * costs.summing + tasks * machine.task,
    }
    stages["cores"] = processor(costs, machine, sentences, states, em=em) / machine.cores
    first = (1 + log2(workers)) * size / bandwidth + costs.unpacking * size
    bound = max(stages, key=lambda name: stages[name])
    around = first + costs.finishing * size
    return stages[bound] + around, bound if stages[bound] >= around else "parameters"


def processor(costs: Costs, machine: Machine, sentences: float, states: int, *, em: bool) -> float:
    """The processor time of a pass, summed over all machines."""
    sums = max(1.0, sqrt(sentences / em_steps.SHARD)) if em else 0.0
    tasks = sums if em else max(1.0, sentences / BATCH)
    size = costs.model(states)
    return (
        sentences * (costs.work(states) + costs.client + costs.exchanged / machine.loopback)
        + sums * size * (costs.summing + 1 / machine.loopback)
        + tasks * machine.task
        + size * (1 / machine.loopback + costs.finishing + min(machine.workers, tasks) * costs.unpacking)
    )


def timed(work: Callable[[], Any], runs: int = 3) -> tuple[float, Any]:
    """The least processor time of some runs after one that compiles."""
    result, times = work(), []
    for _ in range(runs):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return min(times), result


class Em:
    """Rounds of EM on a treebank, as the learner makes them."""

    def __init__(self, treebank: Any, states: int) -> None:
        learner = EMLPCFG(states=states)
        data = GrammarData.of(treebank, learner, InProcess())
        self.derivations = data.derivations
        self.states = states_by_count(data, states)
        self.shards = em_steps.shards_of(self.derivations)
        random = np.random.default_rng(0)
        self.grammar = self.maximised(random_counts(self.derivations, self.states, random))

    def maximised(self, counts: Any) -> Any:
        """The grammar of counts."""
        return em_steps.maximise(self.derivations, self.states, counts, 10.0, 5.0, InProcess())

    def expected(self, engine: Any) -> Any:
        """The counts of the grammar."""
        return em_steps.expect(self.shards, self.grammar, engine)[0]


def em_costs(treebank: Any) -> Costs:
    number = len(treebank)
    rounds = {states: Em(treebank, states) for states in FIT}
    work, size = [], []
    for each in rounds.values():
        packed = pack(each.shards)
        unpacking, _ = timed(partial(unpack, packed))
        working, counts = timed(lambda each=each: each.expected(InProcess()))  # type: ignore[misc]
        work.append((working + unpacking) / number)
        size.append(len(pack(counts)))
    one, last = pack(counts), rounds[FIT[-1]]
    adding, _ = timed(lambda: iadd(unpack(one), counts))
    reading, _ = timed(lambda: unpack(pack(last.grammar)))
    sending, _ = timed(lambda: pack(last.shards))
    making, _ = timed(lambda: last.maximised(counts))
    return Costs(
        Power.fit(FIT, work),
        Power.fit(FIT, size, based=False),
        exchanged=len(pack(last.shards)) / number,
        client=sending / number,
        unpacking=reading / len(one),
        summing=adding / len(one),
        finishing=making / len(one),
    )


def questions(treebank: Any) -> list[Question]:
    """The sentences in a random order: parsing depends on length, and a treebank is not of one piece."""
    sentences = treebank.sentences()
    return [Question(sentences[i]) for i in np.random.default_rng(0).permutation(len(sentences))]


def parser_of(treebank: Any, states: int) -> lg.Parser:
    return lg.Parser(lg.fit(lg.LPCFG, treebank, by=lg.EM(states=states, iterations=2)))


def parse_costs(treebank: Any) -> Costs:
    batches = list(shards(questions(treebank)[:PARSED], BATCH))
    work, size = [], []
    for states in FIT:
        job = _Job(parser_of(treebank, states), Request(), False)
        working, written = timed(lambda job=job: [job(batch) for batch in batches], 1)  # type: ignore[misc]
        work.append(working / PARSED)
        size.append(len(pack(job)))
    sending, sent = timed(lambda: [pack(batch) for batch in batches])
    back = [pack(each) for each in written]
    taking, _ = timed(lambda: [unpack(each) for each in back])
    packed = pack(job)
    begin = time.process_time()
    unpack(packed)(batches[0][:1])  # a worker's first sentence: the model is unpacked and its indices are made
    starting = time.process_time() - begin
    return Costs(
        Power.fit(FIT, work),
        Power.fit(FIT, size, based=False),
        exchanged=sum(map(len, (*sent, *back))) / PARSED,
        client=(sending + taking) / PARSED,
        unpacking=starting / len(packed),
    )


def cluster_constants() -> tuple[float, float]:
    """Seconds of client and scheduler for a task, and bytes a second that they can move."""
    with started(1) as client:
        engine = Cluster(client)
        list(engine.map(abs, range(50)))
        begin = time.process_time()
        list(engine.map(abs, range(500)))
        task = (time.process_time() - begin) / 500
        ballast = [np.random.default_rng(seed).bytes(1 << 24) for seed in range(8)]
        before, begin = engine.sent + engine.received, time.process_time()
        list(engine.map(bytes, ballast))
        return task, (engine.sent + engine.received - before) / (time.process_time() - begin)


class started:
    """A cluster on this machine."""

    def __init__(self, workers: int) -> None:
        make: Any = LocalCluster
        self.cluster = make(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        self.client: Any = Client(self.cluster)  # type: ignore[no-untyped-call]

    def __enter__(self) -> Any:
        return self.client

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.cluster.close()


def checks(treebank: Any, machine: Machine, em: Costs, parsing: Costs) -> list[dict[str, object]]:
    """Two points that the constants were not fitted to."""
    rows: list[dict[str, object]] = []

    def row(what: str, costs: Costs, sentences: int, runs: list[tuple[float, float]]) -> None:
        clock, used = (statistics.median(values) for values in zip(*runs, strict=True))
        given = (costs, machine, sentences, HELD_OUT)
        model = processor(*given, em=what != "parse")
        wall, bound = seconds(*given, em=what != "parse")
        rows.append(
            {
                "pass": what,
                "sentences": sentences,
                "states": HELD_OUT,
                "workers": machine.workers,
                "processor s": f"{used:.2f}",
                "model processor s": f"{model:.2f}",
                "model / measured": f"{model / used:.2f}",
                "clock s": f"{clock:.2f}",
                "model clock s": f"{wall:.2f}",
                "bound by": bound,
                "load": f"{os.getloadavg()[0]:.1f}",
            }
        )
        print(*rows[-1].values(), sep="\t", flush=True)

    def run(work: Callable[[], Any]) -> tuple[float, float]:
        """Seconds on the clock, and of all processors."""
        before = time.process_time() + sum(client.run(time.process_time).values())
        begin = time.perf_counter()
        work()
        clock = time.perf_counter() - begin
        return clock, time.process_time() + sum(client.run(time.process_time).values()) - before

    with started(machine.workers) as client:
        engine = Cluster(client)
        parser = parser_of(treebank, HELD_OUT)
        asked = questions(treebank)
        list(answers(parser, asked[: 8 * BATCH], engine=engine))  # both workers load what is compiled
        parsed = [run(lambda: list(answers(parser, asked[-CHECKED:], engine=engine)))]
        row("parse", parsing, CHECKED, parsed)
        many = treebank.select(np.tile(np.arange(len(treebank)), COPIES))
        climb = Em(many, HELD_OUT)
        rounds = [run(lambda: climb.maximised(climb.expected(engine))) for _ in range(4)]
        row("a round of EM", em, len(many), rounds[1:])
    return rows


def predictions(task: float, loopback: float, em: Costs, parsing: Costs) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for what, costs in (("parse", parsing), ("a round of EM", em)):
        for states in (4, 16):
            for gigabits in (1, 10):
                for workers in (1, 8, 64, 512):
                    for exponent in range(3, 10):
                        machine = Machine(workers, gigabits * GIGABIT, task, loopback)
                        found, bound = seconds(costs, machine, 10.0**exponent, states, em=what != "parse")
                        rows.append(
                            {
                                "pass": what,
                                "sentences": 10**exponent,
                                "states": states,
                                "workers": workers,
                                "Gbit/s": gigabits,
                                "seconds": f"{found:.3g}",
                                "bound by": bound,
                            }
                        )
    return rows


def draw(rows: list[dict[str, object]], what: str, path: Path) -> None:
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row["pass"] == what and row["states"] == 16:
            name = f"{row['workers']} workers, {row['Gbit/s']} Gbit/s"
            point = log10(float(str(row["sentences"]))), log10(float(str(row["seconds"])))
            series.setdefault(name, []).append(point)
    title = f"{what[0].upper()}{what[1:]}, 16 states"
    path.write_text(line_plot(series, title=title, x_label="log10 of sentences", y_label="log10 of seconds"))


def write(name: str, rows: list[dict[str, object]]) -> None:
    write_rows(RESULTS / name, rows)


def flat(costs: Costs) -> dict[str, str]:
    found = {}
    for name, value in asdict(costs).items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        found |= {f"{name} {part}".strip(): f"{number:.3g}" for part, number in parts}
    return found


def main() -> None:
    folder = os.environ.get("LATENTGRAM_DATA")
    treebank: Any = (
        lg.demo_treebank(3000, seed=0)
        if folder is None
        else lg.Treebank.read(Path(folder) / "constituency/wsj-sample/train.mrg")
    )
    task, loopback = cluster_constants()
    em, parsing = em_costs(treebank), parse_costs(treebank)
    shared = {"task": f"{task:.3g}", "loopback": f"{loopback:.3g}"}
    constants: list[dict[str, object]] = [
        {"pass": what, **flat(costs), **shared} for what, costs in (("parse", parsing), ("a round of EM", em))
    ]
    write("cluster_constants.csv", constants)
    for one in constants:
        print(one)
    machine = Machine(2, inf, task, loopback, cores=2)
    write("cluster_check.csv", checks(treebank, machine, em, parsing))
    rows = predictions(task, loopback, em, parsing)
    write("cluster_cost.csv", rows)
    draw(rows, "parse", RESULTS / "cluster_parse.svg")
    draw(rows, "a round of EM", RESULTS / "cluster_em.svg")


if __name__ == "__main__":
    explain()
    warnings.simplefilter("ignore")
    main()
