"""What slash commands say, in both languages."""

from __future__ import annotations

from bot.two_languages import Texts

TEXTS = Texts({
    "help": {
        "ko": "**`/haechi`로 할 수 있는 일**\n\n"
        "- `/haechi ask 질문` (질문): 이 채널에서 볼 수 있는 자료로 답합니다. 답은 나에게만 보입니다.\n"
        "- `/haechi search 낱말` (검색): 관련 자료를 찾아 보여 줍니다.\n"
        "- `/haechi sources` (자료): 이 채널에서 볼 수 있는 자료를 보여 줍니다.\n"
        "- `/haechi status` (상태): 색인과 연결의 상태를 보여 줍니다.\n"
        "- `/haechi feedback up|down|wrong [의견]` (평가): 나에게 한 마지막 답을 평가합니다.\n"
        "- `/haechi reindex [자료] [--force]` (재색인): 자료를 다시 읽습니다(관리자만).\n"
        "- `/haechi cases [show|forget 번호]` (사례): 기억해 둔 장애 사례를 보거나 잊게 합니다(관리자만).\n"
        "- `/haechi help` (도움말)\n\n"
        "채널에서는 저를 멘션해 물어보시면 됩니다. 제가 답한 스레드에서는 멘션 없이 이어서 물어볼 수 있습니다.",
        "en": "**What `/haechi` can do**\n\n"
        "- `/haechi ask QUESTION`: answers from what may be seen in this channel; only you see it.\n"
        "- `/haechi search WORDS`: shows what was found.\n"
        "- `/haechi sources`: shows which sources may be seen in this channel.\n"
        "- `/haechi status`: shows the state of the index and of the connections.\n"
        "- `/haechi feedback up|down|wrong [COMMENT]`: rates my last answer to you.\n"
        "- `/haechi reindex [SOURCE] [--force]`: reads sources again (admins only).\n"
        "- `/haechi cases [show|forget NUMBER]`: shows or forgets what is remembered of past faults (admins only).\n"
        "- `/haechi help`\n\n"
        "In a channel, mention me to ask. In a thread where I answered, go on without a mention.",
    },
    "cases": {"ko": "**기억해 둔 장애 사례**", "en": "**Remembered faults**"},
    "cases_none": {
        "ko": "이 채널에서 볼 수 있는 사례가 없습니다.",
        "en": "There is no case that this channel may see.",
    },
    "cases_what": {
        "ko": "`/haechi cases`, `/haechi cases list 서비스`, `/haechi cases show 12`, `/haechi cases forget 12`처럼"
        " 적어 주세요.",
        "en": "Write `/haechi cases`, `/haechi cases list SERVICE`, `/haechi cases show 12` or `/haechi cases forget"
        " 12`.",
    },
    "case_none": {
        "ko": "이 채널에서 볼 수 있는 사례 {n}번이 없습니다. `/haechi cases`로 목록을 볼 수 있습니다.",
        "en": "There is no case {n} that this channel may see; `/haechi cases` lists them.",
    },
    "case_forgotten": {
        "ko": "사례 #{n} {what}을(를) 잊었습니다. 이 원인은 이 장애에 대해 다시 기억되지 않습니다.",
        "en": "Case #{n} {what} is forgotten; its cause will not be learnt again for this fault.",
    },
    "case_told": {"ko": "사람이 알려 준 원인", "en": "told by a person"},
    "case_stale": {"ko": "그 뒤로 코드가 바뀜", "en": "the code has changed since"},
    "vote_kept_analysis": {
        "ko": "이 채널의 마지막 알림 분석에 대한 평가로 적었습니다. 고맙습니다.",
        "en": "Noted for the latest analysis of an alert here. Thank you.",
    },
    "unknown": {
        "ko": "`{typed}`라는 명령은 없습니다.{nearest}",
        "en": "There is no command `{typed}`.{nearest}",
    },
    "nearest": {"ko": " 혹시 `{name}`인가요?", "en": " Did you mean `{name}`?"},
    "ask_what": {
        "ko": "무엇을 물어볼지 적어 주세요: `/haechi ask 연차는 며칠인가요?`",
        "en": "Write the question: `/haechi ask how long is the notice period?`",
    },
    "too_long": {"ko": "너무 깁니다({n}자까지).", "en": "That is too long (at most {n} characters)."},
    "search_what": {
        "ko": "찾을 낱말을 적어 주세요: `/haechi search 숙박비`",
        "en": "Write what to look for: `/haechi search lodging`",
    },
    "found": {"ko": "**검색 결과**: {query}", "en": "**Found for**: {query}"},
    "found_none": {"ko": "찾은 것이 없습니다: {query}", "en": "Nothing was found: {query}"},
    "found_weak": {
        "ko": "질문에 답하는 자료인지는 확실하지 않습니다.",
        "en": "It is not certain that these answer the question.",
    },
    "sources": {"ko": "**이 채널에서 볼 수 있는 자료**", "en": "**Sources that may be seen in this channel**"},
    "sources_none": {"ko": "이 채널에서 볼 수 있는 자료가 없습니다.", "en": "No source may be seen in this channel."},
    "source_docs": {
        "ko": "- **{title}** (`{name}`): 문서 {documents}개, {state}",
        "en": "- **{title}** (`{name}`): {documents} documents, {state}",
    },
    "source_code": {
        "ko": "- **{title}** (`{name}`): 코드 파일 {documents}개, {state}",
        "en": "- **{title}** (`{name}`): {documents} code files, {state}",
    },
    "indexed": {"ko": "{ago} 색인", "en": "indexed {ago}"},
    "never": {"ko": "아직 색인되지 않음", "en": "not indexed yet"},
    "failed": {"ko": ", 읽지 못한 것 {n}개", "en": ", {n} could not be read"},
    "pending": {"ko": ", 의미 검색 준비 중 {n}조각", "en": ", {n} passages not yet in search by meaning"},
    "problem": {"ko": ", 마지막 색인 실패: {why}", "en": ", last sync failed: {why}"},
    "tools": {"ko": "**도구**", "en": "**Tools**"},
    "platforms": {"ko": "**연결**", "en": "**Connections**"},
    "tool": {"ko": "- {name}: {state}{detail}", "en": "- {name}: {state}{detail}"},
    "queue": {
        "ko": "기다리는 것 {waiting}개, 처리 중 {working}개",
        "en": "{waiting} waiting, {working} being worked on",
    },
    "state_ok": {"ko": "정상", "en": "ok"},
    "state_degraded": {"ko": "일부만 됨", "en": "degraded"},
    "state_down": {"ko": "멈춤", "en": "down"},
    "vote_what": {
        "ko": "평가를 적어 주세요: `/haechi feedback up`, `down`, `wrong` 가운데 하나와 의견",
        "en": "Write a vote: `/haechi feedback` with `up`, `down` or `wrong`, and a comment",
    },
    "vote_none": {
        "ko": "여기에는 평가할 답이 아직 없습니다.",
        "en": "There is no answer here yet that you could rate.",
    },
    "vote_kept": {"ko": "평가를 저장했습니다. 고맙습니다.", "en": "Your vote is saved. Thank you."},
    "admins_only": {
        "ko": "관리자만 할 수 있습니다. 관리자는 설정의 `[commands] admins`에 `\"{who}\"`를 넣어 정합니다.",
        "en": "Only admins may do that. They are named in the settings, `[commands] admins`: `\"{who}\"`.",
    },
    "no_option": {
        "ko": "`{option}`이라는 선택은 없습니다. `--force`만 됩니다.",
        "en": "There is no option `{option}`, only `--force`.",
    },
    "no_source": {
        "ko": "이 채널에서 볼 수 있는 자료 가운데 `{name}`은 없습니다: {known}",
        "en": "There is no source `{name}` among those that may be seen in this channel: {known}",
    },
    "reindexing": {"ko": "다시 읽는 중: {names}", "en": "Reading again: {names}"},
    "step_read": {"ko": "읽는 중", "en": "reading"},
    "step_embed": {"ko": "의미 검색 준비", "en": "embedding"},
    "step_waiting": {"ko": "앞선 색인을 기다리는 중", "en": "waiting for another sync"},
    "step": {"ko": "{source}: {stage} {done}{total}", "en": "{source}: {stage} {done}{total}"},
    "reindexed": {"ko": "**다 읽었습니다**", "en": "**Done**"},
    "reindexed_source": {
        "ko": "- **{source}**: 새로 {added}, 바뀜 {updated}, 없어짐 {deleted}, 그대로 {unchanged}, 실패 {failed}"
        " ({seconds}초)",
        "en": "- **{source}**: {added} added, {updated} updated, {deleted} deleted, {unchanged} unchanged,"
        " {failed} failed ({seconds} s)",
    },
    "cancelled": {
        "ko": "멈추는 중입니다: {names}. 이미 읽은 것은 남습니다.",
        "en": "Stopping: {names}. What was finished stays.",
    },
    "cancelled_none": {"ko": "진행 중인 색인이 없습니다.", "en": "No sync waits or runs."},
    "reindex_failed": {"ko": "다시 읽지 못했습니다: {why}", "en": "It could not be read again: {why}"},
})  # fmt: skip

text = TEXTS.say
