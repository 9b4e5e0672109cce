"""HTML that is escaped by construction: plain strings are always escaped, only `Html` passes as it is."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Html(str):
    """Markup that was built here, or by one of the renderers that escape what they are given."""

    __slots__ = ()


Child = str | None | Iterable["Child"]


def flat(child: Child) -> Html:
    """`child` as markup: a string escaped, None as nothing, the items of anything else one after the other."""
    if child is None:
        return Html("")
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return Html(escape(child))
    return Html("".join(flat(item) for item in child))


def el(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Html:
    """One element. `class_` and `for_` lose their underscore, `data_id` becomes data-id; True is a bare attribute,
    None and False leave it out."""
    head = name
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        head += f" {attribute}" if value is True else f' {attribute}="{escape(str(value))}"'
    if name in VOID:
        return Html(f"<{head}>")
    return Html(f"<{head}>{flat(children)}</{name}>")
