"""What collectors, chats and people do to a stack trace before it arrives."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Callable

Disturb = Callable[[str], str]


def _each(before: str) -> Disturb:
    return lambda text: "\n".join(before.format(n=number % 60) + line for number, line in enumerate(text.split("\n")))


def _two_pods(text: str) -> str:
    """Taking turns with the healthy lines of another pod."""
    lines = []
    for number, line in enumerate(text.split("\n")):
        lines.append(f"[pod/shop-7d9f8b6c5-x2x4z/app] {line}")
        lines.append(f"[pod/shop-7d9f8b6c5-k9j2m/app] GET /health {number} 200 OK")
    return "\n".join(lines)


def _hard_wrapped(width: int) -> Disturb:
    def wrap(text: str) -> str:
        return "\n".join(
            line[at : at + width] for line in text.split("\n") for at in range(0, max(1, len(line)), width)
        )

    return wrap


def _word_wrapped(text: str) -> str:
    return "\n".join(
        piece
        for line in text.split("\n")
        for piece in (
            textwrap.wrap(line, 80, break_long_words=False, break_on_hyphens=False, drop_whitespace=True) or [""]
        )
    )


def _json_log_line(text: str) -> str:
    return json.dumps(
        {"@timestamp": "2026-03-02T00:00:00Z", "level": "ERROR", "message": "failed", "stack_trace": text}
    )


# Everything that leaves the lines of a trace whole, or can be undone without a guess.
LOSSLESS: dict[str, Disturb] = {
    "docker compose": _each("shop_1  | "),
    "kubernetes": _each("2026-03-02T10:00:{n:02}.123456789Z stdout F "),
    "docker with times": _each("2026-03-02T10:00:{n:02}.123456789Z "),
    "kubectl": _each("[pod/shop-7d9f8b6c5-x2x4z/app] "),
    "stern": _each("shop-7d9f8b6c5-x2x4z app "),
    "syslog": _each("Mar  2 10:00:{n:02} host-3 shop[812]: "),
    "journal": _each("2026-03-02T10:00:{n:02}+0900 host-3 shop[812]: "),
    "syslog 5424": _each("<11>1 2026-03-02T10:00:{n:02}.000Z host-3 shop 812 - - "),
    "heroku": _each("2026-03-02T10:00:{n:02}.000000+00:00 app[web.1]: "),
    "compose over kubernetes": _each("shop_1 | 2026-03-02T10:00:{n:02}.1Z stderr F "),
    "quoted": _each("> "),
    "two pods": _two_pods,
    "fenced": lambda text: f"Error in shop\n```\n{text}\n```",
    "fenced without breaks": lambda text: f"Error in shop\n```{text}```",
    "windows line ends": lambda text: text.replace("\n", "\r\n"),
    "coloured": lambda text: "\n".join(f"\x1b[31m{line}\x1b[0m" for line in text.split("\n")),
    "as html": html.escape,
    "escaped": lambda text: json.dumps(text)[1:-1],
    "escaped in quotes": json.dumps,
    "escaped without letters of other scripts": lambda text: json.dumps(text, ensure_ascii=True),
    "escaped twice": lambda text: json.dumps(json.dumps(text))[1:-1],
    "in a log record": _json_log_line,
    "in a log record behind a prefix": lambda text: f"shop_1 | {_json_log_line(text)}",
    "trailing blanks": lambda text: "\n".join(f"{line}  " for line in text.split("\n")),
    "between other lines": lambda text: f"shop started on port 8080\nGET / 200\n\n{text}\n\nGET /health 200\nGET / 200",
}
# What loses something: the own frames must be found all the same.
LOSSY: dict[str, Disturb] = {
    "wrapped at 80": _hard_wrapped(80),
    "wrapped at 120": _hard_wrapped(120),
    "wrapped at words": _word_wrapped,
    "one line": lambda text: " ".join(line.strip() for line in text.split("\n") if line.strip()),
    "one line, tabs kept": lambda text: " ".join(line for line in text.split("\n") if line.strip()),
    "without indent": lambda text: "\n".join(line.strip() for line in text.split("\n")),
    "blank lines between": lambda text: "\n\n".join(line for line in text.split("\n")),
}
