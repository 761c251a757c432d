"""Model files come back as they were, and a file that is not whole never becomes a model."""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import importlib
import json
import os
import stat
import threading
import types
import typing
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Binarisation
from latentgram.data.provenance import Provenance
from latentgram.data.rarewords import RareWords
from latentgram.errors import ModelFileError, SettingError
from latentgram.lpcfg.model import LPCFG, Layout
from latentgram.store import load, read_header, save, storable, storable_classes
from oracles.equality import same


@storable
@dataclass(frozen=True)
class Part:
    weights: NDArray[np.float32]
    names: tuple[str, ...] = ()


@storable
@dataclass(frozen=True)
class Everything:
    number: float
    whole: int
    flag: bool
    text: str
    maybe: int | None
    grid: NDArray[np.int16]
    parts: tuple[Part, ...]
    by_name: dict[str, Part]
    by_pair: dict[tuple[str, int], NDArray[Any]]
    settings: dict[str, object]
    symbols: Alphabet
    provenance: Provenance = field(default_factory=Provenance)


@storable
@dataclass(frozen=True)
class Positive:
    value: int

    def __post_init__(self) -> None:
        if self.value <= 0:
            raise SettingError("value must be positive")


@dataclass(frozen=True)
class Unlisted:
    value: int


def grammar(seed: int = 0) -> LPCFG:
    """A small grammar whose numbers are drawn at random."""
    random = np.random.default_rng(seed)
    states = np.array([1, 2, 1, 3, 2], np.int32)
    rules = np.array([[0, 1, 1], [0, 1, 4], [1, 2, 3]], np.int32)
    lexicon = np.array([[2, 0], [3, 0], [3, 7], [4, 39]], np.int32)
    offset = Layout.of(rules, lexicon, states)
    return LPCFG(
        interminals=Alphabet(("S", "NP")),
        preterminals=Alphabet(("DT", "NN", "''")),
        words=Alphabet.of(f"wörd{i}" for i in range(40)),
        states=states,
        rules=rules,
        rule_offset=offset.rules,
        rule_tensor=random.random(offset.rules[-1]),
        lexicon=lexicon,
        lexicon_offset=offset.lexicon,
        lexicon_vector=random.random(offset.lexicon[-1]),
        root_offset=offset.symbols,
        root_vector=random.random(offset.symbols[-1]),
        mean_inside=random.random(offset.symbols[-1]),
        mean_outside=random.random(offset.symbols[-1]),
        rule_count=random.random(len(rules)),
        lexicon_count=random.random(len(lexicon)),
        root_count=random.random(len(states)),
        rare_words=RareWords(),
        binarisation=Binarisation(),
        provenance=Provenance("Spectral", {"states": 2}, "ab12", 40, 1.5, ({"loss": float("inf")}, {"loss": 0.1})),
    )


def everything() -> Everything:
    return Everything(
        number=float("nan"),
        whole=2**60,
        flag=True,
        text='quote " \ud800 ünïcode\n',
        maybe=None,
        grid=np.arange(12, dtype=np.int16).reshape(3, 4)[:, ::2],
        parts=(Part(np.zeros(0, np.float32)), Part(np.ones((1, 2, 3), np.float32), ("a", "b"))),
        by_name={"NN.left": Part(np.array(3.0, np.float32), tuple(f"s{i}" for i in range(100)))},
        by_pair={("NN", 1): np.array([True, False]), ("$", 0): np.array([7], np.uint64)},
        settings={"list": [1, 2.5, None], "nested": {"k": "v"}, "none": None},
        symbols=Alphabet(tuple(f"symbol {i} é" for i in range(1000))),
    )


@pytest.mark.parametrize("value", [grammar(), everything()], ids=["grammar", "everything"])
def test_round_trip(value: Any, tmp_path: Path) -> None:
    save(value, tmp_path / "a.lg")
    again = load(tmp_path / "a.lg")
    assert same(value, again)
    save(again, tmp_path / "b.lg")
    assert (tmp_path / "a.lg").read_bytes() == (tmp_path / "b.lg").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.lg", "b.lg"]


STORABLE = storable_classes()


