"""Known corpora: their licences, and how to get them from `LATENTGRAM_DATA`, a cache or the network.

The library contains no corpora. A corpus is first looked for in the folder named by `LATENTGRAM_DATA` (as
`dependency/en_ewt/train.conllu` and so on), then in the cache (`LATENTGRAM_CACHE`, or the system's cache folder),
and only then downloaded, from a release or a commit, never from a branch. Every file has a checksum here, which is
compared after downloading and when the cache is read.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from latentgram.errors import DataError
from latentgram.progress import Progress, Silent

DATA_VARIABLE = "LATENTGRAM_DATA"
CACHE_VARIABLE = "LATENTGRAM_CACHE"
TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Remote:
    """A file on the web and its checksum, with the name of its method: `sha256:…`.

    Of a zip archive the folder `inside` is what is wanted.
    """

    url: str
    checksum: str
    inside: str = ""

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class Corpus:
    """A corpus: what it is, under which licence, and where its parts are."""

    name: str
    kind: str
    language: str
    licence: str
    home: str
    parts: Mapping[str, Remote] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        """How its files end in a folder of local corpora."""
        return {"dependency": ".conllu", "constituency": ".mrg"}[self.kind]


UD_RELEASE = "r2.7"
"""Of Universal Dependencies; the checksums of its files were published with Hugging Face's datasets 1.x."""
NLTK_COMMIT = "005569f5d91002697c5dfd5bced624209af0b3bb"
"""Of the data of NLTK, whose index at this commit gives the checksums of its files."""


def _universal(name: str, code: str, repository: str, licence: str, *sums: str) -> Corpus:
    """A treebank of Universal Dependencies; `code` is what its files begin with, `sums` those of its parts."""
    base = f"https://raw.githubusercontent.com/UniversalDependencies/{repository}/{UD_RELEASE}"
    parts = {
        part: Remote(f"{base}/{code}-ud-{part}.conllu", f"sha256:{digest}")
        for part, digest in zip(("train", "dev", "test"), sums, strict=True)
    }
    home = f"https://universaldependencies.org/treebanks/{code}/index.html"
    language = repository.removeprefix("UD_").partition("-")[0]
    return Corpus(name, "dependency", language, licence, home, parts)


CORPORA: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        _universal(
            "en_ewt",
            "en_ewt",
            "UD_English-EWT",
            "CC BY-SA 4.0",
            "4e45f7b6f6d4e8d33e0ba7090fc37f2385a91711edb20d456d3fb5f45ac0fc28",
            "57703dcd3b04c32dda6cb7c2a9d836daf65c2b9141a670163693d230b46559c8",
            "25ef2d6fe772b8f05be374e093693f14284ccdd870fc27a9295f7e5a0fc3253a",
        ),
        _universal(
            "gum",
            "en_gum",
            "UD_English-GUM",
            "annotation CC BY 4.0, texts up to CC BY-NC-SA 4.0",
            "e68573d310b106e644e3c9f7a13a0ee113e94542cd3b8a96abc2e1f294732c65",
            "de1ae4bd12f6c3c5c8f6ca1038b2086213ad557185b3d824e6e4db708e6d31f3",
            "4a7ef02625a01029daa8f3b683aa2b144fdace3e2ea76ae9ff67725a72fa50e4",
        ),
        _universal(
            "fr_sequoia",
            "fr_sequoia",
            "UD_French-Sequoia",
            "LGPL-LR",
            "97e8157ecc729674cf3b338fb2606e3d5e5bbbdffb0008ba65ae472ec7a14eb3",
            "1f48e1642ce5bd612d5abe2b3f820fd1f7124b8b4bb7b629c6d185e61f3400e6",
            "2fe1e8abd1be1d3fcd75589b386d3e08cc64b34b4bf05aa894bd43c187b284ed",
        ),
        _universal(
            "de_gsd",
            "de_gsd",
            "UD_German-GSD",
            "CC BY-SA 4.0",
            "7f04925f806a93ec00620631131fcdeb44aca239f8bcc732a29c53560bb8548f",
            "26e994f0403f6de43a22302fd0f632408e32b95b05cf9318d049d51d0c98fbbf",
            "1f04a5a571ef31b7b739d1cdb05ceb2db782c4ad9bbf46672f608caccf349403",
        ),
        _universal(
            "tr_imst",
            "tr_imst",
            "UD_Turkish-IMST",
            "CC BY-NC-SA 3.0",
            "143433753b110aa599aaee26992980e510609881b2ba7dcb46a56596560280e8",
            "ef5f61c81033a2d7d1a9520a335ae40c64b60a086f3839c4526f2a82d29fe28c",
            "81da92f533e370bfa3108b3986cca9d5ddfdd37f8478c1fb9ac5861836b4ffc9",
        ),
        Corpus(
            "wsj-sample",
            "constituency",
            "English",
            "5 % of the Penn Treebank, © LDC 1995, non-commercial use only",
            "https://www.nltk.org/nltk_data/",
            {
                "all": Remote(
                    f"https://raw.githubusercontent.com/nltk/nltk_data/{NLTK_COMMIT}/packages/corpora/treebank.zip",
                    "md5:78c24a97940c2504d0ad35dd3f8a560b",
                    inside="treebank/combined",
                )
            },
        ),
    )
}
"""The corpora that `latentgram data list` shows."""


