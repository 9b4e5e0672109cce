"""One line of a log as Logback, Log4j, Python and others print it: level, logger, application and message."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.alerts.log_text import without_prefix

_TIME = r"\[?(?:\d{4}[-/]\d{2}[-/]\d{2}[T ])?\d{2}:\d{2}:\d{2}\S*"
_LEVEL = r"(?P<level>FATAL|CRITICAL|ERROR|WARN(?:ING)?|INFO|DEBUG)"
# 2026-03-02 10:00:00.123 ERROR 1 --- [shop] [nio-8080-exec-3] c.o.shop.OrderController : order 17 failed
# 10:00:00.123 [main] ERROR com.onsemiro.ledger.Main - cannot start
_LINE = re.compile(
    rf"^{_TIME}\s+(?:\[[^\]]{{0,80}}\]\s+)?{_LEVEL}\s+"
    r"(?:\d+\s+)?(?:---\s+)?(?:\[(?P<app>[\w-]{2,40})\]\s+(?=\[))?(?:\[[^\]]{0,80}\]\s+)*(?P<logger>[\w.$\[\]/]{3,120})"
    r"\s*(?:-|:)\s(?P<message>.*)$"
)
# ERROR:ledger.close:close_day failed, ERROR 2026-03-02 10:00:00,123 log Internal Server Error: /
_LEVEL_FIRST = re.compile(
    rf"^{_LEVEL}(?::(?P<named>[\w.]{{1,120}}):|\s+{_TIME}\s+(?:\[[^\]]{{0,80}}\]\s+)?(?P<logger>[\w.]{{3,120}}):?\s)\s*(?P<message>.*)$"
)
_READ_LINES = 200


@dataclass(frozen=True, slots=True)
class LogLine:
    """What one line tells; empty texts where it tells nothing."""

    level: str
    logger: str
    app: str
    message: str


def find_log_line(lines: list[str]) -> LogLine | None:
    """The first line of a log among the lines, without the prefix that a collector gave it."""
    for line in lines[:_READ_LINES]:
        plain = without_prefix(line.strip())
        for candidate in (line.strip(), plain):
            match = _LINE.match(candidate[:2000]) or _LEVEL_FIRST.match(candidate[:2000])
            if match is not None:
                told = match.groupdict()
                logger = told.get("logger") or told.get("named") or ""
                return LogLine(match["level"], logger, told.get("app") or "", match["message"])
    return None
