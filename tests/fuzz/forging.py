"""Can a model file with a right digest and wrong contents do harm?

    export PYTHONPATH=tests
    [NUMBA_BOUNDSCHECK=1] python tests/fuzz/forging.py [--rounds 50000] [--seed 0] [--files old|new] [--only NAME]
                                                       [--keep FOLDER]

A forgery is a small file, one of tests/store/old_files or one of the present version of every recipe (present.py),
with some numbers, shapes or symbols changed and its digest made right again. All files together must hold every
class that can be stored. It must be refused with
`ModelFileError`, or give something that answers the questions of tests/store/test_old_files.py and does what its
kind can do, or refuses that by an error in Python: never a crash, an access out of the bounds of an array in
compiled code (which NUMBA_BOUNDSCHECK=1 shows; give it an empty NUMBA_CACHE_DIR), an endless loop or memory
without end. Forgeries are tried in processes of their own. With --keep the files are made once for several runs.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from fuzz.processes import conclude, outcomes_of, tell_each, trial_arguments
from latentgram import store
from latentgram.errors import LatentgramError, ModelFileError

TESTS = Path(__file__).parents[1]
FILES = TESTS / "store" / "old_files"
PATIENCE = 300.0 if os.environ.get("NUMBA_BOUNDSCHECK") else 120.0
"""Seconds of work without a sign of life that are an endless loop; the first ones are for compiling."""
MEMORY = 6 << 30
"""Bytes of address space that a process may take."""
NUMBERS = (0, 1, -1, 2, -2, 7, 255, 2**15 - 1, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**62), 10**400)
REALS = (0.0, -1.0, 1e308, -1e308, 1e15, 1e30, -1e100, 1e-320, float("nan"), float("inf"), -float("inf"), 0.5)


def header_of(path: Path) -> dict[str, Any]:
    """What a file says of itself."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header: dict[str, Any] = json.loads(json.loads(raw[8 : 8 + size])["__metadata__"]["latentgram"])
    return header


def classes_in(files: Iterable[Path]) -> set[str]:
    """The classes that files hold."""
    return {
        name for file in files for name in re.findall(r'"\$class": "(\w+)"', json.dumps(header_of(file)["value"]))
    }


def forge(path: Path, draw: random.Random, *, strings: bool = False) -> bytes:
    """The bytes of a file with one to three things changed, `strings` among them, and a right digest."""
    header = header_of(path)
    arrays = load_file(path)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        listed = sorted(name.removesuffix(".offsets") for name in arrays if name.endswith(".offsets"))
        if strings and listed and draw.random() < 0.15:
            change_strings(arrays, draw.choice(listed), draw)
            continue
        names = [name for name in sorted(arrays) if not name.endswith((".bytes", ".offsets"))]
        if names and draw.random() < 0.8:
            name = draw.choice(names)
            arrays[name] = np.ascontiguousarray(draw.choice(CHANGES)(arrays[name].copy(), draw))
        elif arrays and draw.random() < 0.3:
            name, other = draw.choice(sorted(arrays)), draw.choice(sorted(arrays))
            arrays[name], arrays[other] = arrays[other], arrays[name]
        else:
            change_document(header["value"], draw)
    header["digest"] = store._digest({**header}, arrays)
    return bytes(save(arrays, {"latentgram": json.dumps(header)}))


