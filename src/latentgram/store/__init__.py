"""Model files: any frozen dataclass of arrays, symbols, numbers and other such dataclasses, in one `.lg` file.

A file is a safetensors file. Its arrays are the arrays of the value, named by the fields that lead to them; its
metadata hold one JSON document with the format's version, the library's, the class, and the value itself with
references in place of its arrays. Long tuples of strings (alphabets) are packed as UTF-8 bytes and offsets, so
the document stays small and `read_header` is quick whatever the size of the model. A digest over document and
arrays is checked on loading, which therefore reads each byte once: O(size of the file).

No code ever comes out of a file: a class is found by its name in `storable_classes`, and nothing else is
imported. Writing is atomic: a temporary name in the same folder, flushed to the disk, then renamed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict, TypeVar, cast, overload

import numpy as np

import latentgram
from latentgram.data.files import Precision, replacing
from latentgram.data.provenance import Provenance, Summarised
from latentgram.errors import DataError, LatentgramError, ModelFileError, SettingError, a_or_an
from latentgram.kinds.kind import kinds, named
from latentgram.store.codec import Document, FormatError, OtherVersion, decode, encode, find, packed_arrays

FORMAT = 2
"""The version of the format; a file with a greater one is refused."""
FORMAT_OF: dict[Precision, int] = {"full": 1, "compact": 2}
"""The version that a file is written in: the lowest that can say what it holds."""

PARTS = (
    "latentgram.data.alphabet:Alphabet",
    "latentgram.data.binarisation:Binarisation",
    "latentgram.data.head_rules:HeadRules",
    "latentgram.data.ngrams.counts:NGramCounts",
    "latentgram.data.ngrams.trie:NGramTrie",
    "latentgram.data.provenance:Provenance",
    "latentgram.data.rarewords:RareWords",
    "latentgram.data.tag_dictionary:TagDictionary",
    "latentgram.data.text:Text",
    "latentgram.data.tokenise:Tokeniser",
    "latentgram.data.tag_dictionary:WordClasses",
    "latentgram.data.word_clusters:WordClusters",
    "latentgram.data.dependency_symbols:WordSymbols",
    "latentgram.kinds.decoders:MBR",
    "latentgram.kinds.decoders:Viterbi",
    "latentgram.parser.curves:Calibrator",
    "latentgram.parser.curves:Curve",
    "latentgram.parser.parser:Parser",
)
"""Classes besides those of the registry that may stand in a model file, imported when they are met."""


def storable_classes() -> dict[str, str]:
    """Every class that may stand in a model file: "module:Class" by its name.

    >>> storable_classes()["Alphabet"]
    'latentgram.data.alphabet:Alphabet'
    """
    rows = kinds().values()
    references = (*PARTS, *(part for kind in rows for part in (kind.model, *kind.parts)))
    return {reference.partition(":")[2]: reference for reference in references}


_KEY = "latentgram"
_VERSION = re.compile(r"[\w.+-]{1,50}", re.ASCII)
"""What a version of the library looks like; it is shown to people."""
_OF_DAMAGE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, MemoryError)
"""What may be raised when the parts of a file are put together and do not fit."""
_REGISTERED: dict[str, type] = {}
Value = TypeVar("Value")


def storable(cls: type[Value]) -> type[Value]:
    """Let a dataclass of one's own be stored: a class decorator for code outside this library.

    >>> @storable
    ... @dataclasses.dataclass(frozen=True)
    ... class Threshold:
    ...     value: float
    """
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is not a dataclass")
    if cls.__name__ in storable_classes():
        raise TypeError(f"there is already a storable class {cls.__name__}")
    _REGISTERED[cls.__name__] = cls
    return cls


def _class_named(name: str) -> type:
    """The class with this name, by the table only."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name not in (known := storable_classes()):
        raise FormatError(f"holds {a_or_an(name)}, which latentgram {latentgram.__version__} does not know")
    return cast(type, named(known[name]))


class _Written(TypedDict):
    """The JSON document of a file."""

    format: int
    library: str
    kind: str
    digest: str
    value: Document


@dataclasses.dataclass(frozen=True)
class Header:
    """What a model file says of itself; see `read_header`."""

    kind: str
    format: int
    library: str
    digest: str
    precision: Precision
    """Whether every number is as it was learned, or arrays are packed and some rounded."""
    bytes: int
    arrays: Mapping[str, tuple[str, tuple[int, ...]]]
    """Type and shape of every array, by its name."""
    provenance: Provenance | None

    def to_json(self) -> dict[str, object]:
        """All of it as plain JSON values."""
        return dataclasses.asdict(self)


def save(value: object, path: str | os.PathLike[str], precision: Precision = "full") -> None:
    """Write a model, parser or other storable value to a file; writing is atomic.

    With `precision="full"` every number is stored exactly. A compact file is many times smaller: arrays are
    packed, and some are rounded (see the guide on model files).

    >>> import tempfile
    >>> from latentgram.data.alphabet import Alphabet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Alphabet.of(["NN", "DT"]), f"{folder}/tags.lg")
    ...     load(f"{folder}/tags.lg", Alphabet)
    Alphabet(2: DT, NN)
    """
    from safetensors.numpy import save as to_bytes

    if precision not in FORMAT_OF:
        raise SettingError(f"precision must be {' or '.join(FORMAT_OF)}, got {precision!r}")
    name = os.fspath(path)
    if name == "-":
        raise ModelFileError("a model is written to a named file, not to standard output")
    if isinstance(value, type) or not dataclasses.is_dataclass(value):
        what = "a class" if isinstance(value, type) else a_or_an(type(value).__name__)
        raise ModelFileError(f"{name} was not written: {what} cannot be stored, only models, parsers and the like")
    try:
        document, arrays = encode(value, _class_named, compact=precision == "compact")
    except FormatError as error:
        raise ModelFileError(f"{name} was not written: the {type(value).__name__} {error}") from None
    header = {
        "format": FORMAT_OF[precision],
        "library": latentgram.__version__,
        "kind": type(value).__name__,
        "value": document,
    }
    header["digest"] = _digest(header, arrays)
    try:
        with replacing(name) as file:
            file.write(to_bytes(arrays, {_KEY: json.dumps(header)}))
    except DataError as error:
        raise ModelFileError(str(error)) from None


