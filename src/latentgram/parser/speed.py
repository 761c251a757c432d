"""The speed of a model on given sentences, and the memory it needs.

One batch runs untimed first, so that nothing is compiled or initialised during the measurement. Then all sentences
are processed `repeats` times, in batches whose wall-clock times t_b are recorded with their sizes n_b. The rate is

    Σ_b n_b / Σ_b t_b,

and its 95 % interval is that of the same ratio over batches sampled with replacement (a percentile bootstrap).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, SettingError
from latentgram.kinds.protocols import SentenceTagger
from latentgram.parser.parser import BATCH, Parser
from latentgram.progress import Progress, Silent

_DRAWS = 2000


@dataclass(frozen=True)
class Speed:
    """Sentences and words per second with an interval, the time a sentence takes, and memory; it prints itself."""

    sentences: int
    words: int
    repeats: int
    sentences_per_second: float
    low: float
    """The ends of the interval."""
    high: float
    words_per_second: float
    milliseconds: float
    """Of a sentence in a batch, the mean."""
    slowest: float
    """The milliseconds of a sentence in the slowest batch."""
    peak_megabytes: float | None
    """The most memory this process has held; None where the system does not say."""

    def to_json(self) -> dict[str, object]:
        """All of it by name."""
        return asdict(self)

    def __str__(self) -> str:
        memory = "" if self.peak_megabytes is None else f"; at most {self.peak_megabytes:,.0f} MB of memory"
        return (
            f"{self.sentences_per_second:,.1f} sentences per second [{self.low:,.1f}, {self.high:,.1f}] "
            "(95 % interval), "
            f"{self.words_per_second:,.0f} words per second; {self.milliseconds:.2f} ms per sentence, "
            f"{self.slowest:.2f} in the slowest batch{memory}\n"
            f"({self.sentences:,} sentences of {self.words / self.sentences:.1f} words, passes: {self.repeats}, "
            "after a warm-up)"
        )


def measure_speed(
    model: Parser | SentenceTagger,
    sentences: Iterable[Sentence],
    *,
    repeats: int = 3,
    batch: int | None = None,
    progress: Progress | None = None,
) -> Speed:
    """Time a parser or tagger on sentences, `batch` of them together (at most 64, and at least ten batches).

    >>> import latentgram as lg
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50), by=lg.Counting()))
    >>> speed = measure_speed(parser, lg.demo_treebank(5, seed=1).sentences(), repeats=2)
    >>> speed.sentences, speed.low <= speed.sentences_per_second <= speed.high
    (5, True)
    """
    if repeats < 1 or (batch is not None and batch < 1):
        raise SettingError(
            f"a measurement needs at least 1 repeat and 1 sentence per batch, got {repeats} and {batch}"
        )
    listed = list(sentences)
    batch = batch or max(min(BATCH, len(listed) // 10), 1)
    if not listed:
        raise DataError("there are no sentences to measure the speed on")
    run = _runner(model)
    batches = [listed[first : first + batch] for first in range(0, len(listed), batch)]
    run(batches[0])
    seconds: list[float] = []
    shown = progress or Silent()
    for part in batches * repeats:
        started = time.perf_counter()
        run(part)
        seconds.append(time.perf_counter() - started)
        shown.step("measuring", len(seconds), len(batches) * repeats)
    taken, sizes = np.array(seconds), np.array([len(part) for part in batches] * repeats, float)
    words = sum(map(len, listed))
    low, high = _interval(sizes, taken)
    return Speed(
        len(listed),
        words,
        repeats,
        float(sizes.sum() / taken.sum()),
        low,
        high,
        float(words * repeats / taken.sum()),
        float(1000 * taken.sum() / sizes.sum()),
        float(1000 * (taken / sizes).max()),
        peak_megabytes(),
    )


def _runner(model: Parser | SentenceTagger) -> Callable[[Sequence[Sentence]], object]:
    """What is timed: parsing, or tagging without what is known of tags."""
    if isinstance(model, Parser):
        return lambda part: list(model.parse_many(part))
    return lambda part: list(model.tag_all([sentence.without_tags() for sentence in part]))


def _interval(sizes: np.ndarray, taken: np.ndarray) -> tuple[float, float]:
    """The 95 % percentile bootstrap of Σ sizes / Σ taken."""
    drawn = np.random.default_rng(0).integers(len(sizes), size=(_DRAWS, len(sizes)))
    low, high = np.quantile(sizes[drawn].sum(1) / taken[drawn].sum(1), (0.025, 0.975))
    return float(low), float(high)


def peak_megabytes() -> float | None:
    """The greatest resident size of this process so far, None where the system does not say.

    Linux has it as `VmHWM`; what `getrusage` calls the greatest is also that of the process that started this one.
    """
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    try:
        import resource
    except ModuleNotFoundError:  # Windows has none
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1024