def change_strings(arrays: dict[str, Any], name: str, draw: random.Random) -> None:
    """Another string among many: one with other numbers in it, a foreign or an odd one, one twice, one less."""
    run, ends = arrays[f"{name}.bytes"], arrays[f"{name}.offsets"]
    if run.dtype != np.uint8 or ends.dtype.kind not in "iu" or ends.ndim != 1 or len(ends) < 2:
        return  # another change has been here
    if ends[0] or (np.diff(ends) < 0).any():
        return
    texts = [run[begin:end].tobytes() for begin, end in itertools.pairwise(ends.tolist())]
    place = draw.randrange(len(texts))
    change = draw.randrange(4)
    if change == 0:
        odd = draw.choice(("-1", "-99999", "99999", str(2**31 - 1), str(2**63), "", "x"))
        texts[place] = re.sub(rb"\d+", lambda _: odd.encode(), texts[place], count=draw.choice((0, 1)))
    elif change == 1:
        texts[place] = draw.choice((b"", b"\0", b"=\n=", b"\xff", b"a" * 5000, draw.choice(texts)))
    elif change == 2:
        texts.insert(place, draw.choice(texts))
    else:
        del texts[place]
    lengths = [len(text) for text in texts]
    arrays[f"{name}.bytes"] = np.frombuffer(b"".join(texts), np.uint8)
    arrays[f"{name}.offsets"] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _entry(array: Any, draw: random.Random) -> Any:
    """Another number at one place, or at a few."""
    flat = array.reshape(-1)
    for _ in range(draw.choice((1, 1, 3)) if flat.size else 0):
        flat[draw.randrange(flat.size)] = _value(array.dtype, draw, flat.size)
    return array


def _value(kind: Any, draw: random.Random, size: int) -> Any:
    if kind == np.bool_:
        return draw.random() < 0.5
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return kind.type(draw.choice((*REALS, draw.gauss(0, 1))))
    info = np.iinfo(kind)
    number = draw.choice((*NUMBERS, size, size - 1, size + 1, draw.randrange(max(size, 1))))
    return kind.type(min(max(number, info.min), info.max))


def _ends(array: Any, draw: random.Random) -> Any:
    """Another first or last number."""
    if array.size:
        array.reshape(-1)[draw.choice((0, -1))] = _value(array.dtype, draw, array.size)
    return array


def _shorter(array: Any, draw: random.Random) -> Any:
    axis = draw.randrange(array.ndim) if array.ndim else None
    return array if axis is None else np.take(array, range(draw.randrange(array.shape[axis] + 1)), axis)


def _longer(array: Any, draw: random.Random) -> Any:
    return np.concatenate([array] * draw.choice((2, 3))) if array.ndim else array


def _mixed(array: Any, draw: random.Random) -> Any:
    flat = array.reshape(-1).tolist()
    draw.shuffle(flat)
    return np.array(flat, array.dtype).reshape(array.shape)


def _same(array: Any, draw: random.Random) -> Any:
    return np.full_like(array, _value(array.dtype, draw, array.size))


def _other_form(array: Any, draw: random.Random) -> Any:
    if not array.size:
        return np.zeros((2, 2), array.dtype)
    return draw.choice((array.reshape(-1), array.reshape(1, -1), array.reshape(-1, 1), array.T, array[::-1]))


def _shifted(array: Any, draw: random.Random) -> Any:
    if array.dtype.kind == "f" or array.dtype == np.bool_:
        return array
    return (array.astype(np.int64) + draw.choice((-1, 1, 1000))).astype(array.dtype)


CHANGES: tuple[Callable[[Any, random.Random], Any], ...] = (
    _entry, _entry, _entry, _ends, _shorter, _longer, _mixed, _same, _other_form, _shifted,
)  # fmt: skip


def change_document(document: Any, draw: random.Random) -> None:
    """Another number, string or length somewhere in the part of a file that is no array."""
    places: list[tuple[Any, Any]] = []
    pending = [document]
    while pending:
        node = pending.pop()
        items = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
        for key, value in items:
            if isinstance(value, dict | list):
                pending.append(value)
                if isinstance(value, list):
                    places.append((node, key))
            elif key not in ("$class", "$array", "$strings"):
                places.append((node, key))
    if not places:
        return
    node, key = draw.choice(places)
    old = node[key]
    if isinstance(old, list):
        node[key] = draw.choice((old[:-1], old[1:], [], old + old, old[::-1]))
    elif isinstance(old, bool) or old is None:
        node[key] = draw.choice((True, False, None))
    elif isinstance(old, str) and "\t" in old:
        node[key] = re.sub(r"\d+", lambda _: draw.choice(("-1", "-99999", "99999", str(2**31 - 1))), old)
    elif isinstance(old, int | float):
        node[key] = draw.choice((*NUMBERS, 0.5, 1e300, {"$float": "nan"}, {"$float": "inf"}))
    else:
        node[key] = draw.choice(("", "\0", "a" * 1000, "</s>", "nosuch", "words", "epsilon", "kind", "\ud800"))


