"""Everything that `knowledge` raises.

    KnowledgeError
    +-- PermanentError            trying again will not help until somebody changes something
    |   +-- UnsupportedFormat     no extractor reads this content
    |   +-- UnreadableFile        encrypted, truncated, empty, no permission
    |   |   +-- NoText            sound, but without text that could be read
    |   |   +-- ReaderMissing     a program that reads it is not installed
    |   +-- SourceMissing         the folder or repository of a source is not there
    |   +-- SourceEmpty           a source that had documents offers none any more
    |   +-- UnknownSource         no source of that name in the configuration or in the scope
    |   +-- NotFound              no such document, label or chunk in the scope
    |   |   +-- ContentChanged    it is there, but its content is not what was indexed
    |   +-- ModelMissing          an embedding or reranking model is not there, or no use; the message names it
    |   +-- BadInput              the embedder or another tool rejected this input
    |   +-- CatalogCorrupt        the catalog cannot be read
    |   +-- NewerData             the data folder was written by a newer version
    +-- TransientError            trying again later may help
        +-- ToolDown              an embedder, the vector index or another tool does not answer
        +-- StorageFull           the disk is full
        +-- Busy                  another process or job holds what is needed

Every message is one sentence that a person can act on; it names the file, the source or the setting.
"""

from __future__ import annotations


class KnowledgeError(Exception):
    """Root of all errors of the package."""


class PermanentError(KnowledgeError):
    """Trying again does not help until somebody changes something."""


class TransientError(KnowledgeError):
    """Trying again later may help."""


class UnsupportedFormat(PermanentError):
    """No extractor reads this content."""


class UnreadableFile(PermanentError):
    """The file is encrypted, truncated, empty, or may not be read."""


class NoText(UnreadableFile):
    """The file is sound but holds no text, or only pictures of it."""


class ReaderMissing(UnreadableFile):
    """A program that reads this format is not installed; the message names its package. Tried again at every sync."""


class SourceMissing(PermanentError):
    """The folder or repository of a source is not there."""


class SourceEmpty(PermanentError):
    """A source that had documents offers none any more, as a share does that is not mounted."""


class UnknownSource(PermanentError):
    """No source of that name."""


class NotFound(PermanentError):
    """No such document, label or chunk within the scope."""


class ContentChanged(NotFound):
    """The file holds something else than what was indexed."""


class ModelMissing(PermanentError):
    """An embedding or reranking model is not installed, or cannot be loaded; the message names it."""


class BadInput(PermanentError):
    """A tool rejected this very input."""


class CatalogCorrupt(PermanentError):
    """The catalog cannot be read."""


class NewerData(PermanentError):
    """The data folder was written by a newer version of the program."""


class ToolDown(TransientError):
    """A tool that is needed does not answer."""


class VectorsLost(ToolDown):
    """The vector index answers, but what was stored in it is gone: it has to be filled again."""


class StorageFull(TransientError):
    """The disk is full."""


class Busy(TransientError):
    """Another process or job holds what is needed."""
