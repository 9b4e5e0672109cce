"""The commands as people and tools use them: real processes, real index, the JSON forms of the design."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.haechi import Haechi

BARE_START_S = 0.15  # of an interpreter with a few modules, on the slowest machine that the limits are meant for
RESULT_KEYS = [
    "rank", "source", "kind", "document", "label", "page", "path", "start_line", "end_line", "symbol",
    "valid_from", "valid_until", "text", "via", "callers", "scores",
]  # fmt: skip


def test_help_comes_at_once(haechi):
    best_s = min(timed(haechi, "--help") for _ in range(5))
    assert best_s < 0.4 * slowness()


def slowness() -> float:
    """How much longer this machine takes for the start of a bare interpreter than the limits were set for; at least 1."""
    bare_s = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import typing, json, asyncio"], check=True)
        bare_s.append(time.perf_counter() - started)
    return max(1.0, min(bare_s) / BARE_START_S)


def timed(haechi: Haechi, *words: str) -> float:
    started = time.perf_counter()
    assert haechi.run(*words).returncode == 0
    return time.perf_counter() - started


def test_without_a_command_the_help_is_shown(haechi):
    run = haechi.run()
    for name in ("run", "ask", "search", "list", "read", "extract", "ingest", "status", "doctor"):
        assert f"\n  {name} " in run.stdout


def test_search_prints_one_object_of_the_agreed_form(indexed):
    form = indexed.json("search", "--json", "--top-k", "3", "연차휴가는 며칠인가요?")
    assert list(form) == ["query", "route", "verdict", "probability", "reason", "degraded", "took_ms", "results"]
    assert form["query"] == "연차휴가는 며칠인가요?"
    assert form["route"] in ("docs", "code", "both")
    assert form["verdict"] == "ok"
    assert list(form["took_ms"]) == ["total", "embed", "dense", "keyword", "rerank"]
    assert 0 < len(form["results"]) <= 3
    first = form["results"][0]
    assert list(first) == RESULT_KEYS
    assert list(first["scores"]) == ["dense", "keyword", "rrf", "rerank"]
    assert (first["rank"], first["source"], first["kind"]) == (1, "rules", "docs")
    assert (first["document"], first["path"], first["label"]) == ("휴가규정.md", None, "휴가규정 제2조(연차휴가)")
    assert "15일의 연차휴가" in first["text"]


def test_code_results_carry_path_lines_and_symbol(indexed):
    form = indexed.json("search", "--json", "--kind", "code", "retry_declined")
    first = form["results"][0]
    assert form["route"] == "code"
    assert first["path"] == first["document"] == "payments.py"
    assert 1 <= first["start_line"] <= first["end_line"]
    assert "retry_declined" in first["symbol"]


def test_search_reads_queries_from_standard_input_and_answers_each_in_order(indexed):
    lines = ["연차휴가", "", json.dumps({"query": "retry\ndeclined", "source": "shop"}), '{"query": "병가"}']
    run = indexed.run("search", "--json", "--top-k", "1", "-", stdin="\n".join(lines) + "\n")
    assert run.returncode == 0, run.stderr
    forms = [json.loads(line) for line in run.stdout.splitlines()]
    assert [form["query"] for form in forms] == ["연차휴가", "retry\ndeclined", "병가"]
    assert {result["source"] for result in forms[1]["results"]} == {"shop"}


def test_a_line_that_cannot_be_searched_still_gives_its_object(indexed):
    lines = ['{"query": "연차", "source": "rulez"}', "{broken", '{"source": "rules"}', "연차휴가"]
    run = indexed.run("search", "--json", "-", stdin="\n".join(lines))
    forms = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 1
    assert [("error" in form, form["verdict"]) for form in forms] == [(True, "none")] * 3 + [(False, "ok")]
    assert "rules, shop" in forms[0]["error"]["message"]
    assert all(form["results"] == [] for form in forms[:3])


def test_an_unknown_source_is_wrong_use(indexed):
    run = indexed.run("search", "--json", "--source", "rulez", "연차")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "haechi: There is no source 'rulez'; the configuration has rules, shop.\n"


@pytest.mark.parametrize(
    "words", [("search", " "), ("search",), ("search", "--kind", "docz", "x"), ("serch", "x"), ("ask", "")]
)
def test_wrong_use_ends_with_status_2(indexed, words):
    run = indexed.run(*words)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr


def test_ask_prints_the_answer_with_its_citations(indexed):
    form = indexed.json("ask", "--json", "연차휴가는 며칠인가요?")
    assert list(form) == ["question", "verdict", "answer", "citations", "refusal"]
    assert (form["verdict"], form["refusal"]) == ("ok", None)
    assert "15일" in form["answer"]
    assert form["citations"][0]["index"] == 1
    assert form["citations"][0]["document"] == "휴가규정.md"


def test_ask_refuses_in_the_json_form_too(indexed):
    form = indexed.json("ask", "--json", "오늘 부산 날씨는 어떤가요?")
    assert form["refusal"]["reason"] == "no_evidence"
    assert form["citations"] == []


def test_ask_for_people_shows_text_sources_and_freshness_without_colours(indexed):
    run = indexed.run("ask", "연차휴가는 며칠인가요?")
    assert run.returncode == 0
    assert "15일의 연차휴가를 준다." in run.stdout
    assert "출처\n  [1] 휴가규정.md · 휴가규정 제2조(연차휴가)" in run.stdout
    assert "색인" in run.stdout
    assert "\x1b" not in run.stdout
    assert run.stderr == ""


def test_list_names_every_document(indexed):
    documents = indexed.json("list", "--json")
    assert {(d["source"], d["document"], d["status"]) for d in documents} == {
        ("rules", "휴가규정.md", "indexed"),
        ("rules", "여비규정.md", "indexed"),
        ("shop", "payments.py", "indexed"),
    }
    assert "휴가규정.md" in indexed.run("list").stdout


def test_read_prints_a_whole_article(indexed):
    run = indexed.run("read", "휴가규정", "제2조")
    assert run.returncode == 0
    assert "휴가규정 제2조(연차휴가)" in run.stdout
    assert "2년마다 1일을 더한다." in run.stdout


def test_reading_what_is_not_there_names_what_is_near(indexed):
    run = indexed.run("read", "휴가규정", "제99조")
    assert run.returncode == 1
    assert run.stderr.startswith("haechi: ")
    assert "제99조" in run.stderr
    assert run.stderr.count("\n") == 1


def test_status_lists_the_sources(indexed):
    form = indexed.json("status", "--json")
    rules = next(source for source in form["sources"] if source["source"] == "rules")
    assert (rules["documents"], rules["failed"], rules["embedder"]) == (2, [], ["hash"])
    assert rules["last_sync"].endswith("+00:00")
    shop = next(source for source in form["sources"] if source["source"] == "shop")
    assert len(shop["revision"]) == 40


def test_extract_needs_no_configuration_and_is_quick(tmp_path):
    (tmp_path / "a.md").write_text("# 제목\n\n본문\n\n| 가 | 나 |\n| --- | --- |\n| 1 | 2 |\n", encoding="utf-8")
    haechi = Haechi(tmp_path)
    form = haechi.json("extract", "--json", "a.md")
    assert min(timed(haechi, "extract", "--json", "a.md") for _ in range(5)) < 1.0 * slowness()
    assert list(form) == ["file", "format", "extractor", "status", "warnings", "blocks"]
    assert form["status"] == "ok"
    assert [block["kind"] for block in form["blocks"]] == ["heading", "paragraph", "table"]
    assert form["blocks"][2]["rows"] == [["가", "나"], ["1", "2"]]
    assert list(form["blocks"][0]) == ["kind", "text", "rows", "page", "level"]
    assert not (tmp_path / "data").exists()


def test_extract_says_why_a_file_cannot_be_read(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(range(256)) * 10)
    haechi = Haechi(tmp_path)
    for name in ("a.bin", "gone.pdf"):
        run = haechi.run("extract", "--json", name)
        form = json.loads(run.stdout)
        assert run.returncode == 1
        assert (form["status"], form["blocks"]) == ("failed", [])
        assert form["warnings"][0]


def test_ingest_counts_what_changed_and_names_what_failed(haechi):
    (haechi.folder / "rules" / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    first = haechi.run("ingest", "--json")
    assert first.returncode == 0
    rules = json.loads(first.stdout)["sources"][0]
    assert (rules["source"], rules["added"]) == ("rules", 2)
    assert [item["document"] for item in rules["failed"]] == ["broken.pdf"]
    assert rules["failed"][0]["reason"]
    (haechi.folder / "rules" / "휴가규정.md").unlink()
    second = haechi.run("ingest", "--source", "rules")
    assert second.returncode == 0
    assert "1 deleted" in second.stdout
    assert "1 unchanged" in second.stdout
    assert "failed: broken.pdf: " in second.stdout
    listed = {d["document"]: d["status"] for d in haechi.json("list", "--json", "--source", "rules")}
    assert listed == {"여비규정.md": "indexed", "broken.pdf": "failed"}


def test_a_dry_run_changes_nothing(haechi):
    form = haechi.json("ingest", "--dry-run", "--json")
    rules = form["sources"][0]
    assert rules["dry_run"] is True
    assert {item["document"]: item["change"] for item in rules["documents"]} == {
        "휴가규정.md": "added",
        "여비규정.md": "added",
    }
    assert haechi.json("list", "--json") == []


def test_eval_scores_a_file_of_questions(indexed):
    rows = [
        ("id", "type", "source", "question", "answer_doc", "label", "must_contain"),
        ("A", "exact-term", "rules", "연차휴가는 며칠인가요?", "휴가규정.md", "제2조", "15일"),
        ("B", "off-topic", "", "오늘 부산 날씨는 어떤가요?", "", "", ""),
    ]
    file = indexed.folder / "questions.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    groups = indexed.json("eval", "--json", "questions.tsv")["groups"]
    assert groups["answerable"]["hit@5"] == 1.0
    assert groups["off-topic"]["refused"] == 1.0
    assert "off-topic (1): " in indexed.run("eval", "questions.tsv").stdout


def test_doctor_finds_nothing_wrong_with_a_sound_installation(indexed):
    run = indexed.run("doctor")
    assert run.returncode == 0, run.stdout
    for name in ("python", "sqlite", "git", "configuration", "data folder", "source rules", "embedder hash", "model"):
        assert f"ok      {name}: " in run.stdout


def test_doctor_names_every_problem_with_its_remedy(haechi):
    import shutil

    shutil.rmtree(haechi.folder / "rules")
    shutil.rmtree(haechi.folder / "shop" / ".git")
    run = haechi.run("doctor")
    assert run.returncode == 1
    problems = [line for line in run.stdout.splitlines() if line.startswith("problem ")]
    assert [line.split(":")[0].split("problem ")[1] for line in problems] == ["source rules", "source shop"]
    assert all(" -> " in line for line in problems)


def test_calibrating_on_own_questions_changes_what_is_judged(indexed):
    rows = [("question", "answerable", "source")]
    rows += [
        (q, "yes", "rules") for q in ("연차휴가는 며칠인가요?", "병가는 며칠까지 쓰나요?", "팀장 서울 숙박비 상한은?")
    ]
    rows += [(q, "off-topic", "") for q in ("오늘 날씨 어때?", "김치찌개 끓이는 법", "축구 경기 결과 알려줘")]
    (indexed.folder / "labelled.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    assert indexed.json("status", "--json")["sources"][0]["calibrated"] is False
    kinds = {item["kind"]: item for item in indexed.json("calibrate", "--json", "labelled.tsv")["kinds"]}
    assert kinds["docs"]["measured"]["questions"] == {"answerable": 3, "unanswerable": 0, "off-topic": 3}
    assert Path(kinds["docs"]["file"]).is_file()
    assert kinds["code"]["file"] is None
    assert "needs at least 3 questions that these sources answer" in kinds["code"]["reason"]
    assert indexed.json("status", "--json")["sources"][0]["calibrated"] is True
    assert indexed.json("search", "--json", "연차휴가는 며칠인가요?")["probability"] is not None
    Path(kinds["docs"]["file"]).unlink()


def test_a_bad_line_in_a_calibration_file_is_named(indexed):
    (indexed.folder / "bad.tsv").write_text("question\tanswerable\n연차?\tmaybe\n", encoding="utf-8")
    run = indexed.run("calibrate", "bad.tsv")
    assert run.returncode == 1
    assert "bad.tsv:2: answerable must be yes, no or off-topic" in run.stderr


def test_an_ingest_of_several_sources_takes_all_of_them_and_no_other(haechi):
    assert [
        item["source"] for item in haechi.json("ingest", "--json", "--source", "shop", "--source", "rules")["sources"]
    ] == ["shop", "rules"]
    assert [item["source"] for item in haechi.json("ingest", "--json", "--source", "shop")["sources"]] == ["shop"]
    unknown = haechi.run("ingest", "--source", "shop", "--source", "nope")
    assert unknown.returncode == 2
    assert "'nope'" in unknown.stderr


def test_extract_reads_regular_files_of_a_size_that_fits(haechi):
    for name in ("/dev/zero", str(haechi.folder)):
        run = haechi.run("extract", "--json", name)
        assert run.returncode == 1
        assert json.loads(run.stdout)["warnings"] == [f"{name} is no regular file; name a document."]
    huge = haechi.folder / "huge.md"
    with huge.open("wb") as file:
        file.truncate(256 * 1024 * 1024 + 1)
    run = haechi.run("extract", "--json", str(huge))
    assert run.returncode == 1
    assert "is larger than 256 MiB; split it." in json.loads(run.stdout)["warnings"][0]