@overload
def load(path: str | os.PathLike[str], kind: type[Value]) -> Value: ...
@overload
def load(path: str | os.PathLike[str], kind: str | None = None) -> Summarised: ...
def load(path: str | os.PathLike[str], kind: type | str | None = None) -> object:
    """Read a file written by `save`; `kind` is the expected class or its name.

    With a class, type checkers and editors know the type of the result: `load("wsj.lg", lg.Parser)` is a `Parser`,
    and a file of anything else is refused. Without one, all they know is that models, parsers and counts have a
    `summary()`; `isinstance` tells which one it is.

    >>> load("nowhere.lg")
    Traceback (most recent call last):
    latentgram.errors.ModelFileError: nowhere.lg ...

    The arrays of the result are writable, as after learning: read-only arrays would be another type for compiled
    kernels, which would have to be compiled again.
    """
    name = os.fspath(path)
    with _opened(name) as (file, header):
        expected = kind.__name__ if isinstance(kind, type) else kind
        if expected is not None and header["kind"] != expected:
            raise ModelFileError(f"{name} is {a_or_an(header['kind'])}, not {a_or_an(expected)}")
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a mapping)
        if header["digest"] != _digest(header, arrays):
            raise ModelFileError(f"{name} is damaged: its contents do not match its digest")
        value = _decoded(header["value"], arrays, header["library"])
        if type(value).__name__ != header["kind"]:
            raise FormatError("does not contain the kind of value named in its header")
        return value


def read_header(path: str | os.PathLike[str]) -> Header:
    """What a model file is, without reading its arrays (and so without checking its digest)."""
    name = os.fspath(path)
    with _opened(name) as (file, header):
        slices = {key: file.get_slice(key) for key in sorted(file.keys())}
        packed = packed_arrays(header["value"])
        origin = find(header["value"], "Provenance")
        return Header(
            header["kind"],
            header["format"],
            header["library"],
            header["digest"],
            next(name for name, written in FORMAT_OF.items() if written == header["format"]),
            os.path.getsize(name),
            {key: packed.get(key) or (part.get_dtype(), tuple(part.get_shape())) for key, part in slices.items()},
            None if origin is None else cast(Provenance, _decoded(origin, {}, header["library"])),
        )


def _decoded(document: Document, arrays: Mapping[str, np.ndarray], library: str) -> object:
    """The value of a document; if its classes have changed since, what to do."""
    try:
        return decode(document, arrays, _class_named)
    except OtherVersion as error:
        here = latentgram.__version__
        raise FormatError(
            f"was written by latentgram {library} and does not fit {here} ({error}): "
            "train the model again with this version, or load it with the version that wrote it"
        ) from None


def _digest(header: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of the document (without its digest) and of every array with its name, type and shape."""
    document = {key: header[key] for key in sorted(header) if key != "digest"}
    state = hashlib.sha256(json.dumps(document).encode())
    for name in sorted(arrays):
        array = arrays[name]
        state.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        state.update(np.ravel(array).view(np.uint8).data)
    return state.hexdigest()


@contextlib.contextmanager
def _opened(name: str) -> Iterator[tuple[Any, _Written]]:
    """The open safetensors file and its checked header; whatever goes wrong inside becomes a `ModelFileError`."""
    from safetensors import SafetensorError, safe_open

    try:
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise FormatError("is not a regular file")
        if os.path.getsize(name) == 0:
            raise FormatError("is empty")
        with safe_open(name, "numpy") as file:
            yield file, _checked(file.metadata())
    except ModelFileError:
        raise
    except FormatError as error:
        raise ModelFileError(f"{name} {error}") from None
    except OSError as error:
        raise ModelFileError(f"{name} cannot be read: {error.strerror or error}") from None
    except (SafetensorError, UnicodeError) as error:
        raise ModelFileError(
            f"{name} is not a latentgram model file, or is truncated or damaged ({error})"
        ) from None
    except (LatentgramError, *_OF_DAMAGE) as error:
        raise ModelFileError(f"{name} is damaged ({type(error).__name__}: {error})") from error


def _checked(metadata: Mapping[str, str] | None) -> _Written:
    """The JSON document of a file, if this library wrote it and understands it."""
    if not metadata or _KEY not in metadata:
        raise FormatError("is a safetensors file, but not one of latentgram's")
    header = json.loads(metadata[_KEY])
    if not isinstance(header, dict) or type(header.get("format")) is not int:
        raise FormatError("is damaged: its header is invalid")
    if header["format"] > FORMAT:
        raise FormatError(
            f"was written by a newer latentgram ({header.get('library')}, format {header['format']}); "
            f"this is {latentgram.__version__} (format {FORMAT})"
        )
    expected = {"format": int, "library": str, "kind": str, "digest": str, "value": dict}
    if (
        set(header) != set(expected)
        or not all(isinstance(header[key], kind) for key, kind in expected.items())
        or header["format"] not in FORMAT_OF.values()
        or not header["kind"].isidentifier()
        or not _VERSION.fullmatch(header["library"])
    ):
        raise FormatError("is damaged: its header is invalid")
    return cast(_Written, header)