@pytest.mark.parametrize("name", STORABLE)
def test_every_listed_class_is_there(name: str) -> None:
    module, attribute = STORABLE[name].split(":")
    cls = getattr(importlib.import_module(module), attribute)
    assert cls.__name__ == name
    assert dataclasses.is_dataclass(cls)


def storable_hint(hint: Any) -> bool:
    """Whether the format has a form for values so annotated."""
    if typing.get_origin(hint) is np.ndarray or hint in (Any, object, int, float, str, bool, type(None), Ellipsis):
        return True
    if typing.get_origin(hint) in (tuple, list, dict, typing.Union, types.UnionType):
        return all(map(storable_hint, typing.get_args(hint)))
    if typing.get_origin(hint) is typing.Literal:
        return True
    if getattr(hint, "_is_protocol", False):
        return True
    if typing.get_origin(hint) is collections.abc.Callable:
        # A function may stand where a model may; the one is stored, the other is refused with a sentence.
        return True
    if not dataclasses.is_dataclass(hint):
        # An abstract class stands for those that implement it.
        return bool(hint.__subclasses__()) and all(map(storable_hint, hint.__subclasses__()))
    return hint.__name__ in STORABLE and STORABLE[hint.__name__] == f"{hint.__module__}:{hint.__name__}"


@pytest.mark.parametrize("name", STORABLE)
def test_every_field_of_a_listed_class_can_be_stored(name: str) -> None:
    module, attribute = STORABLE[name].split(":")
    cls = getattr(importlib.import_module(module), attribute)
    hints = typing.get_type_hints(cls)
    wrong = [field.name for field in dataclasses.fields(cls) if not storable_hint(hints[field.name])]
    assert not wrong


def test_kernels_see_loaded_arrays_as_learned_ones(tmp_path: Path) -> None:
    """The same types to compiled code, read-only or not included: else every kernel is compiled twice."""
    save(grammar(), tmp_path / "a.lg")
    loaded = load(tmp_path / "a.lg", LPCFG)
    for name, value in vars(grammar()).items():
        if isinstance(value, np.ndarray):
            assert numba.typeof(getattr(loaded, name)) == numba.typeof(value)


def test_header_without_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.lg"
    save(grammar(), path)
    header = read_header(path)
    assert header.kind == "LPCFG"
    assert header.format == 1
    assert header.bytes == path.stat().st_size
    assert header.provenance == grammar().provenance
    assert header.arrays["rules"] == ("I32", (3, 3))
    json.dumps(header.to_json())


def test_large_alphabets_stay_out_of_the_document(tmp_path: Path) -> None:
    path = tmp_path / "a.lg"
    save(Alphabet(tuple(f"word{i}" for i in range(50_000))), path)
    assert int.from_bytes(path.read_bytes()[:8], "little") < 2_000


def test_kind_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.lg"
    save(grammar(), path)
    assert isinstance(load(path, LPCFG), LPCFG)
    assert isinstance(load(path, "LPCFG"), LPCFG)
    with pytest.raises(ModelFileError, match=r"a\.lg is an LPCFG, not a SHAG$"):
        load(path, "SHAG")
    with pytest.raises(ModelFileError, match="is an LPCFG, not a Part"):
        load(path, Part)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (Unlisted(1), "not listed as storable"),
        (Part(np.ones(2)), "weights is an array of float64, not an array of float32"),
        (Part(np.array(["a"])), "array of"),
        (dataclasses.replace(everything(), whole="3"), "whole is of type str, not int"),
        (dataclasses.replace(everything(), settings={"f": print}), "settings.f is a builtin"),
        (dataclasses.replace(everything(), by_pair={("a", 1): np.ones(1, complex)}), "array of complex128"),
        (print, "cannot be stored"),
        (3, "an int cannot be stored"),
        ("a model", "a str cannot be stored"),
        ({"states": 3}, "a dict cannot be stored"),
        (Unlisted, "a class cannot be stored"),
    ],
)
def test_what_cannot_be_stored_says_so_and_writes_nothing(value: Any, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=complaint):
        save(value, tmp_path / "a.lg")
    assert not os.listdir(tmp_path)


