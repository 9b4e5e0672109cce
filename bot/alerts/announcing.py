"""What is posted for an alert that came by HTTP: the first post of its thread, and the digest of what is beyond limits.

What the alert itself says stands in code only, where no client follows links or calls people.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.alerts.alert import Alert
from bot.alerts.digests import Digest
from bot.reply_text import link_address
from bot.two_languages import Texts
from bot.types import Language

MAX_LINES = 12
MAX_EXCERPT_CHARS = 1_200
LATE_AFTER = timedelta(minutes=10)

_SIGNS: Mapping[str, str] = {"critical": "🔴", "error": "🔴", "warning": "🟠", "info": "🔵", "unknown": "⚪"}
TEXTS = Texts({
    "open": {"ko": "알림 열기", "en": "Open the alert"},
    "late": {
        "ko": "{at} UTC에 받은 알림입니다. 이 채널에 지금에야 올릴 수 있었습니다.",
        "en": "This alert came at {at} UTC; it could be posted here only now.",
    },
    "beyond": {
        "ko": "**분석 한도를 넘은 장애** · {hour} UTC부터 한 시간\n"
        "장애 {faults}종, 알림 {alerts}건. 분석하지 않고 세기만 합니다.",
        "en": "**Faults beyond the limit of analyses** · the hour from {hour} UTC\n"
        "{faults} faults, {alerts} alerts. They are counted, not analysed.",
    },
    "line": {"ko": "{n}번, 마지막 {at}", "en": "{n} times, last at {at}"},
    "more": {"ko": "그 밖에 {n}종", "en": "{n} more faults"},
})  # fmt: skip


def announcement(alert: Alert, language: Language, *, received_at: datetime, now: datetime) -> str:
    """The first post of an alert as Markdown: what, where, how bad, the beginning of its text, and a link to it."""
    names = [alert.service, alert.environment, None if alert.severity == "unknown" else alert.severity]
    head = " · ".join([f"**{_code(_headline(alert))}**", *(_code(name) for name in names if name)])
    parts = [f"{_SIGNS.get(alert.severity, '⚪')} {head}"]
    excerpt = _excerpt(alert)
    if excerpt:
        parts.append(f"```\n{excerpt}\n```")
    address = link_address(alert.url)
    if address:
        parts.append(f"[{TEXTS.say('open', language)}]({address})")
    if now - received_at > LATE_AFTER:
        parts.append(f"_{TEXTS.say('late', language, at=f'{received_at:%Y-%m-%d %H:%M}')}_")
    return "\n\n".join(parts)


def digest_text(digest: Digest, language: Language) -> str:
    """The post under which faults beyond the limits are gathered."""
    hour = datetime.fromisoformat(digest.hour)
    lines = [
        f"- {_code(one.title)} · {_code(one.service or '-')}: "
        + TEXTS.say("line", language, n=one.count, at=f"{one.last_at:%H:%M}")
        for one in digest.listed
    ]
    if digest.faults > len(digest.listed):
        lines.append(f"- {TEXTS.say('more', language, n=digest.faults - len(digest.listed))}")
    head = TEXTS.say("beyond", language, hour=f"{hour:%m-%d %H:%M}", faults=digest.faults, alerts=digest.alerts)
    return "\n".join([head, "", *lines]) if lines else head


def _headline(alert: Alert) -> str:
    """The title that the alerting system gave; a bare trace has none, and begins with words that say nothing."""
    if alert.format in ("trace", "log", "text") and alert.error_class:
        return f"{alert.error_class}: {alert.message}" if alert.message else alert.error_class
    return alert.title or alert.error_class or alert.message


def _excerpt(alert: Alert) -> str:
    """The beginning of what the alert says, without what the head says already."""
    text = alert.raw.strip() or alert.message
    lines = text.replace("```", "'''").splitlines()
    if lines and not alert.traces and lines[0].strip() == _headline(alert).strip():
        lines = lines[1:]
    shown = "\n".join(line.rstrip() for line in lines[:MAX_LINES])[:MAX_EXCERPT_CHARS].rstrip()
    return f"{shown}\n…" if len(shown) < len("\n".join(lines).rstrip()) else shown


def _code(text: str) -> str:
    return f"`{' '.join(text.replace('`', chr(39)).split())[:200] or '-'}`"
