"""One round of EM by another package, for `bench_hmm_em`: run by an interpreter that has the package.

    python peer_hmms.py hmmlearn|pomegranate TEXT.npz

TEXT.npz has `symbols` (word numbers from 0 on), `lengths` of sentences and the start: `first`, `transition`,
`emission`, `stop`. Prints tokens per second of processor time, for hmmlearn in the best of three rounds.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from typing import Any

import numpy as np


def hmmlearn_rate(data: Any) -> float:
    from hmmlearn.hmm import CategoricalHMM

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    model = CategoricalHMM(len(data["first"]), n_iter=1, implementation="scaling", init_params="")
    model.startprob_, model.transmat_, model.emissionprob_ = data["first"], data["transition"], data["emission"]
    symbols = data["symbols"][:, None]
    rates = []
    for _ in range(3):
        begin = time.process_time()
        model.fit(symbols, data["lengths"])
        rates.append(len(symbols) / (time.process_time() - begin))
    return max(rates)


def pomegranate_rate(data: Any) -> float:
    import torch
    from pomegranate.distributions import Categorical
    from pomegranate.hmm import DenseHMM

    torch.set_num_threads(1)
    ends = np.cumsum(data["lengths"])
    sentences = np.split(data["symbols"].astype(np.int64), ends[:-1])
    by_length: dict[int, list[Any]] = {}
    for sentence in sentences:
        if len(sentence) > 1:  # it fails on sentences of one word
            by_length.setdefault(len(sentence), []).append(sentence[:, None])
    batches = [torch.tensor(np.stack(group)) for group in by_length.values()]
    model = DenseHMM(
        [Categorical(torch.tensor(row[None], dtype=torch.float32)) for row in data["emission"]],
        edges=(data["transition"] * (1 - data["stop"][:, None])).astype(np.float32),
        starts=data["first"].astype(np.float32),
        ends=data["stop"].astype(np.float32),
        max_iter=1,
    )
    begin = time.process_time()
    model.fit(batches)
    return sum(batch.numel() for batch in batches) / (time.process_time() - begin)


def main() -> None:
    name, path = sys.argv[1:3]
    warnings.simplefilter("ignore")
    data = np.load(path)
    print({"hmmlearn": hmmlearn_rate, "pomegranate": pomegranate_rate}[name](data))


if __name__ == "__main__":
    main()