def corpus_of(name: str, corpora: Mapping[str, Corpus] = CORPORA) -> Corpus:
    """The corpus with this name.

    >>> corpus_of("en_ewt").licence
    'CC BY-SA 4.0'
    """
    try:
        return corpora[name]
    except KeyError:
        raise DataError(f"there is no corpus {name!r}; known: {', '.join(corpora)}") from None


def cache_folder() -> Path:
    """Where fetched corpora are kept."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    import pooch

    return Path(pooch.os_cache("latentgram"))


def local_parts(corpus: Corpus) -> dict[str, Path]:
    """The parts of a corpus in the folder that `LATENTGRAM_DATA` names; none where there are none."""
    root = os.environ.get(DATA_VARIABLE)
    if not root:
        return {}
    folder = Path(root) / corpus.kind / corpus.name
    paths = {part: folder / f"{part}{corpus.suffix}" for part in ("train", "dev", "test")}
    return {part: path for part, path in paths.items() if path.is_file()}


def get_corpus(
    name: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    corpora: Mapping[str, Corpus] = CORPORA,
) -> dict[str, Path]:
    """The files (or folders) of a corpus by part: local ones, cached ones, or fetched now.

    What is fetched is checked before it is put in its place; nothing half-fetched is ever left there.
    """
    corpus = corpus_of(name, corpora)
    if local := local_parts(corpus):
        return local
    folder = Path(cache) if cache is not None else cache_folder() / corpus.name
    shown = progress or Silent()
    parts = {}
    for done, (part, remote) in enumerate(corpus.parts.items(), 1):
        parts[part] = _fetch(remote, folder)
        shown.step(f"fetch {corpus.name}", done, len(corpus.parts))
    return parts


def _fetch(remote: Remote, folder: Path) -> Path:
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    try:
        path = Path(
            pooch.retrieve(
                remote.url,
                known_hash=remote.checksum,
                fname=remote.name,
                path=folder,
                downloader=pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS),
            )
        )
    except requests.exceptions.HTTPError as error:
        status = "" if error.response is None else f" ({error.response.status_code} {error.response.reason})"
        raise DataError(f"the server does not provide this file{status}", path=remote.url) from error
    except requests.exceptions.RequestException as error:
        raise DataError(
            f"the file cannot be downloaded: check the connection, or put the corpus into {DATA_VARIABLE}",
            path=remote.url,
        ) from error
    except ValueError as error:
        raise DataError(
            "the downloaded file has the wrong checksum: it has changed or was damaged in transit",
            path=remote.url,
        ) from error
    except OSError as error:
        raise DataError(f"the cache cannot be written ({error.strerror or error})", path=folder) from error
    return _unpack(path, remote.inside) if remote.inside else path


def _unpack(archive: Path, inside: str) -> Path:
    """The folder of that name in a zip archive, unpacked beside it once."""
    target = archive.parent / inside
    if target.is_dir():
        return target
    try:
        with zipfile.ZipFile(archive) as packed, tempfile.TemporaryDirectory(dir=archive.parent) as draft:
            wanted = [name for name in packed.namelist() if name.startswith(f"{inside}/")]
            if not wanted:
                raise DataError(f"the archive has no folder {inside!r}", path=archive)
            packed.extractall(draft, wanted)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(Path(draft) / inside, target)
    except zipfile.BadZipFile as error:
        raise DataError("this is not a zip archive", path=archive) from error
    return target
