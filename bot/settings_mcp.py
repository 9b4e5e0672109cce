"""`[mcp]`: whether other assistants may search over the Model Context Protocol, and what they see."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from bot.settings_sections import Section


class McpSettings(Section):
    """`[mcp]`: `sources` None means all of them."""

    enabled: bool = False
    token_env: str | None = None
    token_file: Path | None = None
    sources: tuple[str, ...] | None = None

    SECRETS: ClassVar[tuple[str, ...]] = ("token",)

    @property
    def is_used(self) -> bool:
        return self.enabled
