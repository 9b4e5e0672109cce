"""Sentry's webhooks: issue alerts, error events and issues, with the frames of their exceptions.

The values of `exception` are ordered from the cause to the last one raised, frames from the outermost to the innermost
(https://develop.sentry.dev/sdk/data-model/event-payloads/exception/). They are written as each language prints them, so
that a fault is the same whether Sentry or a log tells it.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.alerts.payloads.told import (
    Json,
    Told,
    at,
    first,
    joined,
    labels_of,
    mapping,
    objects,
    sequence,
    status_of,
    text,
    text_at,
)

_OVER = ("resolved", "archived", "ignored")
_JVM = (".java", ".kt", ".scala", ".groovy")


def read(payload: Json) -> list[Told] | str | None:
    """One alert, or why it is none; None when the payload is none of Sentry."""
    data = mapping(payload.get("data"))
    event = mapping(data.get("event")) or mapping(data.get("error")) or mapping(payload.get("event"))
    issue = mapping(data.get("issue"))
    metric = mapping(data.get("metric_alert"))
    if metric:
        return [_metric(payload, data, metric)]
    if not event and not issue:
        is_other = "uuid" in mapping(payload.get("installation")) and "action" in payload
        return (
            "is an event of Sentry that tells of no error; send issue alerts, errors and issues" if is_other else None
        )
    if event and not any(
        key in event for key in ("event_id", "exception", "platform", "metadata", "culprit", "logentry")
    ):
        return None
    event = event or issue
    tags = labels_of(event.get("tags"), issue.get("tags"))
    chain = list(objects(at(event, "exception", "values")))
    last = chain[-1] if chain else {}
    meta = mapping(event.get("metadata")) or mapping(issue.get("metadata"))
    title = first(event.get("title"), issue.get("title"), payload.get("message"))
    stack = "\n".join(_printed(chain, text_at(event, "platform")))
    project = event.get("project_name") or event.get("project_slug") or issue.get("project") or payload.get("project")
    return [
        Told(
            format="sentry",
            title=title,
            message=first(
                last.get("value"), meta.get("value"), at(event, "logentry", "formatted"), event.get("message"), title
            ),
            error_class=first(last.get("type"), meta.get("type")),
            text=stack or joined(title, event.get("message"), event.get("culprit")),
            service=first(tags.get("service"), text_at(project, "slug") or text(project)),
            environment=first(event.get("environment"), tags.get("environment")),
            severity=first(event.get("level"), tags.get("level"), issue.get("level"), payload.get("level")),
            status=status_of(
                text_at(issue, "status") if payload.get("action") in _OVER else "", text_at(payload, "action")
            ),
            logger=text_at(event, "logger"),
            labels=tags,
            revision=first(event.get("release"), tags.get("release")),
            url=first(event.get("web_url"), issue.get("web_url"), issue.get("permalink"), payload.get("url")),
            dedup_key=first(event.get("issue_id"), issue.get("id"), payload.get("id")),
            own_files=_own_files(chain),
        )
    ]


def _metric(payload: Json, data: Json, metric: Json) -> Told:
    title = first(data.get("description_title"), metric.get("title"), at(metric, "alert_rule", "name"))
    return Told(
        format="sentry",
        title=title,
        message=first(data.get("description_text"), title),
        text=joined(title, data.get("description_text")),
        severity=text_at(payload, "action"),
        status=status_of(text_at(payload, "action")),
        rule=first(at(metric, "alert_rule", "name"), title),
        service=first(*(one for one in sequence(metric.get("projects")) if isinstance(one, str))),
        environment=first(at(metric, "alert_rule", "environment")),
        url=first(data.get("web_url")),
        dedup_key=first(metric.get("id"), metric.get("identifier")),
    )


def _frames(value: Json) -> list[Json]:
    return list(objects(at(value, "stacktrace", "frames")))


def _printed(chain: list[Json], platform: str) -> Iterator[str]:
    """The chain as its language prints it."""
    if platform == "python":
        for number, value in enumerate(chain):
            if number:
                yield "\nThe above exception was the direct cause of the following exception:\n"
            yield "Traceback (most recent call last):"
            for frame in _frames(value):
                place = first(frame.get("abs_path"), frame.get("filename"), "unknown")
                function = text_at(frame, "function") or "<module>"
                yield f'  File "{place}", line {text_at(frame, "lineno") or 1}, in {function}'
            yield f"{text_at(value, 'type') or 'Error'}: {text_at(value, 'value')}"
        return
    for number, value in enumerate(reversed(chain)):
        name = first(value.get("type"), "Error")
        package = text_at(value, "module")
        is_jvm = any(text_at(frame, "filename").endswith(_JVM) for frame in _frames(value))
        head = f"{package}.{name}" if package and is_jvm else name
        yield f"{'Caused by: ' if number else ''}{head}: {text_at(value, 'value')}"
        for frame in reversed(_frames(value)):
            yield _line(frame, is_jvm=is_jvm)


def _line(frame: Json, *, is_jvm: bool) -> str:
    function, file = text_at(frame, "function"), first(frame.get("filename"), frame.get("abs_path"))
    line = text_at(frame, "lineno")
    if is_jvm:
        owner = text_at(frame, "module")
        name = f"{owner}.{function or 'unknown'}" if owner else function or "unknown"
        place = (file or "Unknown Source") + (f":{line}" if line else "")
        return f"\tat {name}({place})"
    place = f"{file}:{line or 1}:{text_at(frame, 'colno') or 1}"
    return f"    at {function} ({place})" if function else f"    at {place}"


def _own_files(chain: list[Json]) -> dict[str, bool]:
    """Whether Sentry takes a frame for the project's own, by file name and line."""
    found: dict[str, bool] = {}
    for value in chain:
        for frame in _frames(value):
            own = frame.get("in_app")
            if isinstance(own, bool):
                name = first(frame.get("filename"), frame.get("abs_path")).replace("\\", "/").rpartition("/")[2]
                found[f"{name}:{text_at(frame, 'lineno')}"] = own
    return found
