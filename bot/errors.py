"""Everything that `bot` raises.

BotError
+-- ConfigError           haechi.toml or the environment; the message names the file, the key and the remedy
+-- DataFolderBusy        another process owns the data folder
+-- StoreError            bot.sqlite3 cannot be used
+-- BackupError           a backup cannot be written, or is not whole, or newer than this version
+-- AddressUnavailable    the page's host and port cannot be bound, e.g. because another program uses them
+-- PlatformError
|   +-- AuthError         a token is wrong or was revoked
|   +-- RateLimited       carries retry_after_s
|   +-- Unreachable       no connection, or a server error
+-- ModelError
    +-- ModelTimeout      no first token, or not finished in time
    +-- ModelNotInstalled the model server does not have this model; the message names it
    +-- ModelUnavailable  the model server does not answer, or broke off
    +-- ModelPromptCut    the prompt does not fit into the model's window, so evidence was lost
    +-- ModelReplyCut     the reply reached its limit and ends in the middle
    +-- ModelReplyInvalid the reply does not keep to the form that was asked for
"""

from __future__ import annotations


class BotError(Exception):
    """Root of all errors of the package."""


class ConfigError(BotError):
    """haechi.toml or the environment is wrong."""


class DataFolderBusy(BotError):
    """Another process owns the data folder and does not answer."""


class StoreError(BotError):
    """bot.sqlite3 cannot be used."""


class BackupError(BotError):
    """A backup cannot be written, or what was given is not a whole one of this version or an older one."""


class AddressUnavailable(BotError):
    """The page's host and port cannot be bound; the message names both and the setting to change."""


class PlatformError(BotError):
    """A chat platform failed."""


class AuthError(PlatformError):
    """A token is wrong or was revoked."""


class RateLimited(PlatformError):
    """The platform asks to wait."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unreachable(PlatformError):
    """No connection, or a server error."""


class ModelError(BotError):
    """A chat model failed."""


class ModelTimeout(ModelError):
    """No first token, or not finished in time."""


class ModelNotInstalled(ModelError):
    """The model server does not have this model."""


class ModelUnavailable(ModelError):
    """The model server does not answer, or broke off in the middle."""


class ModelPromptCut(ModelError):
    """The prompt does not fit into the model's window: the model did not see all the evidence."""


class ModelReplyCut(ModelError):
    """The reply reached its limit and ends in the middle."""


class ModelReplyInvalid(ModelError):
    """The reply does not keep to the JSON schema that was asked for, twice."""
