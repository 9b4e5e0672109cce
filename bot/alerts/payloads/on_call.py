"""PagerDuty's webhooks (v3, v2, and events as they are sent to it) and Opsgenie's."""

from __future__ import annotations

from bot.alerts.payloads.told import (
    Json,
    Told,
    at,
    first,
    joined,
    labels_of,
    mapping,
    objects,
    status_of,
    text,
    text_at,
)

_STACKS = ("stack_trace", "stacktrace", "stack", "trace", "traceback", "exception", "log")
_TOLD_ANEW = ("trigger", "triggered", "reopened", "unacknowledged")
_OVER = ("resolve", "resolved")


def read_pagerduty(payload: Json) -> list[Told] | str | None:
    """A webhook, or an event of the Events API (v2); a sentence when it tells of no new fault and of no end of one."""
    event = mapping(payload.get("event"))
    if "event_type" in event and "data" in event and "occurred_at" in event:
        return _incident(text_at(event, "event_type"), mapping(event.get("data")), mapping(at(event, "data", "body")))
    messages = [one for one in objects(payload.get("messages")) if mapping(one.get("incident"))]
    if messages:
        read = [_incident(text_at(one, "event"), mapping(one.get("incident")), _logged(one)) for one in messages]
        found = [told for one in read if isinstance(one, list) for told in one]
        return found or next((one for one in read if isinstance(one, str)), None)
    inner = mapping(payload.get("payload"))
    if "event_action" not in payload or not (inner or "dedup_key" in payload):
        return None
    action = text_at(payload, "event_action")
    if action not in (*_TOLD_ANEW, *_OVER):
        return f"tells of the action {action[:40]!r} on an incident, which is no new fault"
    return [_event(payload, inner, action)]


def _incident(kind: str, data: Json, about: Json) -> list[Told] | str:
    happened = kind.rpartition(".")[2]
    if happened not in (*_TOLD_ANEW, *_OVER):
        return f"tells of {kind[:60]!r}, which is no new fault"
    details = mapping(about.get("details"))
    title = first(data.get("title"), data.get("summary"))
    return [
        Told(
            format="pagerduty",
            title=title,
            message=first(details.get("message"), title),
            text=joined(title, *(text(value) for value in details.values()), about.get("details")),
            error_class=first(details.get("error_class"), details.get("exception_class")),
            service=first(at(data, "service", "summary"), at(data, "service", "name"), details.get("service")),
            environment=first(details.get("environment"), details.get("env")),
            severity=first(at(data, "priority", "summary"), data.get("urgency"), details.get("severity")),
            status="resolved" if happened in _OVER else "firing",
            labels=_labels(details),
            url=text_at(data, "html_url"),
            dedup_key=first(data.get("incident_key"), data.get("id")),
        )
    ]


def _logged(message: Json) -> Json:
    """The channel of the log entry in which a v2 webhook tells what triggered it."""
    return next((mapping(entry.get("channel")) for entry in objects(message.get("log_entries"))), {})


def _event(payload: Json, inner: Json, action: str) -> Told:
    details = mapping(inner.get("custom_details"))
    key = text_at(payload, "dedup_key")
    return Told(
        format="pagerduty",
        title=first(inner.get("summary"), key),
        message=first(details.get("message"), inner.get("summary"), key),
        text=joined(inner.get("summary"), *(text(value) for value in details.values())),
        error_class=first(details.get("error_class"), details.get("exception_class")),
        service=first(details.get("service"), inner.get("component"), inner.get("source")),
        environment=first(details.get("environment"), details.get("env")),
        severity=text_at(inner, "severity"),
        status=status_of(action),
        rule=text_at(inner, "class"),
        labels=_labels(details),
        url=next((text(link.get("href")) for link in objects(payload.get("links"))), ""),
        dedup_key=key,
    )


def _labels(details: Json) -> dict[str, str]:
    return labels_of({key: value for key, value in details.items() if key not in _STACKS})


def read_opsgenie(payload: Json) -> list[Told] | str | None:
    """An alert action that Opsgenie (or Jira Service Management) posts; a sentence for what is said about an alert."""
    alert = mapping(payload.get("alert"))
    if not alert or "action" not in payload or not ("alertId" in alert or "tinyId" in alert or "message" in alert):
        return None
    action = text_at(payload, "action")
    if action not in ("Create", "Close", "Delete"):
        return f"tells of the action {action[:40]!r} on an alert, which is no new fault"
    details = labels_of(alert.get("details"), alert.get("tags"))
    return [
        Told(
            format="opsgenie",
            title=text_at(alert, "message"),
            message=first(alert.get("message")),
            text=joined(alert.get("message"), alert.get("description"), *details.values()),
            service=first(details.get("service"), alert.get("entity"), alert.get("source")),
            environment=first(details.get("environment"), details.get("env")),
            severity=text_at(alert, "priority"),
            status="firing" if action == "Create" else "resolved",
            labels=details,
            url=first(alert.get("url")),
            dedup_key=first(alert.get("alias"), alert.get("alertId")),
        )
    ]
