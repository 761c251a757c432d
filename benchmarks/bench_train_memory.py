"""Does the memory that training takes grow less when the trees stay on the disk?

Set-up: `latentgram train shag --by spectral --states 4 --no-tagger` from CoNLL-U files of 10,000, 40,000 and
160,000 trees of the demo treebank (16 words each), with and without `--stream`; greatest resident memory, as the
system (Linux) says. Both read the same trees (their digests agree).

Conclusion (results/train_memory.csv): each tree of 16 words adds 4.4 kB in memory and 2.7 kB streamed: the
trees themselves are gone, what is left are the numbers that sequences of modifiers are counted from. From 254 to
658 MB for 150,000 trees more, against 249 to 906.

    python benchmarks/bench_train_memory.py [TREES…]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import latentgram as lg
from bench_stream_memory import peak
from harness import explain, write_rows

RESULTS = Path(__file__).parent / "results" / "train_memory.csv"
SIZES = (10_000, 40_000, 160_000)
DRAWN = 10_000


def main() -> None:
    """Measure and write the table."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        part, trees = folder / "part.conllu", folder / "trees.conllu"
        lg.demo_dependencies(DRAWN, 0).write(part)
        for number in [int(size) for size in sys.argv[1:]] or SIZES:
            with trees.open("w") as file:
                for _ in range(number // DRAWN):
                    file.write(part.read_text())
            models = {}
            for how in ("in memory", "streamed"):
                model = folder / f"{how}.lg"
                command = ["train", "shag", str(trees), "--by", "spectral", "--states", "4", "-o", str(model)]
                own, _ = peak([*command, "--stream" if how == "streamed" else "--no-tagger"])
                models[how] = lg.load(model).model.provenance.data_digest
                size = f"{trees.stat().st_size / 1e6:.0f}"
                rows.append({"trees": number, "MB of file": size, "trees are": how, "peak MB": f"{own:.0f}"})
                print(rows[-1], flush=True)
            assert len(set(models.values())) == 1
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    explain()
    main()
