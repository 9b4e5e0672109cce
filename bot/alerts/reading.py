"""From a post of a chat channel, or the body of POST /alerts, to alerts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

from bot.alerts.alert import Alert, Severity, Trace
from bot.alerts.fingerprint import fingerprint, main_trace
from bot.alerts.log_text import read_streams, unescaped
from bot.alerts.payloads import alertmanager, monitors, on_call, pipelines, records, sentry
from bot.alerts.payloads.chat_posts import text_of_post
from bot.alerts.payloads.told import Told, severity_of
from bot.alerts.posts import read_text
from bot.alerts.services import SERVICE_LABELS, Service, Services
from bot.alerts.traces import read_loose, read_traces
from bot.types import Message
from knowledge.masking import mask

MAX_TEXT_CHARS = 120_000
MAX_ALERTS = 200
MAX_DEPTH = 40
MAX_LIST = 1_000
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_ENVIRONMENT_LABELS = (
    "environment",
    "env",
    "deployment_environment",
    "deployment.environment",
    "stage",
    "tier",
    "profile",
    "namespace",
)
# Labels that name nothing else than a service; a job or a container may be called anything.
_NAMED_OUTRIGHT = ("service", "service_name", "service.name", "app", "application", "app_name", "project")
_REVISION_LABELS = ("revision", "commit", "git_commit", "commit_sha", "sha", "release", "version")
_ENVIRONMENTS = {
    "prod": "production",
    "prd": "production",
    "live": "production",
    "real": "production",
    "운영": "production",
    "stg": "staging",
    "stage": "staging",
    "스테이징": "staging",
    "dev": "development",
    "develop": "development",
    "개발": "development",
}
_KNOWN_ENVIRONMENTS = frozenset((*_ENVIRONMENTS, *_ENVIRONMENTS.values(), "qa", "test", "beta", "alpha", "sandbox"))
_FORMATS = (
    sentry.read,
    monitors.read_sns,
    monitors.read_cloudwatch,
    monitors.read_log_events,
    on_call.read_pagerduty,
    on_call.read_opsgenie,
    alertmanager.read,
    pipelines.read_github,
    pipelines.read_gitlab,
    monitors.read_datadog,
)


class BadPayload(ValueError):
    """A body that cannot be read: the HTTP status, and a sentence that says what to do."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read. `skipped` says why there is nothing to analyse; `alerts` may hold resolved ones, which close."""

    alerts: tuple[Alert, ...]
    skipped: str | None = None


def read_post(message: Message, *, services: Services) -> Reading:
    """The alerts of a post of a bot or webhook; never raises for what stands in it."""
    files = [file.text for file in message.attachments if file.text]
    text = _clean("\n".join([message.text, *files]))
    if not _has_words(text):
        return Reading(alerts=(), skipped="The post holds no words.")
    text = mask(text)
    raw = _plain(text)
    told: list[Told] | str = read_text(raw, author=message.author.display_name)
    inside = _json_inside(text)
    if inside is not None:
        found = _told_by(_masked(inside))
        told = found if isinstance(found, list) and found else told
    if isinstance(told, str):
        return Reading(alerts=(), skipped=f"The post {told}.")
    own = [one for one in services if one.channel == (message.thread.platform, message.thread.channel_id)]
    fallback = own[0] if len(own) == 1 else None
    alerts = [_alert(one, services, message.posted_at, raw=raw, fallback=fallback) for one in told[:MAX_ALERTS]]
    return Reading(alerts=tuple(alerts))


def read_payload(body: bytes, *, content_type: str, services: Services, posted_at: datetime) -> Reading:
    """The alerts of a body. Raises BadPayload."""
    kind = content_type.partition(";")[0].strip().lower()
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadPayload(400, "The body is not UTF-8 text; send JSON or plain text in UTF-8.") from None
    if kind == "application/x-www-form-urlencoded":
        text = _form_payload(text)
    elif not (kind in ("", "application/json", "text/plain") or kind.endswith("+json")):
        raise BadPayload(415, f"Bodies of the type {kind[:80]!r} are not read; send application/json or text/plain.")
    if not text.strip():
        raise BadPayload(400, "The body is empty; send the alert as JSON or as plain text.")
    value = _parsed(text, must=kind.endswith("json"))
    if isinstance(value, str):
        return _read_plain(value, services, posted_at)
    alerts: list[Alert] = []
    skipped: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        found = _told_by(_masked(item)) if isinstance(item, Mapping) else None
        if isinstance(found, str):
            skipped.append(found)
        told = [one for one in found or () if isinstance(one, Told) and _has_words(one.title, one.message, one.text)]
        alerts += [_alert(one, services, posted_at) for one in told]
        if len(alerts) >= MAX_ALERTS:
            break
    if not alerts and not skipped:
        raise BadPayload(400, 'Nothing in the body can be read as an alert; send at least {"message": "..."}.')
    return Reading(alerts=tuple(alerts[:MAX_ALERTS]), skipped=f"The body {skipped[0]}." if not alerts else None)


