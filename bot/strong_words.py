"""Words that change what a rule says: when a claim has one, the evidence must have it or one that means the same.

"Without approval", "in full", "anyone" or "at once" turn a rule into another one without any number. Opposites ("서면"
and "구두") are compared within the clause of the evidence that speaks of the same thing.
"""

from __future__ import annotations

import re

# Each family: what a claim may say, and what the evidence must then say somewhere.
_FAMILIES = tuple(
    (re.compile(said, re.IGNORECASE), re.compile(held, re.IGNORECASE))
    for said, held in (
        (
            r"않아도|필요(?:가|는|도)?\s?없|안\s?해도|생략(?:할|해도|이)|"
            r"\b(?:need|does|do|is|are)(?:\s?not|n't) (?:need|have to|required|necessary)|\bneed not\b"
            r"|\bno need\b|\boptional",
            r"않아도|아니(?:하여도|해도)|필요(?:가|는|도)?\s?없|생략|면제|예외|제외|없이|need not"
            r"|not (?:need|required|necessary)|"
            r"no need|optional|waive|exempt|선택|아니하고|않고",
        ),
        (
            r"(?<=[가-힣])\s(?:없이|없어도)|관계\s?없이|상관\s?없이|무관하게|불문하고|\bwithout\b|\bregardless\b|\birrespective\b",
            r"없이|없어도|없는|없으면|무관|불문|관계없|상관없|않고|아니하고|면제|without|regardless"
            r"|irrespective|\bno\b|no longer|not?\b"
            r"|unless",
        ),
        (
            r"즉시|바로(?=\s|\s?[가-힣]+할)|곧바로|당장|지체\s?없이|\bimmediately\b"
            r"|\bat once\b|\binstantly\b|\bright away\b"
            r"|\bstraight away\b",
            r"즉시|바로|곧|당장|지체|immediate|at once|instant|right away|straight away|as soon as",
        ),
        (
            r"전액|전부(?=\s|를|가)|\bin full\b|\bfull (?:amount|cost|pay|refund|price)\b|\bfully (?:paid|covered"
            r"|refund|reimburs)",
            r"전액|전부|모두|모든|전체|100\s?%|100퍼센트|100분의 100|full|entire|whole|\ball\b",
        ),
        (
            r"무료|무상(?=으로|\s)|공짜|\bfree of charge\b|\bfor free\b|\bat no cost\b",
            r"무료|무상|없음|없다|free|no cost|no charge|0원",
        ),
        (
            r"누구나|누구든|\bany (?:user|employee|member|staff)\b|\banyone\b|\banybody\b|\beveryone\b|\beverybody\b",
            r"누구|모든|전\s?(?:직원|임직원|사원)|임직원|\bany(?:one|body)\b"
            r"|\bevery(?:one|body)\b|\ball (?:staff|employees)",
        ),
        (
            r"언제든|언제나|아무\s?때나|항상|상시|\banytime\b|\bat any time\b|\balways\b|\bwhenever\b",
            r"언제|아무\s?때|항상|상시|24시간|수시|any\s?time|always|at all times|whenever",
        ),
        (r"영구|영원|무기한|\bforever\b|\bpermanent|\bindefinite", r"영구|영원|무기한|forever|permanent|indefinite"),
        (
            r"무제한|제한\s?없이|\bunlimited\b|\bno limit",
            r"무제한|제한\s?(?:이\s)?없|제한하지|한도\s?(?:가\s)?없|unlimited|no limit|without limit",
        ),
        (r"무조건|예외\s?없이|\bunconditional|\bno exceptions?\b", r"무조건|예외|unconditional|exception"),
        (r"\bby default\b", r"default|\?\?|=|기본|unless|otherwise"),
        (r"자동(?:으로|적으로)|\bautomatic", r"자동|automatic|auto|당연|scheduled?|cron|trigger"),
        (r"익명|\banonymous", r"익명|무기명|anonym|이름을 (?:밝히지|적지)"),
        (
            r"의무적|의무화|\bmandatory\b|\bcompulsory\b",
            r"의무|하여야|해야|필수|must|shall|mandatory|compulsory|required|require",
        ),
        (r"소급", r"소급"),
        (r"(?<![가-힣\d])월\s?(?:최대\s?)?\d[\d,]*\s?[만천]?\s?원", r"월|달|month"),
        (r"(?:\bstill|\bremains?) (?:available|supported|valid)", r"still|remain|available|supported"),
        (r"월요일|\bmondays?\b", r"월요일|\bmonday|매주 월|\(월\)"),
        (r"화요일|\btuesdays?\b", r"화요일|\btuesday|매주 화|\(화\)"),
        (r"수요일|\bwednesdays?\b", r"수요일|\bwednesday|매주 수|\(수\)"),
        (r"목요일|\bthursdays?\b", r"목요일|\bthursday|매주 목|\(목\)"),
        (r"금요일|\bfridays?\b", r"금요일|\bfriday|매주 금|\(금\)"),
        (r"토요일|\bsaturdays?\b", r"토요일|\bsaturday|매주 토|\(토\)"),
        (r"일요일|\bsundays?\b", r"일요일|\bsunday|매주 일|\(일\)"),
        (r"\b(?:per|a|each|every) day\b|\bdaily\b|하루에|1일당|일당", r"day|daily|일|하루"),
        (r"\b(?:per|a|each|every) week\b|\bweekly\b|주당|매주|1주에", r"week|주|요일|day\b"),
        (r"\b(?:per|a|each|every) month\b|\bmonthly\b|매월|매달|월\s?단위", r"month|월|달"),
        (r"\b(?:per|a|each|every) (?:year|annum)\b|\bannual|\byearly\b|매년|연간", r"year|annual|annum|년|연"),
        (r"부가세(?:가|는|를)?\s?포함|세금(?:이|은|을)?\s?포함", r"포함|including (?:vat|tax)|(?:vat|tax) incl"),
        (r"이메일|메일", r"메일|mail|smtp"),
        (r"암호화", r"암호|encrypt|crypt|cipher|hash"),
        (r"환불", r"환불|환급|반환|refund"),
        (r"재시작|\brestart", r"재시작|재부팅|다시 시작|restart|reboot"),
        (r"캐시", r"캐시|cache"),
        (r"벌금|과태료|\bfined?\b|\bpenalt", r"벌금|과태료|제재|\bfine|penalt"),
        (
            r"해고(?=되|됩|합|할|될|사유)|\bdismiss(?:ed|al)|\bfired\b|\bterminated\b",
            r"해고|해임|면직|dismiss|fire|terminat",
        ),
    )
)
# A claim that says one, where the clause of the evidence says the other, turns the clause round.
_OPPOSITES = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"서면", r"구두|말로"),
        (r"오전(?!\s?\d)", r"오후(?!\s?\d)"),
        (r"사전(?=\s|에|승인|신고|허가)", r"사후"),
        (r"유급", r"무급"),
        (r"공가", r"병가|연차(?!\s?공가)"),
        (r"회사\s?부담|회사가\s부담", r"본인\s?부담|본인이\s부담|개인\s?부담"),
        (r"업무\s?(?:목적|용)", r"개인\s?(?:목적|용|적)"),
        (r"참석", r"불참"),
        (r"포함(?!하지|되지)", r"별도|제외|미포함"),
        (r"결정(?:했|하였|됐|되|함|하기)|확정(?:했|하였|됐|되|함)|가결", r"보류|미정|다시\s?논의|재논의|부결"),
        (r"연기|미루|미룬|미뤄|늦추|늦춰", r"당기|당겼|앞당|당겨"),
        (r"공개(?:로|한|하|되)", r"비공개"),
        (r"실명", r"익명|무기명"),
        (r"섞어|섞은|함께 버", r"나누어|나눠|분리|따로"),
        (r"\bavailable\b|\bsupported\b", r"\bremoved\b|\bdiscontinued\b|\bdeprecated\b|\bunavailable\b"),
        (r"반드시|의무적", r"선택적|자율적"),
        (r"온라인", r"방문|오프라인|대면"),
        (r"늘리|늘린|증가|인상", r"줄이|줄인|감소|인하"),
        (r"국내", r"국외|해외"),
        (r"선불|선지급", r"후불|후지급"),
        (r"승인(?=\S*(?:\s|$))", r"반려|거부"),
        (r"왕복", r"편도"),
        (r"매일", r"매주|매월|매년|매달"),
        (r"매주", r"매월|매년|매달|격주"),
        (r"매월|매달", r"매년|매분기|매주|격월"),
        (r"매년", r"매월|매달|매주|격년"),
        (r"\benabled?\b|\bturned on\b", r"\bdisabled?\b|\bturned off\b"),
        (r"\binclud(?:ed|es|ing)\b|\binclusive\b", r"\bexclud(?:ed|es|ing)\b|\bexclusive\b"),
        (r"\bbefore\b", r"\bafter\b"),
        (r"\bpaid\b", r"\bunpaid\b"),
        (r"\bpublic\b", r"\bprivate\b"),
        (r"\binternal\b", r"\bexternal\b"),
        (r"\brequired\b|\bmandatory\b", r"\boptional\b|\bvoluntary\b"),
        (
            r"허용(?!하지|되지)|\b(?<!not )(?:allowed|permitted)\b",
            r"금지|불허|\b(?:forbidden|prohibited|blocked|banned|not allowed|not permitted)\b",
        ),
        (r"\bin writing\b|\bwritten\b", r"\borally\b|\bverbal(?:ly)?\b"),
        (r"\bincreas", r"\bdecreas|\breduc"),
        (r"\bweekly\b", r"\bdaily\b|\bmonthly\b|\byearly\b|\bannual"),
        (r"\bmonthly\b", r"\bdaily\b|\bquarterly\b|\byearly\b|\bannual"),
    )
)
_WITHOUT = re.compile(
    r"([가-힣]{2,8}?)(?:이|가|은|는|도)?\s(?:없이|없어도|없더라도)|\bwithout (?:the |a |an |any )?([a-z]{4,})",
    re.IGNORECASE,
)


def left_out(claim: str, evidence: str) -> str | None:
    """What a claim says to be needless ("동의 없이") where the evidence has it, and does not say so."""
    for match in _WITHOUT.finditer(claim):
        noun = match[1] or match[2]
        squeezed = re.sub(r"\s+", "", evidence).lower()
        if noun.lower() in squeezed and not re.search(
            rf"{re.escape(noun.lower())}(?:이|가|은|는|도|의)?없|without(?:the|a|an|any)?{re.escape(noun.lower())}|\bno{re.escape(noun.lower())}",
            squeezed,
        ):
            return match[0].strip()
    return None


def unsupported_strength(claim: str, evidence: str) -> str | None:
    """The word of a claim that makes a rule another one and that nothing of the evidence means; None without one."""
    for said, held in _FAMILIES:
        if (match := said.search(claim)) and not held.search(evidence):
            return match[0].strip()
    return None


def turned_round(claim: str, clause: str) -> str | None:
    """The word of a claim whose opposite its clause of the evidence has, and not the word itself."""
    for pair in _OPPOSITES:
        for mine, theirs in (pair, pair[::-1]):
            match = mine.search(claim)
            if match and not theirs.search(claim) and theirs.search(clause) and not mine.search(clause):
                return match[0].strip()
    return None
