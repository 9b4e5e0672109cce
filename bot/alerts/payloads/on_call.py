"""PagerDuty's webhooks (v3, and events as they are sent to it) and Opsgenie's."""

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


def read_pagerduty(payload: Json) -> list[Told] | None:
    """A v3 webhook, or an event of the Events API (v2)."""
    event = mapping(payload.get("event"))
    data = mapping(event.get("data"))
    if event and text_at(event, "event_type").startswith("incident."):
        details = mapping(at(data, "body", "details"))
        title = text_at(data, "title")
        return [
            Told(
                format="pagerduty",
                title=title,
                message=title,
                text=joined(title, *(text(value) for value in details.values()), at(data, "body", "details")),
                service=text_at(data, "service", "summary"),
                severity=first(at(data, "priority", "summary"), data.get("urgency")),
                status="resolved" if text_at(event, "event_type") == "incident.resolved" else "firing",
                labels=labels_of(details),
                url=text_at(data, "html_url"),
                dedup_key=first(data.get("incident_key"), data.get("id")),
            )
        ]
    inner = mapping(payload.get("payload"))
    if "event_action" not in payload or not (inner or "dedup_key" in payload):
        return None
    details = mapping(inner.get("custom_details"))
    return [
        Told(
            format="pagerduty",
            title=text_at(inner, "summary"),
            message=first(details.get("message"), inner.get("summary")),
            text=joined(inner.get("summary"), *(text(value) for value in details.values())),
            error_class=first(details.get("error_class"), details.get("exception")),
            service=first(details.get("service"), inner.get("component"), inner.get("source")),
            environment=first(details.get("environment"), details.get("env")),
            severity=text_at(inner, "severity"),
            status=status_of(text_at(payload, "event_action")),
            rule=text_at(inner, "class"),
            labels=labels_of(details),
            url=next((text(link.get("href")) for link in objects(payload.get("links"))), ""),
            dedup_key=text_at(payload, "dedup_key"),
        )
    ]


def read_opsgenie(payload: Json) -> list[Told] | None:
    """An alert action that Opsgenie (or Jira Service Management) posts."""
    alert = mapping(payload.get("alert"))
    if not alert or "action" not in payload or not ("alertId" in alert or "tinyId" in alert or "message" in alert):
        return None
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
            status="resolved" if text_at(payload, "action") in ("Close", "Delete") else "firing",
            labels=details,
            url=first(alert.get("url")),
            dedup_key=first(alert.get("alias"), alert.get("alertId")),
        )
    ]
