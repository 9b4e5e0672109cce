"""Datadog monitors, and CloudWatch alarms as SNS delivers them."""

from __future__ import annotations

import json
import re

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

_SCOPE = re.compile(r"\{([^{}]{1,300})\}")  # [Triggered on {service:shop,env:prod}]
_RANK = re.compile(r"^\[(P[1-5])\]")
_STATE = re.compile(r"\[(Triggered|Recovered|Warn|No data|Re-Triggered|Renotify)\b", re.IGNORECASE)
_DECORATION = re.compile(r"%%%|\[!\[[^\]]*\]\([^()]*\)\]\([^()]*\)")  # marks of Markdown, and pictures that link
_DATADOG_KEYS = (
    "alert_id",
    "alert_type",
    "alert_transition",
    "event_type",
    "aggreg_key",
    "event_msg",
    "ALERT_TRANSITION",
)


def read_datadog(payload: Json) -> list[Told] | None:
    """A monitor's webhook; its keys are chosen by whoever made it, so that several names are known for each."""
    is_default = all(key in payload for key in ("event_type", "org", "body"))
    if not is_default and sum(key in payload for key in _DATADOG_KEYS) < 2:
        return None
    title = first(payload.get("title"), payload.get("event_title"), payload.get("alert_title"))
    scope = _SCOPE.search(title)
    labels = labels_of(payload.get("tags"), payload.get("alert_scope"), scope[1] if scope else "")
    told = first(payload.get("body"), payload.get("event_msg"), payload.get("text_only_msg"), payload.get("text"))
    body = re.sub(r"\n{3,}", "\n\n", _DECORATION.sub("", told)).strip()
    transition = first(payload.get("alert_transition"), payload.get("ALERT_TRANSITION"))
    kind = first(payload.get("alert_type"), payload.get("alert_status"), title.partition("] [")[2].partition(" ")[0])
    state = _STATE.search(title)
    rank = _RANK.search(title)
    return [
        Told(
            format="datadog",
            title=title,
            message=body or title,
            text=joined(title, body, payload.get("stack"), payload.get("error.stack")),
            error_class=first(payload.get("error.type"), at(payload, "error", "type")),
            service=first(payload.get("service"), labels.get("service")),
            environment=first(payload.get("env"), labels.get("env")),
            severity=first(payload.get("priority"), rank[1] if rank else "", payload.get("alert_type")),
            status=status_of(transition, state[1] if state else "", kind),
            rule=_rule(first(payload.get("monitor_name"), payload.get("alert_title"), title)),
            labels=labels,
            revision=labels.get("version", ""),
            url=first(payload.get("link"), payload.get("url"), payload.get("event_url")),
            dedup_key=first(payload.get("aggreg_key"), payload.get("alert_id"), payload.get("id")),
        )
    ]


def _rule(title: str) -> str:
    """The monitor's name: the title without "[P1] [Triggered on {host:web-1}]"."""
    while title.startswith("[") and "]" in title:
        title = title.partition("]")[2].strip()
    return title.rpartition(": ")[2] if title.startswith(("Triggered: ", "Recovered: ")) else title


def read_sns(payload: Json) -> list[Told] | str | None:
    """What SNS delivers; a sentence when there is nothing in it to analyse. None when it is none of SNS."""
    kind = text_at(payload, "Type")
    if kind not in ("Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation") or "TopicArn" not in payload:
        return None
    if kind != "Notification":
        return (
            f"is a {kind} of {text_at(payload, 'TopicArn')}: open the SubscribeURL in the AWS console's request log, "
            "or confirm the subscription with `aws sns confirm-subscription`; Haechi never opens addresses it is sent"
        )
    body = text_at(payload, "Message")
    try:
        inner = json.loads(body)
    except (ValueError, RecursionError):
        inner = None
    if isinstance(inner, dict):
        return read_cloudwatch(inner) or [_plain(payload, json.dumps(inner, ensure_ascii=False, indent=1)[:4000])]
    return [_plain(payload, body)]


def _plain(payload: Json, body: str) -> Told:
    title = first(payload.get("Subject"), body.split("\n", 1)[0][:200])
    return Told(format="sns", title=title, message=title, text=joined(title, body))


def read_log_events(payload: Json) -> list[Told] | None:
    """What a subscription to a log group of CloudWatch delivers, unpacked."""
    events = [text_at(one, "message") for one in objects(payload.get("logEvents"))]
    group = text_at(payload, "logGroup")
    if not group or not any(events):
        return None
    title = next(one for one in events if one).split("\n", 1)[0][:200]
    return [
        Told(format="cloudwatch", title=title, message=title, text="\n".join(events), service=group.rpartition("/")[2])
    ]


def read_cloudwatch(payload: Json) -> list[Told] | str | None:
    """An alarm, as SNS or as EventBridge tells it; a sentence when it only lacks data."""
    detail = mapping(payload.get("detail"))
    if text_at(payload, "detail-type") == "CloudWatch Alarm State Change":
        name, state = text_at(detail, "alarmName"), text_at(detail, "state", "value")
        reason = text_at(detail, "state", "reason")
        trigger: Json = {}
        about = text_at(detail, "configuration", "description")
    elif "AlarmName" in payload and "NewStateValue" in payload:
        name, state = text_at(payload, "AlarmName"), text_at(payload, "NewStateValue")
        reason, about = text_at(payload, "NewStateReason"), text_at(payload, "AlarmDescription")
        trigger = mapping(payload.get("Trigger"))
    else:
        return None
    if state == "INSUFFICIENT_DATA":
        return f"tells that the alarm {name[:120]} has too little data, which is no fault and ends none"
    labels = labels_of(trigger.get("Dimensions"), [[str(k), v] for k, v in _plain_fields(payload)])
    return [
        Told(
            format="cloudwatch",
            title=name,
            message=reason or about or name,
            text=joined(name, about, reason),
            severity="error" if state == "ALARM" else "info",
            status="firing" if state == "ALARM" else "resolved",
            rule=name,
            labels=labels,
            service=next((one for key, one in labels.items() if key.lower() in ("functionname", "servicename")), ""),
            dedup_key=first(payload.get("AlarmArn"), name),
        )
    ]


def _plain_fields(payload: Json) -> list[tuple[str, str]]:
    found = [("region", text_at(payload, "Region")), ("account", text_at(payload, "AWSAccountId"))]
    dimensions = objects(at(payload, "Trigger", "Dimensions"))
    return [*found, *((text(d.get("name")).lower(), text(d.get("value"))) for d in dimensions)]
