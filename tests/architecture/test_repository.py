"""Things about the repository itself that a person would otherwise have to remember."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from bot.persona import language_of
from bot.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name for name in listed.decode().split("\0") if name]


def test_locks_carry_hashes_and_no_index_addresses():
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        pinned = re.findall(r"^[a-zA-Z0-9._-]+(?:\[[^\]]*\])?==", text, re.M)
        assert len(pinned) > 50
        assert text.count("--hash=sha256:") >= len(pinned)
        assert "://" not in text
        assert "index-url" not in text


def test_the_development_lock_pins_what_the_runtime_lock_pins():
    def pins(name: str) -> set[str]:
        return set(re.findall(r"^([a-zA-Z0-9._-]+==\S+)", (ROOT / name).read_text(encoding="utf-8"), re.M))

    assert pins("requirements.lock") <= pins("requirements-dev.lock")


def test_makefile_targets_that_the_readme_names_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for page in ("README.md", "README.ko.md"):
        named = set(re.findall(r"\bmake ([a-z-]+)(?=`|\s+#)", (ROOT / page).read_text(encoding="utf-8")))
        assert {"run", "test"} <= named <= targets


def test_the_samples_propose_questions_in_both_languages_as_the_readme_says():
    examples = load_settings(ROOT / "samples" / "haechi.toml").web.examples
    assert {language_of(example) for example in examples} == {"ko", "en"}
    assert len(examples) >= 4


def test_links_between_pages_lead_somewhere():
    broken = []
    for page in [p for p in tracked() if p.suffix == ".md" and "samples" not in p.parts and p.exists()]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not target.startswith("mailto:") and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_no_large_file_is_tracked():
    large = [str(p.relative_to(ROOT)) for p in tracked() if p.exists() and p.stat().st_size > 1_500_000]
    assert large == []
