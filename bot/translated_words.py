"""English words of rules and their Korean ones, for telling whether a sentence says what evidence in the other language
does. A word of which the table does not know is not compared; the search has its own, wider lists."""

from __future__ import annotations

from functools import lru_cache

from bot.content_words import latin_stem

_PAIRS = """
leave vacation: 휴가 연차 휴직
annual yearly: 연차 연간 매년 연
sick illness sickness: 병가 질병 병
parental childcare: 육아
maternity childbirth: 출산
wedding marriage marry married: 결혼 혼인
death died bereavement: 사망 상
child children: 자녀 아동
parents parent: 부모
spouse: 배우자
day days: 일
employee employees staff worker workers: 직원 임직원 사원 근로자 근무자 종업원
contractor contractors: 계약직 협력업체 도급
intern interns: 인턴
probation probationary: 수습
executive executives: 임원
manager managers head supervisor: 부서장 팀장 관리자 부장
lead leader: 팀장 리더
director: 본부장 이사 센터장
department: 부서
team: 팀
hr personnel: 인사
finance: 재무
security: 보안 정보보호
general: 총무
company employer: 회사
approval approve approved approves: 승인 허가 결재
consent agree agreement: 동의 합의
apply application request requested requests: 신청 청구 요청
submit submitted hand: 제출 내
report reported: 보고 신고
notify notified inform notice: 통지 통보 알리 알려 안내
pay paid payment pays: 지급 급여 결제 유급 수당
unpaid: 무급
salary wage wages: 급여 임금 기본급
base basic: 기본 기본급
allowance: 수당 일비
bonus: 상여 성과급
severance: 퇴직금
retirement retire resign resignation leaving: 퇴직 퇴사 사직
lodging hotel accommodation: 숙박 숙박비
seoul: 서울
meal meals food: 식비 식사 음식
travel trip trips: 출장 여비
business: 업무 출장 영업
abroad overseas foreign: 해외 국외
domestic: 국내
receipt receipts: 영수증
original originals: 원본
expense expenses spending: 지출 비용 경비
cost costs fee fees: 비용 요금 수수료
refund reimburse reimbursed: 환불 환급 정산 지원
settle settled settlement: 정산
train: 열차 기차 철도
flight flights plane: 항공 비행
car vehicle: 차량 자동차 승용차 자가용
parking park: 주차
kilometre kilometer km: 킬로미터
password passwords: 비밀번호 암호
character characters: 자 글자
account accounts: 계정
lock locked locks: 잠그 잠기 잠금 잠근 잠가
encrypt encrypted encryption: 암호화
laptop laptops: 노트북
shared: 공용 공유
delete deleted remove removed: 삭제 폐기 제거
keep kept retain retained retention stored: 보관 보존
destroy destroyed destruction: 파기 폐기
record records: 기록
log logs: 로그 기록
data: 데이터 자료 정보
personal: 개인
customer customers client: 고객
visitor visitors guest: 방문객 외부인 방문자
badge card: 카드 사원증 출입증
lost lose loss: 분실 잃
office: 사무실
home: 집 재택 자택
remote remotely: 재택 원격
overtime: 연장 초과근무
night: 밤 야간
weekend weekends: 주말
holiday holidays: 휴일 공휴일
monday: 월요일
tuesday: 화요일
wednesday: 수요일
thursday: 목요일
friday: 금요일
morning: 오전 아침
afternoon: 오후
document documents: 문서 서류 자료
certificate: 증명서 진단서 인증서
medical doctor: 의사 진단서 의료
written writing: 서면
carry carried: 이월
limit limited: 한도 제한
amount: 금액
period duration: 기간
reason reasons: 사유 이유
emergency urgent: 긴급
extend extended extension: 연장
return returned: 반납 반환 복귀 복직
attendance: 출근 출석
service seniority: 근속 재직
contract: 계약
regular permanent: 정규직 정규
training: 교육
education: 교육 학자금
language: 어학
tuition school: 학자금 학교 등록금
meeting: 회의
room: 실
book books: 책 도서
borrow loan: 대출 빌리
graduate: 대학원 대학원생
undergraduate: 학부생 학부
gift gifts: 선물 상품권
purchase buy bought: 구매 구입
penalty fine: 벌금 과태료 위약금
suspension suspended: 정지 정직 중단
dismiss dismissed dismissal: 해고 해임
discipline disciplinary: 징계
warning: 경고 견책
incident incidents: 사고 장애 인시던트
outage: 장애
server servers: 서버
database: 데이터베이스
backup backups: 백업
deploy deployment release released releases: 배포 릴리스
update updates updated: 업데이트 갱신
install installed: 설치
restart restarts: 재시작
patch patches: 패치
session sessions: 세션
cookie: 쿠키
expire expires expired: 만료
access: 접근 출입 접속
alcohol drinks: 주류 술
smoking smoke: 흡연
use used using uses: 사용 이용 쓰
bring: 반입 가져오
exceed exceeds exceeding: 초과 넘
increase increased: 늘리 늘어나 증가 인상 가산
reduce reduced: 줄이 감액 삭감
start starts begin begins: 시작 개시
end ends finish: 끝나 종료 마치
join joining hired: 입사 채용
register registered: 등록
field: 현장
pregnant: 임신
insurance: 보험
health checkup: 건강 검진
tax vat: 세금 부가세
upload uploads: 업로드
administrator administrators admin: 관리자
workspace: 워크스페이스
acknowledge acknowledged: 확인
activity active inactive inactivity: 활동
flag: 플래그
queue: 큐 대기열
enable enabled: 켜 활성화
mode: 모드
support desk: 지원 데스크
vpn: vpn
copy copied copies: 복사
storage device devices drive: 저장장치 장치 저장매체 저장
private: 개인 비공개
person: 인당 명
contact: 연락
stop stopped: 중지 멈추 중단
work works working: 근무 일하 재택근무
check checked checks: 점검 확인
allowed permitted: 허용
email mail: 메일 전자우편
phone: 전화 휴대전화
"""


@lru_cache(maxsize=4096)
def translations_of(stem: str) -> tuple[str, ...]:
    """What a stem is called in the other language; empty for a word of which the table does not know."""
    return _table().get(stem, ())


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _PAIRS.strip().splitlines():
        english, _, korean = line.partition(":")
        stems = tuple(latin_stem(word) for word in english.split())
        words = tuple(korean.split())
        for stem in stems:
            found[stem] = tuple(dict.fromkeys((*found.get(stem, ()), *words)))
        for word in words:
            found[word] = tuple(dict.fromkeys((*found.get(word, ()), *stems)))
    return found
