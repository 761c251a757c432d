"""Values to JSON and named arrays, and back: the part of storage that knows nothing of files.

| value                                  | in the document                                        |
|----------------------------------------|--------------------------------------------------------|
| None, bool, int, str, finite float     | itself                                                 |
| nan and the infinities                 | {"$float": "nan"}                                      |
| array                                  | {"$array": name}                                       |
| tuple                                  | {"$tuple": [...]}                                      |
| tuple of more than `INLINE` strings    | {"$strings": name}: arrays `name.bytes`, `name.offsets` |
| list                                   | [...]                                                  |
| dict with names for keys               | {...}                                                  |
| any other dict                         | {"$items": [[key, value], ...]}                        |
| dataclass                              | {"$class": name, "fields": {...}}                      |

A compact document also has

| array, packed (packing.py)             | {"$packed": [name, type, shape, differences]}          |
| array, rounded (rounding.py)           | {"$rounded": {its parts}}                              |
| tuple of more than `INLINE` strings    | {"$strings": [array of bytes, array of offsets]}       |

Values are held against the annotations of their fields when they are stored and when they are read, and against
the invariants stated there when they are read, so that a file never makes an object that no learner would make.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import types
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from latentgram.data.invariants import Broken, check, declared_fields, misfit
from latentgram.data.rounding import roundings_of
from latentgram.errors import a_or_an
from latentgram.store.packing import Packed
from latentgram.store.rounding import restored, rounded

INLINE = 32
"""Tuples of at most so many strings stand in the document itself."""

Array = NDArray[np.generic]
Document = None | bool | int | float | str | list["Document"] | dict[str, "Document"]
Named = Callable[[str], type]
"""Finds a class by its name, or raises `FormatError`."""

_ARRAY_KINDS = "biuf"
_PACKED_TYPES = {np.dtype(kind).newbyteorder("<").str for kind in np.typecodes["AllInteger"] + "?efd"}


class FormatError(Exception):
    """A value that cannot be stored, or a document that is no value; the text continues a sentence."""


class OtherVersion(FormatError):
    """The fields of a class in a document are not those it has here: what differs."""


def encode(value: object, named: Named, *, compact: bool = False) -> tuple[Document, dict[str, Array]]:
    """The document and the arrays of a value; compact, arrays are packed, and rounded where their fields allow it.

    >>> from latentgram.data.alphabet import Alphabet
    >>> encode(Alphabet(("a", "b")), {"Alphabet": Alphabet}.__getitem__)
    ({'$class': 'Alphabet', 'fields': {'symbols': {'$tuple': ['a', 'b']}}}, {})
    """
    encoder = _Encoder(named, compact)
    return encoder.value(value, ""), encoder.arrays


@dataclasses.dataclass
class _Encoder:
    named: Named
    compact: bool
    arrays: dict[str, Array] = dataclasses.field(default_factory=dict)
    seen: dict[tuple[object, ...], str] = dataclasses.field(default_factory=dict)
    """The names of packed arrays by what they are: equal ones, as in members of an ensemble, are stored once."""

    def value(self, value: object, path: str) -> Document:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": str(value)}
        if isinstance(value, np.ndarray):
            return self.array(value, path)
        if isinstance(value, tuple) and type(value) is tuple:
            strings = [item for item in value if isinstance(item, str)]
            if len(value) > INLINE and len(strings) == len(value):
                return self.strings(strings, path)
            return {"$tuple": [self.value(item, _join(path, i)) for i, item in enumerate(value)]}
        if isinstance(value, list):
            return [self.value(item, _join(path, i)) for i, item in enumerate(value)]
        if isinstance(value, dict):
            if all(isinstance(key, str) and not key.startswith("$") for key in value):
                return {key: self.value(item, _join(path, key)) for key, item in value.items()}
            items: list[Document] = []
            for i, (key, item) in enumerate(value.items()):
                items.append([self.value(key, _join(path, f"{i}.key")), self.value(item, _join(path, i))])
            return {"$items": items}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.instance(value, path)
        raise FormatError(f"cannot be stored: {path or 'it'} is {a_or_an(type(value).__name__)}")

    def array(self, array: Array, path: str) -> Document:
        plain = _plain(array, path)
        packed = Packed.of(plain) if self.compact else None
        if packed is None:
            self.arrays[path] = plain
            return {"$array": path}
        same = (packed.data.tobytes(), packed.type, packed.shape, packed.differences)
        name = self.seen.setdefault(same, path)
        self.arrays[name] = packed.data
        return {"$packed": [name, packed.type, list(packed.shape), packed.differences]}

    def strings(self, strings: list[str], path: str) -> Document:
        run, offsets = _pack(strings)
        if self.compact:
            return {"$strings": [self.array(run, f"{path}.bytes"), self.array(offsets, f"{path}.offsets")]}
        self.arrays[f"{path}.bytes"], self.arrays[f"{path}.offsets"] = run, offsets
        return {"$strings": path}

    def instance(self, value: object, path: str) -> Document:
        cls: type = type(value)
        name = cls.__name__
        try:
            listed = self.named(name) is cls
        except (FormatError, LookupError):
            listed = False
        if not listed:
            what = f"{path or 'it'} is {a_or_an(name)}"
            raise FormatError(f"cannot be stored: {what}, which is not listed as storable")
        content: dict[str, Document] = {}
        roundings = roundings_of(cls) if self.compact else {}
        for field, (hint, _) in declared_fields(cls).items():
            item, place = getattr(value, field), _join(path, field)
            if wrong := misfit(item, hint):
                raise FormatError(f"cannot be stored: {place} is {wrong}")
            if field in roundings and isinstance(item, np.ndarray):
                parts = rounded(item, roundings[field], value)
                content[field] = {"$rounded": self.value(parts, place)}
            else:
                content[field] = self.value(item, place)
        return {"$class": name, "fields": content}


def decode(document: Document, arrays: Mapping[str, Array], named: Named) -> object:
    """The value of a document; every array must be used."""
    unused = set(arrays)
    value = _Decoder(arrays, named, unused).value(document)
    if unused:
        raise FormatError(f"is damaged: nothing refers to its array {min(unused)}")
    return value


@dataclasses.dataclass
class _Decoder:
    arrays: Mapping[str, Array]
    named: Named
    unused: set[str]
    unpacked: dict[str, Array] = dataclasses.field(default_factory=dict)
    texts: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """What was packed, by its name, and strings by their nodes: what is shared in the file is shared in memory."""

    def value(self, node: Document) -> object:
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if not isinstance(node, dict):
            return node
        form = next(iter(node), "")
        if not form.startswith("$"):
            return {key: self.value(item) for key, item in node.items()}
        if form == "$class":
            return self.instance(node)
        if len(node) != 1:
            raise FormatError(f"is damaged: {form} must be the only key")
        match form, node[form]:
            case "$float", str(number):
                return float(number)
            case "$array", str(name):
                return self.array(name)
            case "$packed", [str(name), str(kind), list(shape), bool(differences)]:
                return self.packed(name, kind, shape, differences)
            case "$strings", str(name):
                return _unpack(self.array(f"{name}.bytes"), self.array(f"{name}.offsets"))
            case "$strings", [run, ends]:
                same = str(node)
                if same not in self.texts:
                    self.texts[same] = _unpack(self.part(run), self.part(ends))
                return self.texts[same]
            case "$tuple", list(items):
                return tuple(self.value(item) for item in items)
            case "$items", list(items):
                return dict(self.pair(item) for item in items)
        raise FormatError(f"is damaged or from another version: it mentions {form}")

    def pair(self, node: Document) -> tuple[object, object]:
        match node:
            case [key, item]:
                return self.value(key), self.value(item)
        raise FormatError("is damaged: a key in it has no value")

    def array(self, name: str) -> Array:
        if name not in self.arrays:
            raise FormatError(f"is damaged: the array {name} is missing")
        self.unused.discard(name)
        return self.arrays[name]

    def packed(self, name: str, kind: str, shape: list[Document], differences: bool) -> Array:
        """An array unpacked; members of an ensemble share theirs."""
        if name not in self.unpacked:
            data = self.array(name)
            lengths = tuple(length for length in shape if isinstance(length, int))
            if data.dtype != np.uint8 or kind not in _PACKED_TYPES or len(lengths) != len(shape):
                raise FormatError(f"is damaged: the array {name} is invalid")
            self.unpacked[name] = Packed(data.astype(np.uint8, copy=False), kind, lengths, differences).array()
        return self.unpacked[name]

    def rounded(self, cls: type, field: str, node: Document, others: Mapping[str, object]) -> Array:
        """Rounded numbers; how they are laid out is told by the other fields."""
        shared = dict(self.unpacked)
        parts = self.value(node["$rounded"]) if isinstance(node, dict) and len(node) == 1 else None
        self.unpacked = shared  # nobody else asks for the parts, which take much memory
        rounding = roundings_of(cls).get(field)
        if rounding is None or not isinstance(parts, dict):
            raise OtherVersion(f"its {cls.__name__}.{field} is rounded")
        return restored(parts, rounding, types.SimpleNamespace(**others))

    def part(self, node: Document) -> Array:
        """What must be an array."""
        array = self.value(node)
        if not isinstance(array, np.ndarray):
            raise FormatError("is damaged: a value in it is not an array")
        return array

    def instance(self, node: dict[str, Document]) -> object:
        name, content = node["$class"], node.get("fields")
        if not isinstance(name, str) or not isinstance(content, dict) or len(node) != 2:
            raise FormatError("is damaged: a class in it is invalid")
        cls = self.named(name)
        fields = declared_fields(cls)
        # A field that has come since, with a default, means that default; nothing else can be made up or left out.
        missing = sorted(field for field, (_, required) in fields.items() if required and field not in content)
        extra = sorted(set(content) - set(fields))
        if missing or extra:
            raise OtherVersion(f"its {name} {f'lacks {missing[0]}' if missing else f'has {extra[0]}'}")
        later = {field: item for field, item in content.items() if isinstance(item, dict) and "$rounded" in item}
        values = {field: self.value(item) for field, item in content.items() if field not in later}
        values |= {field: self.rounded(cls, field, item, values) for field, item in later.items()}
        for field, item in values.items():
            if wrong := misfit(item, fields[field].hint):
                raise FormatError(f"is damaged: {name}.{field} is {wrong}")
        instance = cls(**values)
        try:
            check(instance)
        except Broken as error:
            raise FormatError(f"is damaged: {error}") from None
        return instance


def find(document: Document, name: str) -> Document:
    """The first part of a document that stands for an instance of the named class, or None."""
    return next((node for node in _nodes(document) if node.get("$class") == name), None)


def packed_arrays(document: Document) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The type and the shape of each packed array, by its name."""
    arrays = {}
    for node in _nodes(document):
        match node:
            case {"$packed": [str(name), str(kind), list(shape), _]}:
                if kind not in _PACKED_TYPES:  # of which numpy could make something else, or a syntax error
                    raise FormatError(f"is damaged: the array {name} is invalid")
                dtype = np.dtype(kind)
                arrays[name] = (
                    f"{dtype.kind.upper()}{8 * dtype.itemsize}",
                    tuple(n for n in shape if isinstance(n, int)),
                )
    return arrays