def outcome(seed: int, path: Path, files: Path = FILES, only: str = "") -> str:
    """What comes of the forgery with this number."""
    from fuzz.present import ask
    from store.test_old_files import answers

    draw = random.Random(seed)
    file = draw.choice([file for file in sorted(files.glob("*.lg")) if re.search(only, file.name)])
    path.write_bytes(forge(file, draw, strings=files != FILES))
    try:
        value = store.load(path)
    except ModelFileError:
        return "refused"
    try:
        answers(value) if files == FILES else ask(value, path.parent)
    except LatentgramError:
        return "refuses to answer"
    except IndexError as error:
        return "OUT OF BOUNDS" if str(error) == "index is out of bounds" else "fails in Python"
    except MemoryError:
        return "too large"
    except Exception:
        if os.environ.get("FORGING_TRACE"):
            raise
        return "fails in Python"
    return "answers"


def work(first: int, last: int, files: Path, only: str) -> None:
    """In a process of its own: try forgeries, a line for each."""
    import warnings

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        tell_each(range(first, last), lambda seed: outcome(seed, Path(folder) / "forged.lg", files, only))


def attempt(
    first: int, last: int, files: Path = FILES, only: str = "", seconds: float = float("inf")
) -> Counter[str]:
    """Try forgeries; how often each outcome was seen. A forgery that ends its process is told with its number."""
    return outcomes_of([__file__, "--folder", str(files), "--only", only], first, last, PATIENCE, seconds)


def prepared(folder: Path, only: str, *, old: bool) -> Path:
    """A folder of files of this version, and of `old` ones too; what forgeries need is compiled.

    Files that an earlier run kept there are taken as they are.
    """
    files = folder / "files"
    if not files.is_dir():
        make(folder, files, only, old=old)
    paths = [path for path in sorted(files.glob("*.lg")) if re.search(only, path.name)]
    lacking = set(store.storable_classes()) - classes_in(paths)
    if old and not only and lacking:
        sys.exit(f"no file holds {', '.join(sorted(lacking))}")
    print(f"{len(paths)} files, {len(classes_in(paths))} classes", flush=True)
    return files


def make(folder: Path, files: Path, only: str, *, old: bool) -> None:
    """Write the files whose names fit a pattern, and ask each what will be asked of forgeries, which compiles."""
    from fuzz.present import ask, write

    unfinished = folder / "unfinished"
    unfinished.mkdir()
    write(unfinished, only)
    for file in sorted(FILES.glob("*.lg")) if old else ():
        if re.search(only, name := f"old-{file.name}"):
            shutil.copy(file, unfinished / name)
    for path in sorted(unfinished.glob("*.lg")):
        with contextlib.suppress(LatentgramError):
            ask(store.load(path), folder)
    unfinished.rename(files)


def main() -> None:
    parser = trial_arguments(__doc__, 50_000, "files whose names fit this pattern")
    parser.add_argument("--files", choices=("all", "old", "new"), default="all", help="what to forge")
    parser.add_argument("--keep", type=Path, help="a folder where the files are kept for further runs")
    parser.add_argument("--folder", type=Path, default=FILES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(*asked.work, asked.folder, asked.only)
        return
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as passing:
        folder = asked.keep or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        files = FILES if asked.files == "old" else prepared(folder, asked.only, old=asked.files == "all")
        outcomes = attempt(asked.seed, asked.seed + asked.rounds, files, asked.only, asked.seconds)
    conclude(outcomes, "forgeries", started)


if __name__ == "__main__":
    main()
