"""Alertmanager's webhook (version 4), and Grafana's unified alerting, which sends the same with a few keys more."""

from __future__ import annotations

from bot.alerts.payloads.told import Json, Told, first, joined, labels_of, mapping, objects, status_of, text, text_at

_ALWAYS_ON = ("Watchdog", "DeadMansSwitch", "InfoInhibitor")  # of kube-prometheus


def read(payload: Json) -> list[Told] | str | None:
    """One alert for each of the group; None when the payload is none of Alertmanager or Grafana. What is sent to
    Alertmanager is a list of alerts without a group."""
    if "alertname" in mapping(payload.get("labels")) and "alerts" not in payload:
        return [_alert("alertmanager", payload, payload, {}, {})]
    alerts = list(objects(payload.get("alerts")))
    if not alerts or not any("labels" in alert for alert in alerts):
        return _read_legacy(payload)
    is_grafana = "orgId" in payload or "state" in payload or any("dashboardURL" in alert for alert in alerts)
    name = "grafana" if is_grafana else "alertmanager"
    shared = mapping(payload.get("commonLabels")), mapping(payload.get("commonAnnotations"))
    told = [_alert(name, payload, alert, *shared) for alert in alerts]
    return [one for one in told if one.rule not in _ALWAYS_ON] or f"holds only {told[0].rule}, which fires by design"


def _alert(name: str, payload: Json, alert: Json, shared: Json, shared_notes: Json) -> Told:
    labels = labels_of(alert.get("labels"), shared)
    notes = labels_of(alert.get("annotations"), shared_notes)
    rule = labels.get("alertname", "")
    summary = first(notes.get("summary"), notes.get("title"), rule, payload.get("title"))
    description = first(notes.get("description"), notes.get("message"))
    return Told(
        format=name,
        title=summary,
        message=description or summary,
        text=joined(
            summary, description, notes.get("stacktrace"), notes.get("stack_trace"), notes.get("log"), notes.get("logs")
        ),
        severity=labels.get("severity", labels.get("priority", "")),
        status=status_of(text(alert.get("status")), text(payload.get("status"))),
        rule=rule,
        labels=labels,
        url=first(
            notes.get("runbook_url"), alert.get("generatorURL"), alert.get("panelURL"), payload.get("externalURL")
        ),
        dedup_key=first(alert.get("fingerprint"), payload.get("groupKey")),
    )


def _read_legacy(payload: Json) -> list[Told] | None:
    """Grafana before unified alerting: ruleName, state, evalMatches."""
    rule = text_at(payload, "ruleName")
    if not rule or "state" not in payload:
        return None
    state = text_at(payload, "state")
    return [
        Told(
            format="grafana",
            title=first(payload.get("title"), rule),
            message=first(payload.get("message"), payload.get("title"), rule),
            text=joined(payload.get("title"), payload.get("message")),
            status="resolved" if state in ("ok", "paused") else "firing",
            rule=rule,
            labels=labels_of(payload.get("tags")),
            url=text_at(payload, "ruleUrl"),
            dedup_key=f"grafana:{text_at(payload, 'ruleId') or rule}",
        )
    ]
