"""Words of rules and instructions that mean the same: a line of a group may stand for another one of it.

Only words that can be exchanged without changing what a rule says; words that are merely near stand in no group.
"""

from __future__ import annotations

from functools import lru_cache

from bot.content_words import latin_stem

_KOREAN = """
내 제출 접수 내는
받 지급 지급받 수령 주 드리 줍 준 줘 부여 받을
쓰 사용 이용 쓸 쓴 써 활용
신청 청구 요청 신청서
알리 알려 통보 통지 안내 알린 알릴 알림
보고 보고서
올리 올려 등록
바꾸 바꿔 변경 바꾼
늘리 늘어나 늘어 늘려 증가 가산 늘린 더하 더해 더한
줄 줄이 줄어 줄여 감액 삭감 줄어들
끝나 끝 종료 마치 마친 종결 끝난 마친
시작 개시 착수
없애 삭제 지우 지워 지운 제거
막 차단 막혀 막히
잃어버리 잃어버린 잃어버렸 분실 잃
빌려주 빌려준 빌려 대여
돌려주 돌려줘 반납 반환 돌려
맡기 맡긴 맡겨
들어가 들어갈 출입 입장 입실 출입할
사 구매 구입 살
내 납부 부담 지불
넘 넘기 넘긴 초과 넘어 지나 지난 넘겨 경과
요양 치료
질병 병 아프 아파
알 인지 알게
틀리 오류 틀린
갖추 갖춰 첨부
부상 다치 다친
자녀 아이 자식
양육 키우 키운 돌보 육아
배우자 아내 남편
사망 상 돌아가 사망한
결혼 혼인
집 자택 재택
해외 국외
직원 임직원 사원 종업원 근로자 구성원
월급 급여 임금 봉급
금액 액 액수
비용 경비 요금 비
기간 기한
며칠 일수
매년 연간 해마다 매해
매월 매달 월 월간
매주 주 주간
매일 일 하루 일일
하루 1일
퇴사 퇴직
입사 채용
만들 작성 생성 만든
보내 송부 발송 전송 보낸
정보주체 본인
허가 승인 허락 결재
동의 승낙
확인 점검 검토
고치 수정 정정 고친
멈추 중지 중단 정지
켜 켠 켜고 활성화 켜야
끄 끈 꺼 끄고
참석 참가 참여
모으 수집
보관 보존
버리 폐기 파기 버린 버려
잠그 잠기 잠금 잠궈 잠긴 잠가
미리 사전 앞서 선지급
늦 지연 늦어
빠르 신속
나중 사후
다시 재
직접 스스로
밤 야간
아침 오전
회 번 차례 차
담당자 담당
문의 연락
재발급 재교부
방법 절차
종류 유형
장소 곳
비밀번호 패스워드 암호
컴퓨터 단말 PC 피씨
휴대폰 휴대전화 핸드폰
이메일 메일 전자우편
누리집 홈페이지 웹사이트
영수증 증빙
여비 출장비
숙박비 숙소비
인정 허용
우선 먼저
복귀 복직
혼자 단독
같 동일 같은
다르 다른 상이
필요 요구 요하
초기화 재설정
감액 깎 깎이
가족 친족
제출 첨부 붙이 붙여 붙인
"""
_ENGLISH = """
get receive entitled granted given
use utilize used
tell notify inform
send submit sent
buy purchase
pay paid reimburse
start begin starts begins
end finish ends
stop halt
remove delete purge removed
keep retain store kept retained stored
ask request
allow permit
approve approval approves
agree consent
employee staff employees
manager supervisor
boss supervisor
company employer
maximum max
minimum min
day days
last exceed longer
fix repair
report tell
lost lose
make made
write writes writing written
review check
fire fires triggers triggered
throw throws raised raises raise
return returns
run runs execute executed executes
call calls called invoke invoked
enable turn switch
"""


@lru_cache(maxsize=8192)
def meaning_of(stem: str) -> tuple[str, ...]:
    """Names of the groups in which a stem stands; empty for most."""
    return _groups().get(stem, ())


@lru_cache(maxsize=1)
def _groups() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _KOREAN.strip().splitlines():
        for word in line.split():
            found[word] = (*found.get(word, ()), f"ko:{line}")
    for line in _ENGLISH.strip().splitlines():
        for word in line.split():
            stem = latin_stem(word)
            found[stem] = tuple(dict.fromkeys((*found.get(stem, ()), f"en:{line}")))
    return found