def test_cut_files(tmp_path: Path) -> None:
    save(grammar(), tmp_path / "a.lg")
    whole = (tmp_path / "a.lg").read_bytes()
    for length in [*range(64), *range(64, len(whole), 37), len(whole) - 1]:
        cut = tmp_path / "cut.lg"
        cut.write_bytes(whole[:length])
        for reader in (load, read_header):
            with pytest.raises(ModelFileError):
                reader(cut)
    cut.write_bytes(whole + b"\0")
    with pytest.raises(ModelFileError):
        load(cut)


def test_flipped_bits(tmp_path: Path) -> None:
    save(grammar(), tmp_path / "a.lg")
    whole = (tmp_path / "a.lg").read_bytes()
    flipped = tmp_path / "flipped.lg"
    random = np.random.default_rng(1)
    for position in [*range(8), *random.integers(8, len(whole), 800)]:
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(random.integers(8))
        flipped.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            load(flipped)


@pytest.mark.parametrize("kind", ["BF16", "F8_E4M3", "F128", "C64", "", "I4"])
def test_types_that_no_array_has(tmp_path: Path, kind: str) -> None:
    """The header of the container may name types that are not numpy's."""
    save(grammar(), tmp_path / "a.lg")
    whole = (tmp_path / "a.lg").read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    header["root_count"]["dtype"] = kind
    changed = json.dumps(header).encode()
    (tmp_path / "b.lg").write_bytes(len(changed).to_bytes(8, "little") + changed + whole[8 + size :])
    with contextlib.suppress(ModelFileError):
        read_header(tmp_path / "b.lg")
    with pytest.raises(ModelFileError):
        load(tmp_path / "b.lg")


def test_replaced_bytes(tmp_path: Path) -> None:
    save(everything(), tmp_path / "a.lg")
    whole = (tmp_path / "a.lg").read_bytes()
    damaged_path = tmp_path / "damaged.lg"
    random = np.random.default_rng(2)
    for _ in range(300):
        damaged = bytearray(whole)
        start = int(random.integers(len(whole) - 16))
        damaged[start : start + 16] = random.bytes(16)
        damaged_path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            load(damaged_path)


def test_foreign_files(tmp_path: Path) -> None:
    text, archive, tensors = tmp_path / "a.txt", tmp_path / "a.zip", tmp_path / "a.safetensors"
    text.write_text("(S (NP (DT the) (NN cat)))\n" * 20)
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a", "b" * 1000)
    save_file({"a": np.ones(3)}, tensors)
    for path, complaint in [
        (text, "not a latentgram model file"),
        (archive, "not a latentgram model file"),
        (tensors, "is a safetensors file, but not one of latentgram's"),
        (tmp_path, "is not a regular file"),
        (tmp_path / "absent.lg", "No such file"),
    ]:
        for reader in (load, read_header):
            with pytest.raises(ModelFileError, match=complaint):
                reader(path)


def forge(source: Path, target: Path, change: Any, signed: bool = True) -> None:
    """A file with a changed document, with a digest that agrees unless told otherwise."""
    import latentgram.store as store

    arrays = load_file(source)
    with source.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(json.loads(file.read(length))["__metadata__"]["latentgram"])
    header.pop("digest")
    change(header, arrays)
    header["digest"] = store._digest(header, arrays) if signed else "0" * 64
    save_file(arrays, target, {"latentgram": json.dumps(header)})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda header, arrays: header.update(format=99), "newer latentgram"),
        (lambda header, arrays: header.update(format="1"), "header is invalid"),
        (lambda header, arrays: header.update(kind="SHAG"), "kind of value named in its header"),
        (lambda header, arrays: header.update(extra=1), "header is invalid"),
        (lambda header, arrays: header["value"].update({"$class": "os.system"}), "does not know"),
        (lambda header, arrays: header["value"]["fields"].pop("states"), "lacks states.*: train the model again"),
        (lambda header, arrays: header["value"]["fields"].update(colour=1), "its LPCFG has colour"),
        (lambda header, arrays: header["value"]["fields"].update(states=5), "states is of type int"),
        (lambda header, arrays: header["value"]["fields"].update(states={"$array": "rule_tensor"}), "float64"),
        (lambda header, arrays: header["value"]["fields"].update(words={"$code": "x"}), "mentions \\$code"),
        (lambda header, arrays: header["value"]["fields"].update(words={"$tuple": 5}), "damaged"),
        (lambda header, arrays: arrays.pop("rules"), "array rules is missing"),
        (lambda header, arrays: arrays.update(more=np.ones(1)), "nothing refers to its array more"),
        (lambda header, arrays: arrays.update({"words.symbols.offsets": np.arange(41)[::-1].copy()}), "symbols"),
    ],
)
def test_forged_documents(change: Any, complaint: str, tmp_path: Path) -> None:
    save(grammar(), tmp_path / "a.lg")
    forge(tmp_path / "a.lg", tmp_path / "b.lg", change)
    with pytest.raises(ModelFileError, match=complaint):
        load(tmp_path / "b.lg")