def environment_of(name: str, service: Service | None = None) -> str | None:
    """An environment by the name that deployments and alerts share: "prod" and "운영" are "production"."""
    plain = name.strip().casefold()
    told = {key.casefold(): value for key, value in ((service.environments if service else None) or {}).items()}
    return told.get(plain) or _ENVIRONMENTS.get(plain) or plain[:80] or None


def _form_payload(text: str) -> str:
    """The field "payload" of a form; the whole text where it is no such form."""
    try:
        return (parse_qs(text, max_num_fields=20).get("payload") or [text])[0]
    except ValueError:  # more fields than any sender of alerts has
        raise BadPayload(400, "The form has more than 20 fields; send the alert in one named payload.") from None


def _read_plain(text: str, services: Services, posted_at: datetime) -> Reading:
    masked = mask(_clean(text))
    if not _has_words(masked):
        raise BadPayload(400, "The body holds no words; send the alert as JSON or as plain text.")
    raw = _plain(masked)
    told = read_text(raw, author="")
    if isinstance(told, str):
        return Reading(alerts=(), skipped=f"The body {told}.")
    return Reading(alerts=tuple(_alert(one, services, posted_at, raw=raw) for one in told))


def _has_words(*texts: str) -> bool:
    return any(letter.isalnum() for text in texts for letter in text)


def _parsed(text: str, *, must: bool) -> Any:
    try:
        value = json.loads(text)
    except RecursionError:
        raise BadPayload(400, "The JSON is nested too deeply; send fewer levels.") from None
    except ValueError:
        if must:
            raise BadPayload(400, "The body is not valid JSON; check quotes and commas, or send text/plain.") from None
        return text
    if isinstance(value, dict | list | str):
        return value
    if must:
        raise BadPayload(400, "The body is not a JSON object or list of objects.")
    return text


def _told_by(payload: Any) -> list[Told] | str | None:
    for read in _FORMATS:
        found = read(payload)
        if found:
            return found
    post = text_of_post(payload)
    return read_text(post, author=str(payload.get("username") or "")) if post else records.read(payload)


def _json_inside(text: str) -> Any:
    """The JSON object that a post or log line consists of."""
    start = text.find("{")
    if start < 0 or start > 200 or '"' not in text:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and len(value) > 1 else None


def _clean(text: str) -> str:
    """`text` without characters that nobody sees, cut at a line where it is too long."""
    if len(text) > MAX_TEXT_CHARS:
        text = text[:MAX_TEXT_CHARS].rpartition("\n")[0] or text[: MAX_TEXT_CHARS - 1].rpartition(" ")[0]
        text += "\n…"
    return _UNSAFE.sub("", text)


