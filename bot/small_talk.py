"""Greetings, thanks and "what can you do": nothing to look up, and no reason to say that nothing was found."""

from __future__ import annotations

import re
from typing import Literal

SmallTalk = Literal["greeting", "thanks"]

_END = r"[\s!.~?^ㅎㅋ:)\u263a\U0001F300-\U0001FAFF]*"
_NAME = r"(?:\s*,?\s*(?:haechi|해치)(?:야|아|님|씨)?)?"
_GREETING = re.compile(
    rf"(?:(?:안녕|하이|헬로|반가워|반갑)(?:하세요|하십니까|하신가요|요|습니다|워요)?|좋은\s?(?:아침|하루|오후)(?:입니다|이에요|이네요)?|"
    rf"ㅎㅇ|hi|hello|hey|good\s+(?:morning|afternoon|evening)|greetings|yo)(?:\s+there)?{_NAME}{_END}",
    re.IGNORECASE,
)
_ABILITIES = re.compile(
    rf"(?:(?:넌|너는?|당신은?|해치는?|네가)\s*)?(?:누구(?:야|니|세요|인가요|입니까)|(?:뭘|뭐|무엇을|무얼|어떤\s?걸|어떤\s?질문을?)\s*"
    rf"(?:할|도와줄|해줄|답할|물어볼|물어봐도)\s*(?:수\s*)?(?:있어|있니|있나요|있어요|있습니까|알아|되나요|돼|돼요)|(?:사용법|도움말|도와줘|기능)(?:\s*알려\s?줘(?:요)?)?|"
    rf"자기소개(?:\s*해\s?줘)?|help|who\s+are\s+you|what\s+(?:can|do)\s+you\s+do|what\s+can\s+i\s+ask(?:\s+you)?|how\s+do\s+you\s+work){_NAME}{_END}",
    re.IGNORECASE,
)
_THANKS = re.compile(
    rf"(?:(?:정말|너무|진짜|매우)\s*)?(?:고마워|고맙|감사|땡큐|ㄳ|ㄱㅅ|수고|thanks|thank\s+you|thx|ty|cheers|great|perfect)"
    rf"(?:요|습니다|합니다|드립니다|드려요|해요|하셨습니다|하셨어요|했어|해)?(?:\s*(?:a\s+lot|so\s+much|very\s+much|again))?{_NAME}{_END}",
    re.IGNORECASE,
)


def small_talk(text: str) -> SmallTalk | None:
    """What the whole text is, when it is nothing but that; a question behind a greeting is a question."""
    stripped = re.sub(r"^\s*(?:haechi|해치)(?:야|아|님)?[\s,]+", "", text.strip(), flags=re.IGNORECASE)
    if len(stripped) > 60:
        return None
    if _THANKS.fullmatch(stripped):
        return "thanks"
    parts = [part for part in re.split(r"(?<=[!.?~])\s+|,\s*|\n+", stripped) if part.strip()]
    if parts and all(_GREETING.fullmatch(part) or _ABILITIES.fullmatch(part) for part in parts):
        return "greeting"
    return None
