"""An analysis as a short post: title, cause, changes, fix, next steps, past cases, and how often the fault was told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.alerts.alert import Alert
from bot.alerts.analysis import Analysed
from bot.alerts.store import Fault
from bot.reply_text import link_address
from bot.sources import Link, cite
from bot.types import Language, Reply
from knowledge.types import ScoredChunk

MAX_EXCERPT_LINES = 12
_TEXTS: Mapping[str, Mapping[Language, str]] = {
    "cause": {"ko": "추정 원인", "en": "Likely cause"},
    "high": {"ko": "확신 높음", "en": "high confidence"},
    "medium": {"ko": "확신 보통", "en": "medium confidence"},
    "low": {"ko": "확신 낮음", "en": "low confidence"},
    "places": {"ko": "관련 코드", "en": "Code on the way"},
    "changes": {"ko": "최근 변경", "en": "Recent changes"},
    "fix": {"ko": "수정안 (파일에 적용되는 것을 확인함)", "en": "Fix (it applies to the file)"},
    "next": {"ko": "다음 단계", "en": "Next steps"},
    "past": {"ko": "지난 사례 (참고용)", "en": "Past cases (hints only)"},
    "stale": {"ko": "그 뒤로 코드가 바뀜", "en": "the code has changed since"},
    "none": {"ko": "언어 모델 없이 찾은 것만 보입니다.", "en": "No language model: only what was found is shown."},
    "failed": {
        "ko": "언어 모델이 응답하지 않아 찾은 것만 보입니다.",
        "en": "The language model did not answer: only what was found is shown.",
    },
    "invalid": {
        "ko": "언어 모델의 답이 근거 확인을 통과하지 못해 찾은 것만 보입니다.",
        "en": "The model's reply did not pass the check against the evidence: only what was found is shown.",
    },
    "nothing": {
        "ko": "이 채널에서 볼 수 있는 자료에서 관련 코드를 찾지 못했습니다.",
        "en": "Nothing about this was found in the sources that this channel may see.",
    },
    "deployed": {"ko": "배포 커밋 {r} 기준", "en": "at the deployed commit {r}"},
    "indexed": {
        "ko": "배포 커밋을 몰라 색인된 커밋 기준",
        "en": "at the indexed commit; the deployed one is not known",
    },
    "count": {"ko": "{n}번 발생, 마지막 {at} UTC", "en": "Seen {n} times, last at {at} UTC"},
    "resolved": {"ko": "해결됨", "en": "Resolved"},
    "again": {"ko": "조용했다가 다시 발생했습니다: {link}", "en": "It is back after it was quiet: {link}"},
    "earlier": {"ko": "이전 분석", "en": "the earlier analysis"},
    "limited": {
        "ko": "알림이 많아 분석을 멈췄습니다. 계속 세고 있습니다.",
        "en": "Too many faults to analyse now; they are still counted.",
    },
    "storm": {"ko": "최근 {t}분 동안 알림 {n}건, 장애 {m}종", "en": "{n} alerts of {m} faults in {t} minutes"},
}


def say(name: str, language: Language, **values: object) -> str:
    """A text of this page in a language."""
    return _TEXTS[name][language].format(**values)


def render(
    alert: Alert, analysed: Analysed, fault: Fault, *, language: Language, link: Link, earlier: str | None = None
) -> Reply:
    """The analysis as a reply; what the alert itself says stands in code spans only, where nothing is followed."""
    gathered = analysed.gathered
    parts = [f"**{_code(alert.error_class or alert.title)}** · {_code(alert.service or '-')}"]
    if fault.earlier is not None:
        where = f"[{say('earlier', language)}]({earlier})" if earlier else say("earlier", language)
        parts.append(say("again", language, link=where))
    if analysed.cause:
        if analysed.summary:
            parts.append(analysed.summary)
        parts.append(f"**{say('cause', language)}** ({say(analysed.confidence, language)})\n{analysed.cause}")
    elif gathered.pieces:
        parts.append(f"**{say('places', language)}**\n\n" + "\n\n".join(_places(analysed)))
    else:
        parts.append(say("nothing", language))
    if gathered.changes:
        lines = []
        for number, change in gathered.changes:
            address = link_address(change.permalink)
            commit = f"[{change.commit[:10]}]({address})" if address else f"`{change.commit[:10]}`"
            who = f"{change.committed_at:%Y-%m-%d} {_plain(change.author)}: {_code(change.summary)}"
            lines.append(f"- {commit} {who} [{number}]")
        parts.append(f"**{say('changes', language)}**\n" + "\n".join(lines))
    if analysed.fix:
        parts.append(f"**{say('fix', language)}** [{analysed.fixed}]\n```diff\n{analysed.fix}\n```")
    if analysed.next_steps:
        parts.append(f"**{say('next', language)}**\n" + "\n".join(f"- {step}" for step in analysed.next_steps))
    if gathered.past:
        parts.append(f"**{say('past', language)}**\n" + "\n".join(_past_lines(analysed, language)))
    cited = _shown_numbers(analysed)
    citations = tuple(
        cite(piece.number, piece.scored, quote_text=" ".join(piece.scored.chunk.text.split())[:200], link=link)
        for piece in gathered.pieces
        if piece.number in cited
    )
    return Reply(
        thread=fault.thread,
        markdown="\n\n".join(parts),
        citations=citations,
        delivery_id=fault.delivery_key,
        final=True,
        notices=_notices(analysed, language),
        language=language,
    )


def with_count(reply: Reply, fault: Fault, language: Language) -> Reply:
    """The reply with the count, the last time and the end of its fault in front of its other notices."""
    lines = []
    if fault.count > 1:
        lines.append(say("count", language, n=fault.count, at=f"{fault.last_at:%m-%d %H:%M}"))
    if fault.state == "resolved":
        lines.append(say("resolved", language))
    return replace(reply, notices=(*lines, *reply.notices))


def _places(analysed: Analysed) -> list[str]:
    return [_excerpt(piece.scored, piece.number) for piece in analysed.gathered.pieces[:4]]


def _excerpt(scored: ScoredChunk, number: int) -> str:
    where = scored.chunk.locator
    text = "\n".join(scored.chunk.text.replace("```", "'''").splitlines()[:MAX_EXCERPT_LINES])
    line = f":{where.start_line}" if where.start_line else ""
    return f"[{number}] {_code(f'{where.uri}{line}')}\n```\n{text}\n```"


def _shown_numbers(analysed: Analysed) -> set[int]:
    numbers = {piece.number for piece in analysed.gathered.pieces[:4]} if not analysed.cause else set(analysed.cited)
    numbers |= {number for number, _ in analysed.gathered.changes}
    return numbers | ({analysed.fixed} if analysed.fixed is not None else set())


def _past_lines(analysed: Analysed, language: Language) -> list[str]:
    lines = []
    for one in analysed.gathered.past:
        address = link_address(one.case.url)
        name = f"[#{one.case.number}]({address})" if address else f"#{one.case.number}"
        stale = f" ({say('stale', language)})" if one.case.is_stale else ""
        lines.append(f"- {name} {_code(one.case.cause[:200])}{stale}")
    return lines


def _notices(analysed: Analysed, language: Language) -> tuple[str, ...]:
    gathered = analysed.gathered
    lines = []
    if any(piece.frame for piece in gathered.pieces):
        lines.append(
            say("deployed", language, r=gathered.revision[:10]) if gathered.revision else say("indexed", language)
        )
    if analysed.why_without_model:
        lines.append(say(analysed.why_without_model, language))
    return (*lines, *gathered.degraded)


def _code(text: str) -> str:
    """Text of others as a code span, in which no client follows links or calls people."""
    return f"`{' '.join(text.replace('`', chr(39)).split())[:200]}`"


def _plain(text: str) -> str:
    return "".join(character for character in text if character.isalnum() or character in " .-_")[:80]
