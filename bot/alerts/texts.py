"""Every text around an analysis, in both languages."""

from __future__ import annotations

from bot.two_languages import Texts

TEXTS = Texts({
    "cause": {"ko": "추정 원인", "en": "Likely cause"},
    "high": {"ko": "확신 높음", "en": "high confidence"},
    "medium": {"ko": "확신 보통", "en": "medium confidence"},
    "low": {"ko": "확신 낮음", "en": "low confidence"},
    "place": {"ko": "가장 유력한 위치", "en": "Most likely place"},
    "alike": {"ko": "같은 이름의 함수 {n}개 중 하나", "en": "one of {n} functions of that name"},
    "near": {"ko": "비슷한 코드 (스택 트레이스와 이어지지 않음)", "en": "Code that reads alike (no frame leads there)"},
    "path": {"ko": "거쳐 온 호출", "en": "Called through"},
    "called_by": {"ko": "호출하는 곳", "en": "Called by"},
    "runbooks": {"ko": "관련 문서", "en": "Documents"},
    "changes": {"ko": "최근 변경", "en": "Recent changes"},
    "changes_since": {"ko": "직전 배포({at}) 이후 변경", "en": "Changed since the deployment before ({at})"},
    "unchanged_since": {
        "ko": "이 함수들은 직전 배포({at}) 이후 바뀌지 않았습니다.",
        "en": "These functions have not changed since the deployment before ({at}).",
    },
    "wrote_line": {"ko": "이 줄을 쓴 커밋", "en": "wrote this line"},
    "not_deployed": {"ko": "아직 배포되지 않음", "en": "not deployed yet"},
    "fix": {"ko": "수정안 (파일에 적용되는 것을 확인함)", "en": "Fix (it applies to the file)"},
    "crlf": {"ko": "이 파일은 줄 끝이 CRLF입니다.", "en": "This file has CRLF line ends."},
    "next": {"ko": "다음 단계", "en": "Next steps"},
    "past": {"ko": "지난 사례 (참고용)", "en": "Past cases (hints only)"},
    "same": {"ko": "같은 장애", "en": "same fault"},
    "class": {"ko": "같은 종류", "en": "same class"},
    "similar": {"ko": "비슷한 장애", "en": "similar"},
    "told": {"ko": "사람이 알려 준 원인", "en": "told by a person"},
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
    "denied": {
        "ko": "언어 모델이 이미 틀렸다고 확인된 원인을 다시 내놓아 찾은 것만 보입니다.",
        "en": "The model named a cause that people have called wrong before: only what was found is shown.",
    },
    "nothing": {
        "ko": "이 채널에서 볼 수 있는 자료에서 관련 코드를 찾지 못했습니다.",
        "en": "Nothing about this was found in the sources that this channel may see.",
    },
    "no_frames": {
        "ko": "스택 트레이스의 위치가 이 채널에서 볼 수 있는 코드에 없습니다.",
        "en": "The frames of this trace lie in no code that this channel may see.",
    },
    "deployed": {"ko": "줄은 배포 커밋 {r}에서 찾았고, 코드는 색인된 것을 보입니다.",
        "en": "Lines were looked up at the deployed commit {r}; the code is shown as it is indexed.",
    },
    "indexed": {
        "ko": "배포 커밋을 몰라 색인된 커밋 기준 (줄 번호가 다를 수 있음)",
        "en": "At the indexed commit, as the deployed one is not known (lines may differ)",
    },
    "count": {"ko": "{n}번 발생, 마지막 {at} UTC", "en": "Seen {n} times, last at {at} UTC"},
    "resolved": {"ko": "해결됨", "en": "Resolved"},
    "wrong": {"ko": "틀렸다는 평가를 받은 분석입니다.", "en": "People have called this analysis wrong."},
    "corrected": {
        "ko": "사람이 원인을 바로잡았습니다. 아래 스레드를 보세요.",
        "en": "A person has corrected the cause; see below in this thread.",
    },
    "back": {"ko": "조용했다가 다시 발생했습니다: {link}", "en": "It is back after it was quiet: {link}"},
    "going_on": {
        "ko": "계속 발생하고 있어 다시 분석했습니다: {link}",
        "en": "It still goes on and was analysed anew: {link}",
    },
    "earlier": {"ko": "이전 분석", "en": "the earlier analysis"},
    "limited": {
        "ko": "알림이 많아 분석을 멈췄습니다. 계속 세고 있습니다.",
        "en": "Too many faults to analyse now; they are still counted.",
    },
    "storm": {"ko": "최근 {t}분 동안 알림 {n}건, 장애 {m}종", "en": "{n} alerts of {m} faults in {t} minutes"},
    "taken_out": {
        "ko": "틀렸다는 평가에 따라 이 분석을 사례에서 뺐습니다. 다시 쓰이지 않습니다. 원인을 아시면 이 스레드에"
        " “원인: …”이라고 적어 주세요.",
        "en": "This analysis was called wrong and is out of the memory; it will not be used again. If you know the"
        " cause, write “cause: …” in this thread.",
    },
    "nothing_to_take_out": {
        "ko": "틀렸다는 평가를 적어 두었습니다. 이 분석은 사례로 기억된 것이 아니어서 뺄 것이 없습니다."
        " 원인을 아시면 이 스레드에 “원인: …”이라고 적어 주세요.",
        "en": "Noted as wrong. This analysis was not in the memory, so there was nothing to take out. If you know the"
        " cause, write “cause: …” in this thread.",
    },
    "corrected_now": {
        "ko": "{what}의 원인으로 기억합니다: {cause}\n앞선 분석은 사례에서 빠지고 다시 쓰이지 않습니다.",
        "en": "Remembered as the cause of {what}: {cause}\nThe analysis above is out of the memory and will not be used"
        " again.",
    },
    "corrected_too_often": {
        "ko": "이 오류의 원인은 더 고쳐 적을 수 없습니다(한 사람이 {each}번, 모두 합해 {most}번까지)."
        " 마지막으로 기억한 원인이 그대로 남아 있고, 관리자는 `/haechi cases`로 지울 수 있습니다.",
        "en": "The cause of this fault cannot be corrected any more (at most {each} times by one person, {most} by"
        " all). What was remembered last stays; an admin can remove it with `/haechi cases`.",
    },
    "code": {"ko": "이 알림의 코드", "en": "The code of this alert"},
    "no_changes": {
        "ko": "이 알림의 함수들에 대해 확인할 수 있는 변경 기록이 없습니다.",
        "en": "No history of this alert's functions can be read here.",
    },
    "no_cases": {"ko": "기억해 둔 지난 사례가 없습니다.", "en": "No past case is remembered."},
    "callers_none": {"ko": "호출하는 곳을 찾지 못했습니다.", "en": "No caller was found."},
})  # fmt: skip

say = TEXTS.say
