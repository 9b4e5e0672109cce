"""Every text of the pages, in both languages, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from bot.types import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)

TEXTS: Mapping[str, tuple[str, str]] = {
    # key: (Korean, English)
    "skip": ("본문으로 건너뛰기", "Skip to content"),
    "tagline": ("근거로 답하고, 근거가 없으면 모른다고 합니다", "Answers from evidence, or says that it cannot"),
    "general": ("일반", "general"),
    "guest": ("손님", "guest"),
    "channels": ("채널", "Channels"),
    "new_channel": ("새 채널", "New channel"),
    "channel_name": ("채널 이름", "Channel name"),
    "create": ("만들기", "Create"),
    "your_name": ("내 이름", "Your name"),
    "save": ("저장", "Save"),
    "other_language": ("English", "한국어"),
    "sign_out": ("로그아웃", "Sign out"),
    "sign_in": ("로그인", "Sign in"),
    "sign_in_hint": (
        "이 페이지의 토큰을 입력하세요. 토큰은 해치를 설치한 사람이 알고 있습니다.",
        "Enter this page's token. Whoever installed Haechi has it.",
    ),
    "token": ("토큰", "Token"),
    "token_wrong": ("토큰이 맞지 않습니다. 다시 입력하세요.", "That is not the token. Please try again."),
    "token_wait": (
        "여러 번 틀렸습니다. 1분 뒤에 다시 해 보세요.",
        "Too many wrong tokens. Please try again in a minute.",
    ),
    "back": ("← {channel}", "← {channel}"),
    "earlier": ("이전 글 보기", "Earlier threads"),
    "thread_cut": ("최근 글 {n}개만 보입니다.", "Only the last {n} posts are shown."),
    "replies": ("답글 {n}", "{n} replies"),
    "replies_one": ("답글 1", "1 reply"),
    "state_working": ("찾는 중", "working"),
    "state_answer": ("답변", "answered"),
    "state_refusal": ("답 없음", "not answered"),
    "state_error": ("오류", "error"),
    "empty_title": ("무엇이든 물어보세요", "Ask anything"),
    "empty_text": (
        "해치는 회사 문서와 코드를 읽고 근거를 붙여 답합니다. {mention} 멘션이 있는 글에 답합니다.",
        "Haechi reads the company's documents and code and answers with its sources. Put {mention} into a post and"
        " it answers.",
    ),
    "empty_examples": ("예를 들면", "For example"),
    "compose_root": ("{mention}에게 질문하기", "Ask {mention} a question"),
    "compose_reply": ("이 스레드에 답글 쓰기", "Reply in this thread"),
    "compose_hint": ("Enter 보내기 · Shift+Enter 줄바꿈", "Enter sends · Shift+Enter for a new line"),
    "send": ("보내기", "Send"),
    "sending": ("보내는 중…", "Sending…"),
    "no_mention": (
        "{mention} 멘션이 없어서 해치는 이 글에 답하지 않습니다.",
        "Without {mention} Haechi does not answer this post.",
    ),
    "add_mention": ("{mention} 넣기", "Add {mention}"),
    "too_long": (
        "글이 너무 깁니다: {n}자입니다. {limit}자까지 쓸 수 있습니다.",
        "This is too long: {n} characters of at most {limit}.",
    ),
    "noscript": (
        "글을 보내려면 JavaScript가 필요합니다. 읽기는 그대로 됩니다.",
        "Sending needs JavaScript; reading works without.",
    ),
    "bot": ("봇", "bot"),
    "edited": ("수정됨", "edited"),
    "only_you": ("나에게만 보임", "Only you see this"),
    "working": ("근거를 찾고 있습니다…", "Looking for evidence…"),
    "writing": ("쓰는 중…", "writing…"),
    "over_limit": (
        "지금은 더 물어볼 수 없습니다. 잠시 뒤에 다시 물어봐 주세요.",
        "No more questions now; please ask again in a while.",
    ),
    "failed": ("답하지 못했습니다.", "It could not be answered."),
    "error": ("오류가 나서 답하지 못했습니다", "Something went wrong"),
    "unavailable": ("지금은 다 찾아보지 못했습니다", "Not everything could be looked up just now"),
    "error_id": ("오류 번호 {id}", "error id {id}"),
    "sources": ("근거", "Sources"),
    "nearest": ("가장 가까운 자료 (답의 근거는 아닙니다)", "Nearest sources (not evidence for an answer)"),
    "source_n": ("근거 {n}: {what}", "Source {n}: {what}"),
    "page_n": ("{n}쪽", "p. {n}"),
    "page_image": ("{n}쪽 이미지 보기", "Show page {n} as an image"),
    "page_image_alt": ("{uri} {n}쪽의 이미지", "Image of page {n} of {uri}"),
    "doubtful_words": (
        "스캔에서 읽은 글자라 확실하지 않습니다. 이미지와 비교하세요: {words}",
        "Read from a scan and uncertain; compare with the image: {words}",
    ),
    "page_changed": (
        "색인한 뒤에 파일이 바뀌어서 이 쪽을 보여 줄 수 없습니다. 다시 물어보면 지금 내용으로 답합니다.",
        "The file has changed since it was indexed, so this page is not shown. Ask again to get an answer from what"
        " stands now.",
    ),
    "page_not_shown": (
        "이 쪽은 이미지로 보여 줄 수 없습니다. 없는 쪽이거나, 가려야 할 정보가 있는 쪽입니다. 원본을 여세요.",
        "This page cannot be shown as an image: it is not there, or holds something that has to stay masked. Open the"
        " original.",
    ),
    "page_failed": (
        "지금은 이 쪽을 이미지로 만들 수 없습니다. 잠시 뒤에 다시 열거나 원본을 여세요.",
        "The image of this page could not be made just now. Try again in a while, or open the original.",
    ),
    "feedback": ("이 답이 어땠나요?", "How was this answer?"),
    "vote_up": ("도움이 됐어요", "Helpful"),
    "vote_down": ("도움이 안 됐어요", "Not helpful"),
    "vote_wrong": ("틀렸어요", "Wrong"),
    "vote_thanks": ("의견을 받았습니다. 고맙습니다.", "Thank you, noted."),
    "vote_failed": ("의견을 보내지 못했습니다. 다시 눌러 주세요.", "That was not sent. Please press again."),
    "answered": ("{bot}의 답: {text}", "{bot} answered: {text}"),
    "table": ("표", "Table"),
    "code": ("코드", "Code"),
    "evidence": ("근거 자료", "Evidence"),
    "evidence_loading": ("근거를 불러오는 중…", "Loading the evidence…"),
    "evidence_failed": (
        "근거를 불러오지 못했습니다. 연결을 확인하고 다시 눌러 주세요.",
        "The evidence could not be loaded. Check the connection and try again.",
    ),
    "evidence_gone": (
        "이 근거는 그 뒤에 바뀌었습니다. 다시 물어보면 지금 내용으로 답합니다.",
        "This evidence has changed since. Ask again to get an answer from what stands now.",
    ),
    "evidence_place_unknown": (
        "인용한 자리를 표시할 수 없습니다. 문서 전체를 보여 드립니다.",
        "The cited place cannot be marked; this is the whole document.",
    ),
    "cited_part": ("인용한 부분", "Cited part"),
    "revision": ("판 {id}", "revision {id}"),
    "commit": ("커밋 {id}", "commit {id}"),
    "lines": ("{a}–{b}행", "lines {a}–{b}"),
    "called_by": ("호출하는 곳", "Called by"),
    "line_one": ("{a}행", "line {a}"),
    "open_original": ("원본 열기", "Open the original"),
    "open_full": ("새 창에서 전체 보기", "Whole text in a new tab"),
    "left_out": ("{n}개 항목이 더 있습니다", "{n} more items"),
    "left_out_lines": ("{n}행이 더 있습니다", "{n} more lines"),
    "close": ("닫기", "Close"),
    "home": ("처음으로", "Start page"),
    "reading": ("문서를 읽는 중…", "Reading the documents…"),
    "reading_n": ("문서를 읽는 중… {total}개 중 {done}개", "Reading the documents… {done} of {total}"),
    "embedding_n": (
        "의미 검색을 준비하는 중… {total}개 중 {done}개. 낱말 검색은 이미 됩니다.",
        "Preparing search by meaning… {done} of {total}. Search by words works already.",
    ),
    "connection_lost": ("연결이 끊겼습니다. 다시 연결하는 중…", "Connection lost. Reconnecting…"),
    "send_failed": (
        "보내지 못했습니다. 글은 그대로 있으니 다시 보내 주세요.",
        "That was not sent. Your text is still here; please send it again.",
    ),
    "not_found": ("찾을 수 없습니다", "Not found"),
    "not_found_text": (
        "이 주소에는 아무것도 없습니다. 처음 페이지에서 다시 찾아보세요.",
        "There is nothing at this address. Look for it from the start page.",
    ),
    "error_title": ("받지 않았습니다", "Not accepted"),
    "crash": ("오류가 났습니다", "Something went wrong"),
    "crash_text": (
        "다시 해 보고, 또 그러면 관리자에게 오류 번호 {id} 를 알려 주세요.",
        "Try again; if it happens again, give the error id {id} to whoever runs Haechi.",
    ),
    "bad_host": (
        "이 주소({host})로는 열 수 없습니다. 관리자가 haechi.toml의 web.allowed_hosts에 더해야 합니다.",
        "This page does not answer under {host}. Whoever runs Haechi can add it to web.allowed_hosts in haechi.toml.",
    ),
    "bad_origin": (
        "다른 사이트에서 온 요청이라 받지 않았습니다. 해치 페이지에서 다시 해 주세요.",
        "This request came from another site and was not accepted. Please do it on Haechi's own page; programs send"
        " an Authorization header.",
    ),
    "body_too_large": ("요청이 너무 큽니다. 64 KB까지 됩니다.", "The request is too large; 64 KB is the limit."),
    "need_token": (
        "토큰이 필요합니다. 로그인하거나 Authorization: Bearer 헤더를 보내세요.",
        "A token is needed: sign in, or send it as Authorization: Bearer.",
    ),
    "bad_request": ("요청을 이해할 수 없습니다: {what}", "The request cannot be understood: {what}"),
    "empty_message": ("글을 입력하세요.", "Write something first."),
    "channel_exists": ("‘{name}’ 채널이 이미 있습니다.", "There is already a channel {name}."),
    "channel_name_rule": (
        "채널 이름은 1~40자입니다.",
        "A channel name has 1 to 40 characters.",
    ),
    "name_rule": ("이름은 1~40자입니다.", "A name has 1 to 40 characters."),
}


def say(language: Language, key: str, **values: object) -> str:
    """The text `key` with `values` filled in; not escaped."""
    return TEXTS[key][LANGUAGES.index(language)].format(**values)


def choose_language(cookie: str | None, accept_language: str | None) -> Language:
    """The language that the reader chose, else the first one of the browser's list that there is, else Korean."""
    if cookie in LANGUAGES:
        return cookie
    weighted: list[tuple[float, int, str]] = []
    for place, item in enumerate((accept_language or "").split(",")):
        tag, _, quality = item.strip().partition(";q=")
        try:
            weight = float(quality) if quality else 1.0
        except ValueError:
            weight = 0.0
        weighted.append((-weight, place, tag.split("-")[0].lower()))
    for _, _, tag in sorted(weighted):
        if tag in LANGUAGES:
            return tag
    return "ko"
