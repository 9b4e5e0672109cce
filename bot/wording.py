"""Short texts around an answer, in both languages. What an admin may want to change stands in persona.md instead."""

from __future__ import annotations

from datetime import datetime

from bot.two_languages import Texts
from bot.types import Language

TEXTS = Texts({
    "sources": {"ko": "출처", "en": "Sources"},
    "nearest": {"ko": "가장 가까운 자료(답의 근거는 아님)", "en": "Nearest sources (not evidence for an answer)"},
    "called_by": {"ko": "호출하는 곳", "en": "Called by"},
    "searching": {"ko": "자료를 찾고 있습니다…", "en": "Searching…"},
    "queue_position": {
        "ko": "자료를 찾았습니다. 언어 모델을 기다리는 중입니다(앞에서 {n}번째).",
        "en": "Found sources; waiting for the language model (number {n} in the queue).",
    },
    "unread_files": {
        "ko": "읽지 않은 파일: {names} (텍스트와 로그 파일만 질문에 더해집니다.)",
        "en": "Not read: {names} (only text and log files join the question).",
    },
    "attached_cut": {
        "ko": "{names}: 길어서 앞부분과 끝부분만 질문에 더했습니다.",
        "en": "{names}: only the beginning and the end joined the question.",
    },
    "over_limit_user": {
        "ko": "{window} 물어볼 수 있는 만큼 물어보셨습니다. {wait} 뒤에 다시 물어봐 주세요."
        " 그때까지 오는 질문에는 모래시계만 표시합니다.",
        "en": "You have asked as much as can be answered {window}. Please ask again in {wait}; until then further "
        "questions get an hourglass only.",
    },
    "over_limit_total": {
        "ko": "{window} 답할 수 있는 것보다 많은 질문이 들어오고 있습니다. {wait} 뒤에 다시 물어봐 주세요."
        " 그때까지 오는 질문에는 모래시계만 표시합니다.",
        "en": "More is being asked than can be answered {window}. Please ask again in {wait}; until then further"
        " questions get an hourglass only.",
    },
    "in_a_minute": {"ko": "1분 동안", "en": "in a minute"},
    "in_an_hour": {"ko": "1시간 동안", "en": "in an hour"},
    "seconds_left": {"ko": "{n}초", "en": "{n} s"},
    "minutes_left": {"ko": "{n}분", "en": "{n} min"},
    "open": {"ko": "열기", "en": "open"},
    "error_number": {"ko": "오류 번호: `{id}`", "en": "Error number: `{id}`"},
    "vote_thanks": {"ko": "의견 고맙습니다. 답을 고치는 데 씁니다.", "en": "Thank you; it helps to mend answers."},
    "vote_unknown": {
        "ko": "이 답은 이제 기록에 없어서 의견을 남길 수 없습니다.",
        "en": "This answer is not on record any more, so the vote could not be kept.",
    },
    "button_expired": {"ko": "이 버튼은 기한이 지났습니다.", "en": "This button has expired."},
    "button_refused": {"ko": "이 버튼으로는 의견을 남길 수 없습니다.", "en": "This button cannot be used here."},
    "not_now": {
        "ko": "지금은 받을 수 없습니다. 잠시 뒤 다시 해 주세요.",
        "en": "Not possible now; try again in a moment.",
    },
    "shared": {
        "ko": "이 채널은 다른 조직과 함께 쓰는 채널이라 여기서는 답하지 않습니다. 여기서 보여도 되는 자료를 관리자가"
        ' 설정의 `[[channels]]`에 정하면(`platform = "{platform}"`, `id = "{id}"`, `sources = [...]`) 답합니다.',
        "en": "People of other organisations read this channel, so I do not answer here until an admin lists it under"
        ' `[[channels]]` with the sources that may be seen here (`platform = "{platform}"`, `id = "{id}"`,'
        " `sources = [...]`).",
    },
    "no_place": {
        "ko": '여기에는 답을 올릴 수 없었습니다: "{asked}" 질문이나 스레드가 지워졌거나, 채널이 보관되었거나,'
        " 제가 채널에서 빠졌을 수 있습니다. 오류 번호: `{id}`",
        "en": 'The answer could not be posted where this was asked: "{asked}" The question or its thread may be'
        " deleted, the channel archived, or I am not in it any more. Error number: `{id}`",
    },
    "page": {"ko": "{n}쪽", "en": "page {n}"},
    "more_rows": {
        "ko": "(이 표의 {n}개 행은 줄였습니다. 전체 표는 출처의 링크에 있습니다.)",
        "en": "({n} more rows; the whole table is behind the link of the source.)",
    },
    "indexed": {"ko": "{source}: {ago} 색인", "en": "{source}: indexed {ago}"},
    "indexed_commit": {
        "ko": "{source}: {ago} 색인, 커밋 {commit}",
        "en": "{source}: indexed {ago}, at commit {commit}",
    },
    "not_indexed": {
        "ko": "{source}: 아직 색인되지 않았습니다. 색인이 돌고 있지 않으면 관리자가 `haechi ingest`를 실행해야 합니다.",
        "en": "{source}: not indexed yet. Unless that is under way, an admin has to run `haechi ingest`.",
    },
    "being_indexed": {
        "ko": "{source}: 아직 다 색인되지 않았습니다. 지금까지 {n}개 문서만 찾아볼 수 있습니다.",
        "en": "{source}: not indexed whole yet, only {n} documents so far can be searched.",
    },
    "source_problem": {
        "ko": "{source}: 마지막 색인에 실패했습니다({problem})",
        "en": "{source}: the last sync failed ({problem})",
    },
    "source_problem_since": {
        "ko": "{source}: 마지막 색인에 실패했습니다({problem}). {time} UTC에 읽은 내용으로 답합니다.",
        "en": "{source}: the last sync failed ({problem}). Answers rest on what was read at {time} UTC.",
    },
    "doubtful_page": {
        "ko": "스캔 문서에서 읽은 글자입니다. {uri}의 {n}쪽에서 다음을 확인하세요: {words}{address}",
        "en": "From a scan, check page {n} of {uri}; these words were hard to read: {words}{address}",
    },
    "doubtful_scan": {
        "ko": "스캔 문서에서 읽은 글자입니다. {uri}에서 다음을 확인하세요: {words}.",
        "en": "From a scan, check {uri}; these words were hard to read: {words}.",
    },
    "just_now": {"ko": "방금", "en": "just now"},
    "minutes": {"ko": "{n}분 전", "en": "{n} min ago"},
    "hours": {"ko": "{n}시간 전", "en": "{n} h ago"},
    "days": {"ko": "{n}일 전", "en": "{n} d ago"},
    "model_failed": {
        "ko": "언어 모델이 답하지 않아 근거를 그대로 보여 드립니다({reason})",
        "en": "The language model did not answer, so the evidence itself is shown ({reason})",
    },
    "model_away": {
        "ko": "언어 모델이 답하지 않았습니다({reason})",
        "en": "The language model did not answer ({reason})",
    },
    "model_broke_off": {
        "ko": "언어 모델이 답을 끝내지 못했습니다({reason})",
        "en": "The language model did not finish its answer ({reason})",
    },
    "held_back": {
        "ko": "근거에서 확인되지 않은 문장 {n}개를 뺐습니다.",
        "en": "{n} sentence(s) that the evidence does not confirm were left out.",
    },
    "quoted_instead": {
        "ko": "근거와 똑같은 뜻인지 확인되지 않은 문장 {n}개는 근거의 원문으로 바꾸었습니다.",
        "en": "{n} sentence(s) not certain to say the same as the evidence were replaced by its own words.",
    },
    "code_reading": {
        "ko": "코드가 하는 일에 대한 설명은 모델이 읽은 것이니, 인용한 줄과 견주어 보세요.",
        "en": "What the code does is told as the model read it; compare it with the lines it cites.",
    },
    "proviso": {"ko": "단서 조항:", "en": "But note:"},
    "code_says": {"ko": "코드에는 이렇게 되어 있습니다", "en": "The code reads"},
    "source_says": {"ko": "원문:", "en": "The source says:"},
    "source_says_old": {"ko": "{until} 개정 전의 옛 원문:", "en": "The source said until {until}:"},
    "missing_words": {"ko": "근거에 {words}은(는) 없습니다.", "en": "The evidence does not mention {words}."},
    "model_skipped": {
        "ko": "모델을 쓰지 못해({reason}) {used}이(가) 대신 답했습니다.",
        "en": "A model could not be used ({reason}); {used} answered instead.",
    },
    "model_gone": {"ko": "모델 서버에 더는 없음", "en": "its server does not have it any more"},
    "model_slow": {"ko": "제한 시간 안에 답하지 않음", "en": "no answer in time"},
    "model_prompt": {"ko": "근거가 모델의 창보다 큼", "en": "the evidence does not fit into its window"},
    "model_cut": {"ko": "답이 길이 제한에 걸림", "en": "the answer reached its limit"},
    "model_silent": {"ko": "모델 서버에 연결되지 않거나 도중에 끊김", "en": "its server does not answer or broke off"},
    "vectors_pending": {
        "ko": "{source}: {total}개 조각 중 {missing}개는 아직 의미 검색에 들어가지 않았습니다.",
        "en": "{source}: {missing} of {total} pieces have not joined the search by meaning yet.",
    },
    "embedder_missing": {
        "ko": "{tool}을 쓸 수 없어 그 결과가 빠졌습니다({reason})",
        "en": "{tool} could not be used, its results are missing ({reason})",
    },
    "earliest_wording": {
        "ko": "{time}의 {name} 내용은 색인에 없습니다. 아는 것 가운데 가장 이른 내용은 {day}부터 시행된 것이라, "
        "그때는 달랐을 수 있습니다.",
        "en": "What {name} said {time} is not in the index: the earliest wording that is known holds since {day}; "
        "it may have been different then.",
    },
    "not_in_force_yet": {
        "ko": "{name}은(는) {day}부터 시행됩니다. 아직 시행되지 않았습니다.",
        "en": "{name} comes into force on {day}; it does not hold yet.",
    },
    "before_last_revision": {"ko": "마지막 개정 전", "en": "before its last revision"},
    "reranker_missing": {
        "ko": "순위 모델을 쓸 수 없어 결과 순서가 평소보다 거칠 수 있습니다.",
        "en": "The reranker could not be used; the order of the results may be rougher than usual.",
    },
    "came_into_force": {"ko": "{day} 시행", "en": "in force since {day}"},
    "superseded": {"ko": "{day} 개정 전", "en": "superseded on {day}"},
    "read_at": {"ko": "{day} 확인한 판", "en": "as read on {day}"},
    "since": {"ko": "{tool}({detail}, {time} UTC부터)", "en": "{tool} ({detail}, since {time} UTC)"},
    "since_when": {"ko": "{time} UTC부터", "en": "since {time} UTC"},
    "nothing_elsewhere": {
        "ko": "찾아볼 수 있는 자료({searched})에서는 이 질문에 답할 근거를 찾지 못했습니다. 다만 다음은 찾아볼 수"
        " 없었고, 그 안에 근거가 있을 수도 있습니다: {tools}. 잠시 뒤 다시 물어봐 주세요.",
        "en": "I found nothing that answers this question in what could be searched ({searched}). This could not be"
        " searched, and there may be an answer in it: {tools}. Please ask again in a while.",
    },
    "tool_partly_down": {
        "ko": "일부 검색을 쓰지 못했습니다: {tools}",
        "en": "Part of the search was not available: {tools}",
    },
    "tool_index": {"ko": "색인", "en": "the index"},
    "tool_index_building": {"ko": "아직 만들어지지 않음", "en": "not built yet"},
    "tool_keyword": {"ko": "낱말 검색", "en": "search by words"},
    "tool_dense": {"ko": "의미 검색", "en": "search by meaning"},
    "tool_reranker": {"ko": "순위 모델", "en": "the reranker"},
    "tool_source": {"ko": "자료", "en": "the source"},
    "tool_vectors": {"ko": "의미 검색", "en": "search by meaning"},
    "vectors_none": {"ko": "{sources}: 아직 들어간 것이 없음", "en": "{sources}: nothing has joined it yet"},
    "tool_catalog": {"ko": "색인 저장소", "en": "the catalog"},
})  # fmt: skip

word = TEXTS.say


def tool_name(tool: str, language: Language) -> str:
    """ "dense:e5" -> "의미 검색 e5"; names that have no text stay as they are."""
    kind, _, rest = tool.partition(":")
    if f"tool_{kind}" not in TEXTS:
        return tool
    return f"{word(f'tool_{kind}', language)} {rest}".strip()


def ago(then: datetime, now: datetime, language: Language) -> str:
    """ "2 h ago"."""
    minutes = max(0, int((now - then).total_seconds() // 60))
    if minutes < 1:
        return word("just_now", language)
    if minutes < 60:
        return word("minutes", language, n=minutes)
    if minutes < 48 * 60:
        return word("hours", language, n=minutes // 60)
    return word("days", language, n=minutes // (24 * 60))
