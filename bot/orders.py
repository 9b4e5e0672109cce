"""Orders to an assistant that stand inside evidence or a conversation: a model is not shown them.

They are part of a document and are quoted as such where the evidence itself is shown; a model that obeys them, or an
answer that rests on them, is what somebody put them there for.
"""

from __future__ import annotations

import re

WITHHELD = "(…)"
_SENTENCE = re.compile(r"[^\n.!?。]*(?:[.!?。](?!\s|$)[^\n.!?。]*)*[.!?。]?")
_AI = (
    r"(?:ai|assistant|chat\s?bot|bot|llm|language model|gpt|haechi|해치|챗봇|인공지능|어시스턴트|"
    r"언어\s?모델|모델|봇|요약\s?(?:프로그램|기)|(?:요약|답변|생성|작성)하는\s?(?:프로그램|모델|시스템|쪽|것)|"
    r"이\s?(?:글|문서|문단)을\s?(?:읽는|요약하는|처리하는)\s?(?:쪽|프로그램|시스템|모델|것))"
)
_ORDERS = re.compile(
    "|".join(
        (
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instruction|rule|"
            r"prompt|guideline|above|previous|prior|"
            r"earlier|everything|polic|persona|safety)",
            r"(?:이전|앞|위|기존|지금까지|모든|원래)[^\n.]{0,16}(?:지시|지침|명령|규칙|프롬프트|"
            r"설정|제약)[^\n.]{0,16}(?:무시|잊|따르지|버리|취소|해제)",
            r"(?:지시|지침|명령|프롬프트)(?:사항)?(?:을|를|은|는)?\s?(?:모두\s)?(?:무시|잊어)",
            r"\b(?:system|developer|assistant)\s*(?:prompt|message|note|"
            r"override)?\s*[:：>][^\n]{0,40}(?:\b(?:reply|respond|say|tell|print|post|answer|ignore|"
            r"reveal|output|you (?:are|must))\b|답하|답변|출력|말하|무시|붙이)",
            r"(?:시스템|개발자|관리자)\s?(?:메시지|지시|프롬프트|명령|공지)\s?[:：]",
            r"\b(?:you are now|act as|pretend (?:to be|you)|roleplay|from now on,? you|new "
            r"instructions?|developer mode|jailbreak|dan mode)\b",
            r"(?:지금부터|이제부터|앞으로)[^\n.]{0,12}(?:너는|당신은|넌|해치는)",
            rf"(?:{_AI})(?:에게|는|은|야|님|께|이|가)?[\s,:]*[^\n]{{0,60}}(?:답(?:변)?(?:하라|"
            rf"하세요|해라|해야|할 것|하시오)|출력(?:하라|하세요|해라|할 것|하시오)|말하(?:라|세요)|"
            r"알려\s?(?:주세요|라)|따르(?:라|세요)|보내(?:라|세요)|포함(?:하라|하세요|할 것|시켜)|"
            r"멘션(?:하라|하세요|할 것)|(?:적|쓰|끝내|안내하|표시하|실행하|삭제하)"
            r"(?:을 것|어라|으라|으세요|라|세요|시오|ㄹ 것|낸다|는다)|"
            r"적는다|끝낸다|끝맺는다|라고 답(?:변)?(?:한다|합니다))",
            rf"\b(?:note|attention|message|instructions?|reminder)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+)?{_AI}",
            rf"\b(?:if|when)\s+(?:you are|an?)\s+(?:an?\s+)?{_AI}\b",
            rf"\b{_AI}s?\b[^.\n]{{0,20}}\b(?:must|should|shall|has to|have to|always|"
            rf"please)\b[^.\n]{{0,30}}\b(?:say|answer|reply|respond|print|output|"
            r"include|mention|reveal|repeat|send|post|tell|end)",
            r"\b(?:reveal|print|repeat|show|output|leak|dump)\b[^.\n]{0,30}\b(?:system prompt|your "
            r"(?:prompt|instructions|rules)|the prompt|hidden|api key|secret|token)",
            r"(?:시스템\s?)?프롬프트[^\n.]{0,12}(?:출력|공개|보여|알려|복사|말하)",
            r"\b(?:reply|respond|answer)\s+(?:only\s+with\b|with\s+(?:only|the (?:word|text|phrase|"
            r"sentence)|[\"'“]))|\b(?:must|should|always|please)\s+(?:reply|respond|answer)\s+that\b|"
            r"\btell (?:the )?(?:users?|readers?|everyone|employees?|staff) (?:that|to)\b",
            r"(?:답변|대답|응답)(?:에|에는|할 때|마다|끝에|의)[^\n]{0,60}?(?:넣|붙이|포함|추가|덧붙|"
            r"출력|적어|쓰세요|쓰라)",
            r"(?:라고|이라고|다고)\s?(?:만\s)?(?:답(?:변)?하|대답하|말하|안내하)(?:라|세요|시오|"
            r"십시오|면 된다|도록|ㄹ 것)",
            rf"\b{_AI}\b\W{{0,3}}(?:please\W{{0,2}})?"
            r"(?:run|execute|call|send|delete|close|reply|answer|add|state|print|say|write)\b",
            r"\b(?:answer|reply|respond)\s+with\s+(?:the\s)?(?:contents?|output|value|following|json)\b|"
            r"\bwhen\s+(?:you(?:'re| are)\s)?(?:asked|summari[sz]ing|quoting)\b[^.\n]{0,40}\b"
            r"(?:answer|reply|say|state|add)\b",
            r"\b(?:end|start|begin|append|prefix|finish)\b[^.\n]{0,20}\b(?:every|each|your|"
            r"all)\b[^.\n]{0,20}\b(?:answer|reply|response|message)",
            r"<\|[\w ]+\|>|\[/?INST\]|<<\s?SYS\s?>>|###\s?(?:system|instruction|human|assistant)|"
            r"</?(?:system|instructions?)>",
        )
    ),
    re.IGNORECASE,
)


def withhold_orders(text: str) -> str:
    """The text with sentences that order an assistant about left out; lines stay lines."""
    if not _ORDERS.search(text):
        return text
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    if not _ORDERS.search(line):
        return line
    parts = [part for part in _SENTENCE.findall(line) if part]
    kept = [WITHHELD if _ORDERS.search(part) else part for part in parts]
    return "".join(kept) if kept and "".join(parts) == line and not _ORDERS.search("".join(kept)) else WITHHELD