@pytest.mark.parametrize(
    "field",
    [{"format": 0}, {"format": -1}, {"format": True}, {"kind": ""}, {"kind": "a\nb"}, {"library": "\x1b[2J"}],
)
def test_headers_that_are_none(field: dict[str, Any], tmp_path: Path) -> None:
    save(Positive(1), tmp_path / "a.lg")
    forge(tmp_path / "a.lg", tmp_path / "b.lg", lambda header, arrays: header.update(field))
    for reader in (load, read_header):
        with pytest.raises(ModelFileError, match="header is invalid"):
            reader(tmp_path / "b.lg")


def test_a_field_that_has_come_since_takes_its_default(tmp_path: Path) -> None:
    save(grammar(), tmp_path / "a.lg")
    forge(tmp_path / "a.lg", tmp_path / "b.lg", lambda header, _: header["value"]["fields"].pop("provenance"))
    assert load(tmp_path / "b.lg").provenance == Provenance()


def test_a_wrong_digest_and_a_refusing_class(tmp_path: Path) -> None:
    save(Positive(1), tmp_path / "a.lg")
    forge(tmp_path / "a.lg", tmp_path / "b.lg", lambda header, arrays: None, signed=False)
    with pytest.raises(ModelFileError, match="do not match its digest"):
        load(tmp_path / "b.lg")
    forge(tmp_path / "a.lg", tmp_path / "b.lg", lambda header, arrays: header["value"]["fields"].update(value=-1))
    with pytest.raises(ModelFileError, match="value must be positive"):
        load(tmp_path / "b.lg")


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    nested = "[" * 100_000 + "]" * 100_000
    document = f'{{"format": 1, "library": "0", "kind": "A", "digest": "", "value": {{"a": {nested}}}}}'
    save_file({}, tmp_path / "a.lg", {"latentgram": document})
    for reader in (load, read_header):
        with pytest.raises(ModelFileError):
            reader(tmp_path / "a.lg")


def test_writing_keeps_links_modes_and_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, link = tmp_path / "real.lg", tmp_path / "link.lg"
    save(grammar(0), real)
    real.chmod(0o640)
    link.symlink_to(real)
    save(grammar(1), link)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert same(load(real), grammar(1))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match=r"real\.lg: the file cannot be written \(No space left on device\)"):
        save(grammar(2), real)
    monkeypatch.undo()
    assert same(load(real), grammar(1))
    assert sorted(os.listdir(tmp_path)) == ["link.lg", "real.lg"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, complaint in [
        ("-", "not to standard output"),
        (tmp_path, "cannot be written"),
        (tmp_path / "file" / "a.lg", "cannot be written"),
    ]:
        with pytest.raises(ModelFileError, match=complaint):
            save(grammar(), path)
    save(grammar(), os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    save(grammar(), tmp_path / "new" / "folder" / "a.lg")
    assert os.listdir(tmp_path / "new" / "folder") == ["a.lg"]


def test_a_pipe_is_written_straight(tmp_path: Path) -> None:
    pipe, whole = tmp_path / "pipe", tmp_path / "a.lg"
    os.mkfifo(pipe)
    save(grammar(), whole)
    reader = threading.Thread(target=lambda: (tmp_path / "copy.lg").write_bytes(pipe.read_bytes()))
    reader.start()
    save(grammar(), pipe)
    reader.join()
    assert (tmp_path / "copy.lg").read_bytes() == whole.read_bytes()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
