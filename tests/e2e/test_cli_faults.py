"""What goes wrong on real machines: a clear message, the right status, and nothing lost. Real processes throughout."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest

from tests.e2e.haechi import FOLLOWS_NOTHING, Haechi, command, environment, interrupt, wait_for_line


def one_line(run) -> str:
    """Standard error when it is what it must be: one sentence."""
    assert "Traceback" not in run.stderr
    assert run.stderr.startswith("haechi: ")
    assert run.stderr.count("\n") == 1, run.stderr
    return run.stderr.strip()


def documents_of(haechi: Haechi) -> set[str]:
    return {item["document"] for item in haechi.json("list", "--json") if item["status"] == "indexed"}


# --- configuration --------------------------------------------------------------------------------


def test_a_broken_configuration_names_file_line_key_and_the_nearest_one(haechi):
    haechi.configure("[serch]\ntop_k = 3\n")
    run = haechi.run("status")
    assert run.returncode == 2
    assert "haechi.toml:" in one_line(run)
    assert "serch" in run.stderr
    assert "did you mean 'search'?" in run.stderr
    assert not (haechi.folder / "data").exists()


def test_without_a_configuration_the_smallest_one_is_shown(tmp_path):
    run = Haechi(tmp_path).run("search", "x")
    assert run.returncode == 2
    assert "There is no haechi.toml in" in run.stderr
    assert '[[sources]]\nname = "rules"' in run.stderr


def test_an_embedder_that_does_not_exist_is_wrong_configuration(haechi):
    text = (haechi.folder / "haechi.toml").read_text(encoding="utf-8")
    (haechi.folder / "haechi.toml").write_text(text.replace('["hash"]', '["e6"]'), encoding="utf-8")
    run = haechi.run("search", "x")
    assert run.returncode == 2
    assert 'embedding.documents: There is no embedder "e6"' in one_line(run)


# --- files and folders ----------------------------------------------------------------------------


def test_a_source_folder_that_is_gone_is_named_and_what_was_known_stays(haechi):
    assert haechi.run("ingest").returncode == 0
    before = documents_of(haechi)
    shutil.move(haechi.folder / "rules", haechi.folder / "moved")
    run = haechi.run("ingest")
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert str(haechi.folder / "rules") in run.stdout + run.stderr
    assert documents_of(haechi) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_rights_is_named_and_the_others_are_read(haechi):
    (haechi.folder / "rules" / "휴가규정.md").chmod(0)
    run = haechi.run("ingest", "--json")
    assert run.returncode == 0
    failed = json.loads(run.stdout)["sources"][0]["failed"]
    assert [item["document"] for item in failed] == ["휴가규정.md"]
    assert "여비규정.md" in documents_of(haechi)


def test_an_unreadable_file_is_named_and_the_others_are_read(haechi):
    (haechi.folder / "rules" / "broken.docx").write_bytes(b"PK\x03\x04 and then nothing that makes sense")
    run = haechi.run("ingest")
    assert run.returncode == 0
    assert "failed: broken.docx: " in run.stdout
    assert "휴가규정.md" in documents_of(haechi)


def test_a_full_disk_is_said_in_one_sentence_and_nothing_is_lost(haechi):
    """The limit on file size stands in for a full disk: the kernel refuses to write in the same places."""
    assert haechi.run("ingest").returncode == 0
    before = documents_of(haechi)
    for number in range(40):
        text = "# 규정\n\n" + "\n\n".join(
            f"## 제{n}조\n{number} 번째 규정의 본문 {n} 입니다." * 20 for n in range(1, 40)
        )
        (haechi.folder / "rules" / f"big{number}.md").write_text(text, encoding="utf-8")
    largest = max(file.stat().st_size for file in (haechi.folder / "data").rglob("*") if file.is_file())
    limited = Haechi(haechi.folder)
    run = run_with_file_limit(limited, largest + 64 * 1024, "ingest")
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert "full" in run.stdout + run.stderr or "File too large" in run.stdout + run.stderr
    assert before <= documents_of(haechi)
    again = haechi.run("ingest")
    assert again.returncode == 0, again.stderr
    assert len(documents_of(haechi)) == len(before) + 40


def run_with_file_limit(haechi: Haechi, size_bytes: int, *words: str):
    script = (
        "import resource, signal, sys, runpy\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size_bytes}, {size_bytes}))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"sys.argv = ['haechi', *{list(words)!r}]\n"
        "if __name__ == '__main__':\n"
        "    runpy.run_module('bot', run_name='__main__')\n"
    )
    file = haechi.folder / "limited.py"
    file.write_text(script)
    return subprocess.run(
        [sys.executable, str(file)], cwd=haechi.folder, capture_output=True, text=True, timeout=120, env=environment(),
        check=False,
    )  # fmt: skip


def test_a_data_folder_that_cannot_be_made_is_named(haechi):
    (haechi.folder / "data").write_text("in the way")
    run = haechi.run("status")
    assert run.returncode == 2
    assert f"data_dir {haechi.folder / 'data'} is a file" in one_line(run)


def test_a_damaged_database_of_the_bot_is_named(haechi):
    assert haechi.run("status").returncode == 0
    (haechi.folder / "data" / "bot.sqlite3").write_bytes(b"not a database at all, whoever wrote this " * 100)
    run = haechi.run("status")
    assert run.returncode == 1
    assert "bot.sqlite3 is damaged" in one_line(run)


# --- two processes --------------------------------------------------------------------------------


def test_commands_are_carried_out_by_the_running_bot(haechi):
    bot, page = haechi.start_bot()
    with urllib.request.urlopen(f"{page}/healthz", timeout=60) as answer:
        assert json.load(answer)["status"] == "ok"
    assert haechi.run("ingest").returncode == 0
    form = haechi.json("search", "--json", "연차휴가는 며칠인가요?")
    assert form["verdict"] == "ok"
    assert haechi.json("ask", "--json", "연차휴가는 며칠인가요?")["refusal"] is None
    assert haechi.json("status", "--json")["sources"][0]["documents"] == 2
    missing = haechi.run("read", "휴가규정", "제99조")
    assert missing.returncode == 1
    assert "제99조" in one_line(missing)
    assert haechi.run("search", "--source", "nope", "x").returncode == 2
    out, err = interrupt(bot)
    assert bot.returncode == 0, err
    assert "Stopping" in out
    assert "Traceback" not in err


def test_a_second_bot_on_the_same_folder_is_refused_and_names_the_first(haechi):
    bot, _ = haechi.start_bot()
    second = haechi.run("run")
    assert second.returncode == 1
    assert f"in use by process {bot.pid} (haechi run" in one_line(second)
    interrupt(bot)


def test_a_running_bot_that_was_started_with_other_settings_is_mentioned(haechi):
    bot, _ = haechi.start_bot()
    haechi.configure("[search]\ntop_k = 3\n")
    run = haechi.run("list", "--json")
    assert run.returncode == 0
    assert f"Process {bot.pid} (haechi run) carries this out with the settings it was started with" in run.stderr
    interrupt(bot)


def test_many_commands_at_once_all_succeed_without_a_running_bot(haechi):
    assert haechi.run("ingest").returncode == 0
    processes = [haechi.start("search", "--json", "연차휴가") for _ in range(4)]
    results = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, [err for _, err in results]
    assert all(json.loads(out)["verdict"] == "ok" for out, _ in results)


def test_after_a_kill_the_next_command_takes_over(haechi):
    bot, _ = haechi.start_bot()
    bot.send_signal(signal.SIGKILL)
    bot.wait()
    assert (haechi.folder / "data" / "control.sock").exists()
    assert haechi.run("ingest").returncode == 0
    assert haechi.json("search", "--json", "연차휴가")["verdict"] == "ok"


def test_a_data_folder_with_a_very_long_path_works(tmp_path):
    haechi = Haechi.with_company(tmp_path / ("long" * 30))
    bot, _ = haechi.start_bot()
    assert haechi.json("status", "--json")["sources"][0]["source"] == "rules"
    interrupt(bot)


def test_only_the_user_of_the_folder_can_reach_the_socket(haechi):
    bot, _ = haechi.start_bot()
    assert (haechi.folder / "data" / "control.sock").stat().st_mode & 0o777 == 0o600
    assert (haechi.folder / "data").stat().st_mode & 0o777 == 0o700
    interrupt(bot)


def test_a_port_that_is_taken_is_named_with_the_key_to_change(haechi):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        haechi.configure(f"[web]\nport = {port}\n")
        run = haechi.run("run")
    assert run.returncode == 1
    assert f"port {port}" in run.stderr
    assert "web.port" in run.stderr
    assert "Traceback" not in run.stderr


# --- Ctrl-C ---------------------------------------------------------------------------------------


def slow_company(haechi: Haechi, documents: int = 60) -> None:
    for number in range(documents):
        articles = "\n\n".join(
            f"## 제{n}조(항목 {n})\n{number}번 규정의 {n}번째 항목은 {n * 7}일로 한다." for n in range(1, 60)
        )
        (haechi.folder / "rules" / f"규정{number:02}.md").write_text(
            f"# 규정{number}\n\n{articles}\n", encoding="utf-8"
        )


def test_ctrl_c_during_an_ingest_keeps_what_was_finished_and_the_next_run_goes_on(haechi):
    slow_company(haechi)
    ingest = haechi.start("ingest", "--source", "rules")
    wait_for_line(ingest, "rules: reading", stream="stderr")
    _, err = interrupt(ingest)
    assert ingest.returncode == 1
    assert "Traceback" not in err
    assert "Stopped. What was finished is kept" in err
    kept = documents_of(haechi)
    again = haechi.run("ingest", "--source", "rules")
    assert again.returncode == 0, again.stderr
    assert kept <= documents_of(haechi)
    assert len(documents_of(haechi)) == 62
    assert haechi.json("status", "--json")["sources"][0]["pending"] in ({}, {"hash": 0})


def test_ctrl_c_in_a_client_stops_the_ingest_that_it_asked_for_and_not_the_bot(haechi):
    haechi.configure(FOLLOWS_NOTHING)  # a bot that looks by itself may have read the documents before the client asks
    bot, page = haechi.start_bot()
    assert haechi.run("ingest").returncode == 0
    slow_company(haechi)
    ingest = haechi.start("ingest", "--source", "rules")
    wait_for_line(ingest, "rules: reading", stream="stderr")
    _, err = interrupt(ingest)
    assert ingest.returncode == 1
    assert "Traceback" not in err
    again = haechi.run("ingest", "--source", "rules")
    assert again.returncode == 0, again.stderr
    assert len(documents_of(haechi)) == 63
    with urllib.request.urlopen(f"{page}/healthz", timeout=60) as answer:
        assert answer.status == 200
    interrupt(bot)


def test_commands_work_while_another_process_ingests(haechi):
    slow_company(haechi)
    ingest = haechi.start("ingest", "--source", "rules")
    wait_for_line(ingest, "rules: reading", stream="stderr")
    reader = threading.Thread(target=ingest.stderr.read)
    reader.start()
    run = haechi.run("status", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["sources"][0]["source"] == "rules"
    assert ingest.wait(timeout=120) == 0
    reader.join()
    assert len(documents_of(haechi)) == 62


def test_output_that_nobody_reads_any_more_ends_quietly(indexed):
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        command("list", "--json"), cwd=indexed.folder, stdout=writing, stderr=subprocess.PIPE, text=True,
        env=environment(),
    )  # fmt: skip
    os.close(writing)
    _, err = process.communicate(timeout=120)
    assert "Traceback" not in err


def test_no_space_left_is_the_sentence_people_get():
    from bot.cli_errors import _os_sentence

    sentence = _os_sentence(OSError(errno.ENOSPC, "No space left on device", "/data/catalog.sqlite3"))
    assert sentence == "the disk is full (/data/catalog.sqlite3); free some space and run it again, nothing was lost."
