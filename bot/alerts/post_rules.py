"""The name of the rule, monitor, workflow or incident that a post is about: the same when it fires and when it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# Systems whose posts have a title that stays the same; with others the words of the message have to do.
_TITLED = ("alertmanager", "datadog", "cloudwatch", "grafana", "pagerduty", "opsgenie", "github", "gitlab")
_RUNS = ("github", "gitlab")
_HEAD = re.compile(r"^\W*\[(?:FIRING|RESOLVED)(?::\d+)?\]\s*(?P<rest>\S.*)$", re.IGNORECASE)
_STATE = re.compile(
    r"^[^\w\[]*(?:\[(?:P\d|Alerting|OK|No ?Data|Triggered|Recovered|Re-Triggered|Warn|Pending|Paused)\b[^\]]*\]\s*)*"
    r"(?:(?:Triggered|Recovered|Re-Triggered|Resolved|Acknowledged|Firing|ALARM|OK|Warn|No data|Alerting)\b[\s:#\d]*)?"
    r"(?:(?:New|Closed|Reopened|Escalated|Acknowledged) alert:?\s*)?(?:#\d+:?\s*)?",
    re.IGNORECASE,
)
# What a company's own bots put before a title: [장애] ..., [RESOLVED] ..., PROBLEM: ...
_OWN_STATE = re.compile(
    r"^[^\w\[]*(?:\[(?:장애|발생|경고|알림|해결|복구|정상|해소|완료|ERROR|ALERT|ALARM|DOWN|UP|FIRING|RESOLVED|PROBLEM|RECOVERY|OK"
    r"|CRITICAL|WARNING)\]\s*|(?:PROBLEM|RECOVERY|DOWN|UP)\s*[:\-]\s*|Resolved in [\ddhms ]{1,20}: )(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_END_STATE = re.compile(
    r"(?:이|가)?\s*(?:발생|감지|복구|해결|해소|정상화)(?:했습니다|하였습니다|되었습니다|됐습니다|됨|완료|중)?[.!]?$"
    r"|\s+(?:has )?(?:been )?(?:resolved|recovered|detected|occurred)[.!]?$",
    re.IGNORECASE,
)
_IS_RUN = re.compile(r"workflow|pipeline|\bruns?\b|\bjobs?\b|deploy", re.IGNORECASE)
_OUTCOME = re.compile(
    r"\b(?:has )?(?:failed|passed|succeeded|cancell?ed|completed|success(?:ful(?:ly)?)?|failure|fixed)\b"
    r"|#\d+|\bin \d[\d:.]*\s?(?:s|sec|m|min|minutes?|seconds?|hours?)?\b|\((?:run|link|details?)\)"
    r"|\bby [\w.@-]+(?= |$)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]+(?:[A-Z_][A-Za-z0-9_]*)+")


def rule_of(title: str, lines: Sequence[str], labels: Mapping[str, str], system: str | None) -> str:
    """The rule by its label, else by the title without its state; empty where the system has no such titles."""
    if labels.get("alertname"):
        return labels["alertname"].strip('" ')
    if system not in _TITLED:
        own = _OWN_STATE.match(title)
        return _END_STATE.sub("", own["rest"]).strip() if own is not None else ""
    if system in _RUNS:
        run = next((line for line in (title, *lines[:5]) if _IS_RUN.search(line)), title)
        return " ".join(_OUTCOME.sub(" ", run).split()).strip(" :.-")
    for line in (title, *lines[:4]):
        named = _named(line, system)
        if any(letter.isalnum() for letter in named):
            return named
    return ""


def without_state(title: str) -> str:
    """A title without the words that only tell a state; empty when it says nothing else."""
    plain = _STATE.sub("", title, count=1).strip()
    return plain if any(letter.isalnum() for letter in plain) else ""


def incident_of(text: str, system: str | None) -> str:
    """The system's own number of an incident, which the post of its end repeats; empty where there is none."""
    if system in ("pagerduty", "opsgenie"):
        found = re.search(r"(?<![\w&])#(\d{1,12})\b", text)
    elif system == "sentry":
        found = re.search(r"\b(?:Short ID: )([A-Z0-9_-]{2,60}-[A-Z0-9]{1,12})\b", text)
    else:
        found = None
    return f"{system}:{found[1]}" if found else ""


def _named(line: str, system: str) -> str:
    head = _HEAD.match(line)
    if head is not None:  # the group's labels follow the rule: "HighLatency (shop prod)", "CheckoutDown shop prod"
        whole = head["rest"].partition(" (")[0].strip()
        first = whole.partition(" ")[0]
        return first if system == "alertmanager" or _CAMEL.fullmatch(first) else whole
    plain = _STATE.sub("", line, count=1)
    return plain.split(" | ")[1 if " | " in plain else 0].strip(' "')
