"""Chroma as the vector index, embedded in this process or as a server. It can be lost: reconcile rebuilds it."""

from __future__ import annotations

import contextlib
import errno
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from knowledge.errors import KnowledgeError, StorageFull, ToolDown, VectorsLost
from knowledge.ports import Vectors

UPSERT_BATCH = 2_000  # Chroma refuses more than 5,461
DELETE_BATCH = 2_000
READ_BATCH = 20_000
CONNECT_TIMEOUT_S = 10.0
REQUEST_TIMEOUT_S = 60.0


class ChromaIndex:
    """Vectors in Chroma collections, compared by cosine."""

    def __init__(self, client: Any, *, place: str, close: Callable[[], None] | None = None) -> None:
        self._client = client
        self._close = close
        self._place = place
        self._collections: dict[str, Any] = {}
        self._lock = threading.Lock()

    @classmethod
    def embedded(cls, path: Path) -> ChromaIndex:
        """The index in the folder `path`, created when missing; a damaged folder is replaced by an empty one."""
        import chromadb
        from chromadb.config import Settings

        def connect() -> Any:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            client = chromadb.PersistentClient(path=str(path), settings=Settings(anonymized_telemetry=False))
            for collection in client.list_collections():
                collection.count()
            return client

        try:
            return cls(_connected(connect), place=str(path))
        except _Damaged as damage:
            chromadb.api.client.SharedSystemClient.clear_system_cache()
            shutil.rmtree(path, ignore_errors=True)
            try:
                return cls(_connected(connect), place=str(path))
            except _Damaged as error:
                raise ToolDown(f"The vector index in {path} cannot be opened: {error}") from damage

    @classmethod
    def server(cls, url: str) -> ChromaIndex:
        """The index of a Chroma server. Raises ToolDown when it does not answer."""
        import chromadb
        import httpx
        from chromadb.config import Settings

        parts = urlsplit(url)
        secure = parts.scheme == "https"
        with _translated(url):
            # asked first, because a client that fails to connect keeps its connections open for good
            httpx.get(f"{url.rstrip('/')}/api/v2/heartbeat", timeout=CONNECT_TIMEOUT_S).raise_for_status()
            client = chromadb.HttpClient(
                host=parts.hostname or "127.0.0.1",
                port=parts.port or (443 if secure else 8000),
                ssl=secure,
                settings=Settings(anonymized_telemetry=False),
            )
        session = getattr(client._server, "_session", None)
        if isinstance(session, httpx.Client):
            session.timeout = httpx.Timeout(REQUEST_TIMEOUT_S)  # Chroma itself would wait forever
            return cls(client, place=url, close=session.close)
        return cls(client, place=url)

    def upsert(self, collection: str, ids: Sequence[str], vectors: Vectors) -> None:
        # Chroma refuses duplicate ids within one call; the last one counts, as in separate calls
        places = list({chunk_id: place for place, chunk_id in enumerate(ids)}.values())
        with _translated(self._place):
            target = self._collection(collection, create=True)
            for start in range(0, len(places), UPSERT_BATCH):
                batch = places[start : start + UPSERT_BATCH]
                target.upsert(
                    ids=[ids[place] for place in batch], embeddings=np.asarray(vectors[batch], dtype=np.float32)
                )

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        wanted = list(dict.fromkeys(ids))
        with _translated(self._place):
            target = self._collection(collection, create=False)
            if target is None:
                return
            for start in range(0, len(wanted), DELETE_BATCH):
                target.delete(ids=wanted[start : start + DELETE_BATCH])

    def search(self, collection: str, vector: Vectors, limit: int) -> Sequence[tuple[str, float]]:
        if limit < 1:
            return []
        with _translated(self._place):
            target = self._collection(collection, create=False)
            if target is None:
                return []
            found = target.query(
                query_embeddings=np.asarray(vector, dtype=np.float32)[np.newaxis, :],
                n_results=limit,
                include=["distances"],
            )
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [(chunk_id, 1.0 - float(distance)) for chunk_id, distance in pairs]

    def ids(self, collection: str) -> set[str]:
        found: set[str] = set()
        with _translated(self._place):
            target = self._collection(collection, create=False)
            while target is not None:
                batch = target.get(include=[], limit=READ_BATCH, offset=len(found))["ids"]
                found.update(batch)
                if len(batch) < READ_BATCH:
                    break
        return found

    def fetch(self, collection: str, ids: Sequence[str]) -> Mapping[str, Vectors]:
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Vectors] = {}
        with _translated(self._place):
            target = self._collection(collection, create=False)
            for start in range(0, len(wanted) if target is not None else 0, READ_BATCH):
                got = target.get(ids=wanted[start : start + READ_BATCH], include=["embeddings"])
                stored = [np.asarray(vector, dtype=np.float32) for vector in got["embeddings"]]
                found.update(zip(got["ids"], stored, strict=True))
        return found

    def count(self, collection: str) -> int:
        """How many vectors a collection holds; an unknown one holds none."""
        with _translated(self._place):
            target = self._collection(collection, create=False)
            return 0 if target is None else int(target.count())

    def collections(self) -> set[str]:
        with _translated(self._place):
            return {collection.name for collection in self._client.list_collections()}

    def drop(self, collection: str) -> None:
        import chromadb.errors

        with self._lock:
            self._collections.pop(collection, None)
        with _translated(self._place), contextlib.suppress(chromadb.errors.NotFoundError, ValueError):
            self._client.delete_collection(collection)

    def close(self) -> None:
        with self._lock:
            self._collections.clear()
        self._client.close()
        if self._close is not None:
            self._close()

    def _collection(self, name: str, *, create: bool) -> Any:
        import chromadb.errors

        with self._lock:
            known = self._collections.get(name)
            if known is not None:
                return known
            try:
                found = self._client.get_collection(name, embedding_function=None)
            except (chromadb.errors.NotFoundError, ValueError):
                if not create:
                    return None
                found = self._client.get_or_create_collection(
                    name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
                )
            self._collections[name] = found
            return found


class _Damaged(Exception):
    """The folder of an embedded index cannot be opened."""


def _connected(connect: Callable[[], Any]) -> Any:
    import chromadb.errors

    try:
        return connect()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StorageFull("The disk is full: free some space, then try again") from error
        raise _Damaged(str(error)) from error
    except (chromadb.errors.ChromaError, sqlite3.Error, ValueError, KeyError, RuntimeError, TypeError) as error:
        raise _Damaged(str(error)) from error
    except BaseException as error:
        # the Rust core reports some damage as a panic, which is no Exception; its class cannot be imported
        if type(error).__name__ != "PanicException":
            raise
        raise _Damaged(str(error)) from error


@contextmanager
def _translated(place: str) -> Iterator[None]:
    """Errors of Chroma and of the way to it leave as ToolDown, VectorsLost or StorageFull."""
    import chromadb.errors
    import httpx

    try:
        yield
    except KnowledgeError:
        raise
    except chromadb.errors.NotFoundError as error:  # of a collection that was there: the server lost its disk
        raise VectorsLost(f"The vector index at {place} was emptied: {error}") from error
    except (chromadb.errors.ChromaError, httpx.HTTPError, OSError, ValueError, RuntimeError) as error:
        if "disk is full" in str(error) or getattr(error, "errno", None) == errno.ENOSPC:
            raise StorageFull(f"The disk that holds {place} is full: free some space, then try again") from error
        raise ToolDown(f"The vector index at {place} failed: {error}") from error
