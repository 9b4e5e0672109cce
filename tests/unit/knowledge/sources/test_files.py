"""A folder of documents: what is read, what is left out and why."""

import os
import unicodedata
from pathlib import Path

import pytest

from knowledge.errors import NotFound, SourceMissing, UnreadableFile
from knowledge.sources import files
from knowledge.sources.files import FolderSource


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())


def reasons(source: FolderSource) -> dict[str, str]:
    return {item.uri: item.reason for item in source.discover().skipped}


def test_hidden_and_temporary_files_are_skipped_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path, "a.docx", "~$a.docx", ".DS_Store", "Thumbs.db", ".hidden.md", ".git/config", "b.md~", "c.tmp")
    source = FolderSource("rules", tmp_path)
    assert [item.uri for item in source.discover().items] == ["a.docx"]
    assert reasons(source) == {
        "~$a.docx": "temporary file",
        ".DS_Store": "temporary file",
        "Thumbs.db": "temporary file",
        "b.md~": "temporary file",
        "c.tmp": "temporary file",
        ".hidden.md": "hidden file",
        ".git": "hidden folder",
    }


def test_excluded_files_are_skipped_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.txt", "초안/c.md")
    assert reasons(FolderSource("rules", tmp_path, include=["*.md"], exclude=["초안/"])) == {
        "b.txt": "not in include",
        "초안/c.md": "excluded",
    }


def test_patterns_in_decomposed_hangul_match_too(tmp_path: Path) -> None:
    write(tmp_path, "초안/c.md", "a.md")
    pattern = unicodedata.normalize("NFD", "초안/")
    found = FolderSource("rules", tmp_path, exclude=[pattern]).discover()
    assert [item.uri for item in found.items] == ["a.md"]


def test_links_out_of_the_folder_are_skipped_and_cannot_be_fetched(tmp_path: Path) -> None:
    write(tmp_path, "secret.md", "docs/a.md", "other/x.md")
    root = tmp_path / "docs"
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "folder").symlink_to(tmp_path / "other")
    (root / "broken.md").symlink_to(tmp_path / "nothing.md")
    (root / "inside.md").symlink_to(root / "a.md")
    source = FolderSource("rules", root)
    assert [item.uri for item in source.discover().items] == ["a.md", "inside.md"]
    assert reasons(source) == {
        "out.md": "symbolic link that leads out of the folder",
        "folder": "symbolic link to a folder; add that folder as a source of its own",
        "broken.md": "broken symbolic link",
    }
    with pytest.raises(NotFound):
        source.fetch("out.md")
    with pytest.raises(NotFound):
        source.fetch("folder/x.md")


def test_a_name_in_decomposed_hangul_is_opened_under_its_composed_uri(tmp_path: Path) -> None:
    write(tmp_path, unicodedata.normalize("NFD", "규정/회비규정.md"))
    assert FolderSource("rules", tmp_path).fetch("규정/회비규정.md")  # without a discover before it


def test_two_names_that_differ_in_unicode_form_only_are_reported(tmp_path: Path) -> None:
    write(tmp_path, unicodedata.normalize("NFD", "규정.md"), unicodedata.normalize("NFC", "규정.md"))
    source = FolderSource("rules", tmp_path)
    assert len(source.discover().items) == 1
    assert "different Unicode form" in reasons(source)["규정.md"]


def test_a_file_that_may_not_be_read_is_offered_and_its_fetch_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "b.md")
    original = Path.open

    def guarded(self: Path, *args: object, **kwargs: object) -> object:
        if self.name == "b.md":
            raise PermissionError(13, "Permission denied")
        return original(self, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", guarded)
    monkeypatch.setattr(Path, "read_bytes", lambda self: guarded(self, "rb").read())  # type: ignore[attr-defined]
    source = FolderSource("rules", tmp_path)
    found = source.discover()
    assert [item.uri for item in found.items] == ["a.md", "b.md"]
    with pytest.raises(UnreadableFile, match=r"b\.md may not be read .* give that user permission"):
        source.fetch("b.md")
    monkeypatch.undo()
    assert source.discover().items[1].content_hash != found.items[1].content_hash


def test_the_error_of_a_missing_folder_names_path_and_setting(tmp_path: Path) -> None:
    with pytest.raises(SourceMissing, match=r"nowhere does not exist; correct `path` of source \"rules\""):
        FolderSource("rules", tmp_path / "nowhere").discover()
    write(tmp_path, "file.md")
    with pytest.raises(SourceMissing, match="is not a folder"):
        FolderSource("rules", tmp_path / "file.md").discover()


def test_pipes_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert reasons(FolderSource("rules", tmp_path)) == {"pipe.md": "not a regular file"}


def test_files_beyond_the_limit_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 3)
    write(tmp_path, "long.md", "a")
    source = FolderSource("rules", tmp_path)
    assert [item.uri for item in source.discover().items] == ["a"]
    assert "larger than" in reasons(source)["long.md"]


def test_the_data_folder_of_haechi_is_never_read(tmp_path):
    (tmp_path / "rules.md").write_text("# 규정\n", encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "haechi.log").write_text("{}\n", encoding="utf-8")
    found = FolderSource("docs", tmp_path, data_dir=tmp_path / "data").discover()
    assert [item.uri for item in found.items] == ["rules.md"]
    assert [(item.uri, item.reason) for item in found.skipped] == [("data", "data folder of Haechi")]