def _masked(value: Any, key: str = "", depth: int = 0) -> Any:
    """A copy in which every text is masked, with its key before it where the key says what it is."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        items = list(value.items())[:MAX_LIST]
        return {_clean(str(name))[:200]: _masked(one, str(name)[:100], depth + 1) for name, one in items}
    if isinstance(value, list):
        return [_masked(one, key, depth + 1) for one in value[:MAX_LIST]]
    if not isinstance(value, str) or not value:
        return value
    text = _clean(value)
    told = mask(f"{key}: {text}") if key and len(text) <= 300 and "\n" not in text else ""
    return told.removeprefix(f"{key}: ") if told.startswith(f"{key}: ") and "[masked:" in told else mask(text)


def _plain(text: str) -> str:
    """`text` without escapes; what they hid is masked and cleaned as well."""
    return mask(_clean(unescaped(text)))


def _sealed(told: Told) -> Told:
    """An alert whose texts hide nothing: a system may have packed JSON into a text of JSON."""
    text = _plain(told.text)
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return replace(
        told,
        title=_plain(told.title) or first,
        message=_plain(told.message) or first,
        text=text,
        labels=_masked(told.labels),
    )


def _alert(
    told: Told, services: Services, posted_at: datetime, *, raw: str | None = None, fallback: Service | None = None
) -> Alert:
    told = _sealed(told)
    traces = tuple(_owned(trace, told.own_files) for trace in _traces(told.text))
    main = main_trace(traces)
    error_class = _error_class(told.error_class, main) or None
    message = told.message
    if main is not None and (main.thrown[0].message or told.format in ("trace", "log", "text")):
        message = main.thrown[0].message or message
    service = _service(told, services) or fallback
    name = service.name if service else told.service or _label(told.labels, SERVICE_LABELS)
    environment = told.environment or _label(told.labels, _ENVIRONMENT_LABELS[:-1]) or _namespace(told.labels)
    key, sequence = fingerprint(
        service=name,
        traces=traces,
        error_class=error_class,
        message=told.message,
        title=told.title,
        rule=told.rule or None,
        logger=told.logger or None,
    )
    return Alert(
        format="trace" if told.format == "text" and traces else told.format,
        service=name or None,
        environment=environment_of(environment, service) if environment else None,
        severity=_severity(told, traces),
        status=told.status,
        title=told.title[:300] or message[:300],
        error_class=error_class,
        message=message[:2000],
        traces=traces,
        fingerprint=key,
        sequence=sequence,
        is_truncated=main.is_truncated if main else False,
        raw=told.text if raw is None else raw,
        posted_at=posted_at,
        labels=told.labels,
        revision=told.revision or _label(told.labels, _REVISION_LABELS) or None,
        url=told.url or None,
        dedup_key=told.dedup_key or None,
    )


def _traces(text: str) -> list[Trace]:
    """The traces of all streams; loose frames where there is none."""
    streams = read_streams(text)
    read = [trace for stream in streams for trace in read_traces(stream)]
    if any(one.frames for trace in read for one in trace.thrown):
        return read
    loose = read_loose("\n".join(stream.text for stream in streams))
    return [loose] if loose is not None else read


def _service(told: Told, services: Services) -> Service | None:
    """The known service that is told, or that the text names; what is named outright and not known stays unknown."""
    found = services.find(told.service, told.labels)
    if found is None and not (told.service or _label(told.labels, _NAMED_OUTRIGHT)):
        return services.named_in(f"{told.title}\n{told.text}")
    return found


def _error_class(told: str, main: Trace | None) -> str:
    """As the alert tells it, with the package where only the trace has that."""
    thrown = main.thrown[0].error_class if main is not None else ""
    thrown = "" if thrown == "error" else thrown  # Go's errors have no class
    return thrown if not told or thrown.endswith((f".{told}", f"::{told}", f"\\{told}")) else told


def _severity(told: Told, traces: tuple[Trace, ...]) -> Severity:
    """As it is told; what threw an exception is an error where nothing is told."""
    found = severity_of(told.severity, *(_label(told.labels, (name,)) for name in ("severity", "level", "priority")))
    return "error" if found == "unknown" and traces else found


def _owned(trace: Trace, own: Mapping[str, bool]) -> Trace:
    """The trace with what the alerting system itself knows of its frames."""
    if not own:
        return trace
    return replace(
        trace,
        thrown=tuple(
            replace(
                one,
                frames=tuple(
                    replace(f, in_app=f.in_app and own.get(f"{f.file.rpartition('/')[2]}:{f.line}", f.in_app))
                    for f in one.frames
                ),
            )
            for one in trace.thrown
        ),
    )


def _label(labels: Mapping[str, str], names: tuple[str, ...]) -> str:
    known = {key.casefold(): value for key, value in labels.items()}
    return next((known[name] for name in names if known.get(name)), "")


def _namespace(labels: Mapping[str, str]) -> str:
    """A namespace of Kubernetes, where its name is that of an environment."""
    for word in re.split(r"[-_/]", labels.get("namespace", "")):
        if word.casefold() in _KNOWN_ENVIRONMENTS:
            return word
    return ""
