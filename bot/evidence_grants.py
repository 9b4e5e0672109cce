"""Links to evidence that a reader in a channel can open, and nobody can use to see more.

The page of evidence shows what the page itself may show (`web.sources`). A channel may see other sources, and its
readers have no token for the page; so what is cited there carries a grant: a signature over exactly this chunk and the
day on which it ends. With it the page shows the cited part alone.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import quote, unquote

from bot.types import Citation, Reply
from knowledge.types import Scope

_DAY_S = 24 * 3600
_SIGNATURE_CHARS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceGrants:
    """Signs and checks grants; valid across restarts, as long as the key is the same."""

    key: bytes
    clock: Callable[[], datetime]
    days: int

    def grant(self, chunk_id: str) -> str:
        """ "DAY.SIGNATURE"; the same for all that is cited on one day."""
        ends = int((self.clock() + timedelta(days=self.days)).timestamp()) // _DAY_S + 1
        return f"{ends}.{self._sign(chunk_id, ends)}"

    def allows(self, chunk_id: str, grant: str) -> bool:
        """Whether the grant is for this chunk and has not ended."""
        day, _, signature = grant.partition(".")
        if not day.isascii() or not day.isdecimal() or len(day) > 9:
            return False
        matches = hmac.compare_digest(self._sign(chunk_id, int(day)).encode(), signature.encode("utf-8", "replace"))
        return matches and self.clock().timestamp() < int(day) * _DAY_S

    def _sign(self, chunk_id: str, day: int) -> str:
        digest = hmac.new(self.key, f"evidence\0{day}\0{chunk_id}".encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).decode()[:_SIGNATURE_CHARS]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLinks:
    """Makes the links of a reply such that its readers can open them.

    `page_url` is how links to the page begin; `public` whether other machines reach it there. On the page itself
    (`own_platform`) links stay as they are: its readers are signed in, and it decides what they may see.
    """

    page_url: str | None
    public: bool
    grants: EvidenceGrants | None
    own_platform: str = "web"

    def readable(self, reply: Reply, scope: Scope) -> Reply:
        """The reply with links that work where it is read; a link that would lead nowhere is left out. Nothing outside
        the scope is linked, whatever was cited."""
        if reply.thread.platform == self.own_platform or self.page_url is None:
            return reply
        return replace(
            reply,
            notices=tuple(self._with_pages(notice, reply, scope) for notice in reply.notices),
            citations=tuple(self._linked(citation, scope) for citation in reply.citations),
            nearest=tuple(self._linked(citation, scope) for citation in reply.nearest),
        )

    def _linked(self, citation: Citation, scope: Scope) -> Citation:
        start = f"{self.page_url}/evidence/"
        if citation.url is None or not citation.url.startswith(start):
            return citation
        if not self.public or not scope.allows(citation.locator.source):
            return replace(citation, url=None)
        if self.grants is None:
            return citation
        granted = f"{start}{quote(citation.chunk_id, safe='')}?grant={self.grants.grant(citation.chunk_id)}#cited"
        return replace(citation, url=granted)

    def _with_pages(self, notice: str, reply: Reply, scope: Scope) -> str:
        """A notice whose addresses of pictures of pages work as well."""
        cited = {c.chunk_id for c in (*reply.citations, *reply.nearest) if scope.allows(c.locator.source)}

        def linked(found: re.Match[str]) -> str:
            chunk_id = unquote(found["chunk"])
            if not self.public or chunk_id not in cited:
                return "."
            if self.grants is None:
                return found[0]
            grant = self.grants.grant(f"{chunk_id}/page/{found['page']}")
            return f"{found[0]}?grant={grant}"

        address = rf"(?:: )?{re.escape(str(self.page_url))}/evidence/(?P<chunk>[^\s/?#]+)/page/(?P<page>\d+)"
        return re.sub(address, linked, notice)
