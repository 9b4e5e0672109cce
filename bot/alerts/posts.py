"""Posts of alerting systems in chat, log lines, plain text: title, labels and state by the words that stand there."""

from __future__ import annotations

import re

from bot.alerts.alert import AlertStatus
from bot.alerts.log_line import find_log_line
from bot.alerts.payloads.told import MAX_LABELS, Told, labels_of
from bot.alerts.post_rules import incident_of, rule_of, without_state

_SYSTEMS = (
    ("alertmanager", re.compile(r"^\W*(?:@\w+\s+)?\[(?:FIRING|RESOLVED)(?::\d+)?\]", re.IGNORECASE | re.MULTILINE)),
    ("cloudwatch", re.compile(r"CloudWatch Alarm|^\W*(?:ALARM|OK): \"|AWS Chatbot|Amazon Q Developer", re.IGNORECASE)),
    ("pagerduty", re.compile(r"PagerDuty|pagerduty\.com", re.IGNORECASE)),
    ("opsgenie", re.compile(r"Opsgenie", re.IGNORECASE)),
    (
        "datadog",
        re.compile(
            r"datadoghq\.|^\W*(?:\[P\d\] )?\[?(?:Triggered|Recovered"
            r"|Re-Triggered|Warn)\b",
            re.IGNORECASE,
        ),
    ),
    ("sentry", re.compile(r"sentry\.io|\bSentry\b|Short ID:|\(via Sentry\)", re.IGNORECASE)),
    (
        "github",
        re.compile(
            r"github\.com/\S+/actions|GitHub Actions|Workflow run"
            r"|workflow.{0,60}(?:failed|passed)",
            re.IGNORECASE,
        ),
    ),
    ("gitlab", re.compile(r"Pipeline #?\d+|gitlab", re.IGNORECASE)),
)
_GRAFANA = re.compile(r"^\s*(?:Labels|Annotations):\s*$|Grafana|/alerting/grafana/|Silence: http", re.MULTILINE)
# Only what stands at the head of a post, and as a state: "복구 불가 오류" and "Resolved path /a not found" are faults.
_RESOLVED = re.compile(
    r"^[^\w\[]*(?:\[P\d\]\s*)?\[(?:RESOLVED(?::\d+)?|Recovered\b[^\]]*|OK|Closed|UP|RECOVERY|해결|복구|정상|해소|완료)\]"
    r"|^[^\w\[]*(?:Recovered|Resolved)\b(?=\s*(?:#\d+|[:\-|]|on\b|$))|^[^\w\[]*(?:RECOVERY|UP|OK)\s*[:\-]"
    r"|^[^\w\[]*Resolved in (?:\d+\s?[dhms]\s*){1,4}:"
    r"|^[^\w\[]*Closed alert\b"
    r"|\bstate changed to OK\b|\b(?:ALARM|INSUFFICIENT_DATA) -> OK\b|\bOK: \""
    r"|(?:장애|알림|경보|오류|지연).{0,30}(?:복구|해결|해소|정상화)(?:되었|됐|됨|완료|$)"
    r"|^Status: (?:resolved|closed|OK)\b",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD_LINES = 4
_HEADED = re.compile(r"^[^\w\[]*\[(?:FIRING|RESOLVED)(?::\d+)?\]\s*\S", re.IGNORECASE)
_ROW = re.compile(r"^\s*\|\s*(?P<key>[^|\n]{1,40}?)\s*\|\s*(?P<value>[^|\n]{1,300}?)\s*\|\s*$")
_PASSED = re.compile(
    r"(?:pipeline|workflow|build|job|run|배포|deployment?|release).{0,80}\b(?:passed|succeeded|successful(?:ly)?|success|completed|started)\b"
    r"|\bdeployed\b|^\W*(?:배포(?:가|를)? (?:완료|시작))|(?:배포|빌드).{0,30}(?:성공|완료|시작)",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"fail|error|exception|panic|critical|alarm|firing|triggered|traceback|timeout|실패|오류|에러|장애|예외|경고",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^[\s\-•*]*[*_`]{0,2}(?P<key>[A-Za-z가-힣][\w."
    r" \-/가-힣]{0,38}?)[*_`]{0,2}\s*[:=][*_`]{0,2}\s+[*`]{0,2}(?P<value>\S.{0,300}?)[*`]{0,2}\s*$"
    r"|^[\s\-•*]*`?(?P<key2>[A-Za-z_][\w.-]{0,40})\s?=\s?\"?(?P<value2>[^\s\"][^\"\n]{0,200}?)\"?`?\s*$"
)
_URL = re.compile(r"(?P<url>https?://[^\s<>|)\]]+)")
_OWN_LINE = re.compile(
    r"^\W*(?:(?:link|url|source|details?|dashboard|open|view|주소|링크|바로 ?가기|상세)\W{1,3})?(?P<url>https?://[^\s<>|)\]]+)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_ALIASES = {
    "서비스": "service",
    "애플리케이션": "service",
    "앱": "service",
    "환경": "environment",
    "심각도": "severity",
    "등급": "severity",
    "레벨": "severity",
    "level": "severity",
    "priority": "severity",
    "urgency": "severity",
    "state": "status",
    "상태": "status",
    "버전": "version",
    "커밋": "commit",
    "알림": "alertname",
    "alarm name": "alertname",
    "alarm": "alertname",
    "monitor": "alertname",
    "project": "project",
    "env": "environment",
    "stage": "environment",
    "new state": "status",
    "error type": "error_class",
    "exception": "error_class",
}
_MESSAGE_LABELS = ("description", "message", "summary", "reason", "reason_for_state_change", "내용", "메시지")
_USUAL_SEVERITIES = {"sentry": "error", "cloudwatch": "error", "github": "error", "gitlab": "error"}
_PROJECT = re.compile(r"\[([a-z0-9][\w.-]{1,60})\] (?=\S)")  # [shop-web] TypeError: ...
_NEXT_LABEL = re.compile(r"\s{2,}(?=[A-Z][\w ]{0,30}: )")
_TICKED = re.compile(r"([A-Za-z][\w.-]{0,40}): `([^`\n]{1,200})`")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(https?://[^\s()]{1,1000}\)")
_LINK_BEHIND = re.compile(r"\s*\(https?://[^\s()]{1,1000}\)")
_EMPHASIS = re.compile(r"[*`]|(?<!\w)_|_(?!\w)")
_PICTURE = re.compile(r":[a-z][a-z0-9_+-]{1,40}:|[\U0001F300-\U0001FAFF\u2600-\u27bf\ufe0f]")
_ENVIRONMENT = re.compile(
    r"(?<![\w.-])(?:prod|production|prd|staging|stg|dev|development|qa)(?![\w.-])|\[(?:운영|개발|스테이징|검증)\]",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:[\w$]{1,80}\.){0,10}[A-Z][\w$]{1,80}")
MAX_READ_CHARS = 20_000
_CLASS = re.compile(r"(?:[\w$]+[.\\:]+)*[A-Z]\w*(?:Error|Exception|Failure|Timeout|Panic)")


def read_text(text: str, *, author: str) -> list[Told] | str:
    """The alert of a text; or why it is none, as the end of a sentence ("tells that a build passed")."""
    plain = _PICTURE.sub("", text[:MAX_READ_CHARS])
    lines = [line for line in plain.splitlines() if line.strip(" `")]
    words = [_words_of(line) for line in lines[:6]]
    title = _title(words[:_HEAD_LINES])
    head = "\n".join((*lines[:_HEAD_LINES], *words[:_HEAD_LINES]))
    status: AlertStatus = "resolved" if _RESOLVED.search(head) else "firing"
    passed = _PASSED.search(title) is not None and not _TROUBLE.search(text)
    system = _system(plain, author)
    if passed and system not in ("github", "gitlab"):
        return "tells of something that went well"
    labels = _labels(lines)
    if labels.get("status", "").casefold() in ("resolved", "closed", "ok", "해결", "복구"):
        status = "resolved"
    logged = find_log_line(lines)
    error_class, said, project = labels.get("error_class", ""), "", None
    if system == "sentry" and not error_class:
        project = _PROJECT.match(title)
        error_class, said = _sentry_head(title[project.end() :] if project else title, lines)
    named = _CLASS.match(title)
    name = system or ("log" if logged else "text")
    return [
        Told(
            format=name,
            title=logged.message[:300] if logged else title,
            message=(logged.message if logged else "") or said or _message(labels, title),
            text=text,
            error_class=error_class or (named[0] if named and name == "text" else ""),
            service=labels.get("service", "") or (logged.app if logged else "") or (project[1] if project else ""),
            environment=labels.get("environment", "") or _environment(title),
            severity=labels.get("severity", "")
            or (logged.level if logged else _severity(plain) or _USUAL_SEVERITIES.get(system or "", "")),
            status="resolved" if passed else status,
            rule=rule_of(title, words[1:], labels, system),
            logger=logged.logger if logged else "",
            labels=labels,
            dedup_key=incident_of(plain, system),
            url=_own_address(plain, system),
        )
    ]


def _own_address(text: str, system: str | None) -> str:
    """Where the alert stands in its own system. What threw an error may name any address, so one in the middle of a
    line is none where no system is known."""
    found = _URL.search(text) if system is not None else _OWN_LINE.search(text)
    return found["url"] if found else ""


def _title(words: list[str]) -> str:
    """The line that a system heads, else the first that says more than a state."""
    headed = next((line for line in words if _HEADED.match(line)), "")
    return (headed or next((line for line in words if without_state(line)), words[0] if words else ""))[:300]


def _words_of(line: str) -> str:
    """A line without what only decorates it: links, emphasis, pictures by name."""
    line = _LINK_BEHIND.sub("", _LINK.sub(r"\1", line))
    return re.sub(r"\s{2,}", " ", _EMPHASIS.sub("", line)).strip(" *_`#>")


def _sentry_head(title: str, lines: list[str]) -> tuple[str, str]:
    """(class, message) of a post of Sentry: "KeyError: 'vat'" in one line, or each in its own."""
    head, separator, said = title.partition(": ")
    if _NAME.fullmatch(head) and (separator or len(lines) > 1):
        following = _words_of(lines[1]) if len(lines) > 1 and not separator else ""
        return head, said or ("" if _LABEL.match(following) else following)
    found = _CLASS.search("\n".join(lines[:6]))
    return (found[0] if found else ""), ""


def _environment(title: str) -> str:
    """The one environment that a title names as a word of its own."""
    found = {match[0].strip("[]").casefold() for match in _ENVIRONMENT.finditer(title)}
    return found.pop() if len(found) == 1 else ""


def _system(text: str, author: str) -> str | None:
    start = text[:6000]
    for name, pattern in _SYSTEMS:
        if pattern.search(start) or name in author.casefold().replace(" ", ""):
            is_grafana = name == "alertmanager" and _GRAFANA.search(start) is not None
            return "grafana" if is_grafana or "grafana" in author.casefold() else name
    return "grafana" if "grafana" in author.casefold() or _GRAFANA.search(start) else None


def _labels(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines[:400]:
        if len(line) > 400 or len(found) >= MAX_LABELS:
            continue
        match = _LABEL.match(_ROW.sub(r"\g<key>: \g<value>", line))
        told = _TICKED.findall(line)
        if told:  # environment: `prod`  release: `2.4.1`
            for name, value in told:
                found.setdefault(_ALIASES.get(name.casefold(), name.casefold()), value.strip())
            continue
        if match is None:
            continue
        key = (match["key"] or match["key2"]).strip().casefold()
        value = _NEXT_LABEL.split(_LINK_BEHIND.sub("", (match["value"] or match["value2"]).strip()), maxsplit=1)[0]
        found.setdefault(_ALIASES.get(key, key.replace(" ", "_")), value)
    for key, value in labels_of(found.get("tags", "")).items():  # env:prod, service:shop
        found.setdefault(_ALIASES.get(key, key), value)
    return found


def _message(labels: dict[str, str], title: str) -> str:
    told = (labels.get(key) for key in _MESSAGE_LABELS)
    return next((one for one in told if one), title)


def _severity(text: str) -> str:
    found = re.search(
        r"\b(critical|fatal|error|warning|warn|info|P[1-5]|심각|긴급|오류|경고)\b", text[:2000], re.IGNORECASE
    )
    return found[1] if found else ""