def _nodes(document: Document) -> Iterator[dict[str, Document]]:
    """The parts of a document that are not plain, from the top down."""
    pending = [document]
    for node in pending:
        if isinstance(node, dict):
            yield node
        pending.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())


def _join(path: str, step: object) -> str:
    return f"{path}.{step}" if path else str(step)


def _plain(array: Array, path: str) -> Array:
    """The array as the format wants it: numbers, C order, little-endian."""
    if array.dtype.kind not in _ARRAY_KINDS or array.dtype.itemsize > 8:
        raise FormatError(f"cannot be stored: {path} is an array of {array.dtype}")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _pack(strings: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Strings as one run of UTF-8 bytes and where each begins and ends."""
    coded = [text.encode("utf-8", "surrogatepass") for text in strings]
    offsets = np.zeros(len(coded) + 1, np.int64)
    np.cumsum([len(text) for text in coded], out=offsets[1:])
    return np.frombuffer(b"".join(coded), np.uint8), offsets


def _unpack(packed: Array, offsets: Array) -> tuple[str, ...]:
    ends = offsets.tolist()
    if not ends or ends[0] != 0 or ends[-1] != len(packed) or bool(np.any(np.diff(offsets) < 0)):
        raise FormatError("is damaged: its symbols are invalid")
    run = packed.tobytes()
    pairs = itertools.pairwise(ends)
    return tuple(run[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairs)
