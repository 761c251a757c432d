"""Fetching from a server on this machine: checksums, refusals, no connection, local folders first."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import re
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from latentgram.data.datasets import CORPORA, Corpus, Remote, corpus_of, get_corpus, local_parts
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError

CONTENT = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
SUM = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "train.conllu").write_bytes(CONTENT)
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_local_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("LATENTGRAM_DATA", raising=False)
    monkeypatch.setenv("LATENTGRAM_CACHE", str(tmp_path / "cache"))


def sum_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def table(url: str, checksum: str = SUM, inside: str = "") -> dict[str, Corpus]:
    return {"mini": Corpus("mini", "dependency", "none", "free", url, {"train": Remote(url, checksum, inside)})}


def test_fetched_once_with_a_known_sum(served: tuple[Path, str], tmp_path: Path):
    folder, base = served
    known = table(f"{base}/train.conllu")
    path = get_corpus("mini", corpora=known)["train"]
    assert path == tmp_path / "cache" / "mini" / "train.conllu"
    assert len(Treebank.read(path)) == 1
    (folder / "train.conllu").unlink()
    assert get_corpus("mini", corpora=known)["train"] == path


def test_a_wrong_sum_leaves_nothing(served: tuple[Path, str], tmp_path: Path):
    with pytest.raises(DataError, match="checksum"):
        get_corpus("mini", corpora=table(f"{served[1]}/train.conllu", f"sha256:{'0' * 64}"))
    assert not list((tmp_path / "cache").rglob("*.conllu"))


def test_what_changed_in_the_cache_is_fetched_again_and_what_changed_there_is_refused(served: tuple[Path, str]):
    folder, base = served
    known = table(f"{base}/train.conllu")
    path = get_corpus("mini", corpora=known)["train"]
    path.write_bytes(b"damaged")
    assert get_corpus("mini", corpora=known)["train"].read_bytes() == CONTENT
    path.unlink()
    (folder / "train.conllu").write_bytes(b"something else")
    with pytest.raises(DataError, match="checksum"):
        get_corpus("mini", corpora=known)


def test_refused_and_offline(served: tuple[Path, str]):
    with pytest.raises(DataError, match=r"does not provide this file \(404"):
        get_corpus("mini", corpora=table(f"{served[1]}/nothing.conllu"))
    with pytest.raises(DataError, match="check the connection"):
        get_corpus("mini", corpora=table("http://127.0.0.1:9/train.conllu"))


def test_archives_are_unpacked_once(served: tuple[Path, str]):
    folder, base = served
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bank/combined/a.mrg", "(S (A a))\n(S (B b))\n")
        archive.writestr("bank/raw/a.txt", "a b")
    (folder / "bank.zip").write_bytes(packed.getvalue())
    known = table(f"{base}/bank.zip", sum_of(packed.getvalue()), "bank/combined")
    place = get_corpus("mini", corpora=known)["train"]
    assert len(Treebank.read(place)) == 2
    assert not (place.parent / "raw").exists()
    (folder / "bank.zip").unlink()
    assert get_corpus("mini", corpora=known)["train"] == place
    (folder / "no.zip").write_bytes(b"no archive")
    with pytest.raises(DataError, match="not a zip archive"):
        get_corpus("mini", corpora=table(f"{base}/no.zip", sum_of(b"no archive"), "nothing"))
    (folder / "other.zip").write_bytes(packed.getvalue())
    with pytest.raises(DataError, match="no folder 'else'"):
        get_corpus("mini", corpora=table(f"{base}/other.zip", sum_of(packed.getvalue()), "else"))


def test_local_corpora_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "data" / "dependency" / "mini"
    folder.mkdir(parents=True)
    (folder / "train.conllu").write_bytes(CONTENT)
    monkeypatch.setenv("LATENTGRAM_DATA", str(tmp_path / "data"))
    assert get_corpus("mini", corpora=table("http://127.0.0.1:9/x")) == {"train": folder / "train.conllu"}


def test_the_table():
    with pytest.raises(DataError, match="known: en_ewt"):
        corpus_of("nonsense")
    for name, corpus in CORPORA.items():
        assert corpus.name == name
        assert corpus.licence
        assert all(remote.url.startswith("https://") for remote in corpus.parts.values())
        for remote in corpus.parts.values():
            assert re.fullmatch(r"(sha256:[0-9a-f]{64})|(md5:[0-9a-f]{32})", remote.checksum)
            assert re.search(r"/(r\d\.\d+|[0-9a-f]{40})/", remote.url), "an address must not move"


@pytest.mark.corpus
def test_real_corpora_are_found(corpora: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LATENTGRAM_DATA", str(corpora))
    found = {name for name, corpus in CORPORA.items() if local_parts(corpus)}
    assert {"en_ewt", "wsj-sample"} <= found
