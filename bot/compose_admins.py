"""Builds what tells admins by direct message that something is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.admin_notices import AdminNotices, NoticeStore
from bot.compose_platforms import Chat
from bot.services import utc_now

if TYPE_CHECKING:
    from bot.services import Services


def build_admin_notices(services: Services, chat: Chat) -> AdminNotices:
    """Watches the parts of the running bot, and tells those whom `[commands] admins` names."""
    settings = services.settings
    return AdminNotices(
        NoticeStore(services.store, clock=utc_now),
        services.store,
        parts=services.readiness.parts,
        platforms={runner.platform.name: runner.platform for runner in chat.runners},
        admins=settings.commands.admins,
        language=settings.chat.language or "en",
        clock=utc_now,
    )
