"""The container's files agree with each other, with the settings and with the locks; a linter has no complaint."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.settings import ENV_PREFIX, Settings, load_settings
from bot.settings_check import setting_keys
from bot.settings_secrets import secret_values

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE_TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ENV_EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
DEPLOYED = ROOT / "deploy" / "haechi.toml"


def environment(*, all_lines: bool) -> dict[str, str]:
    """What .env.example sets; with `all_lines` also what it only proposes."""
    pattern = r"^(?:# )?([A-Z][A-Z0-9_]+)=(.*)$" if all_lines else r"^([A-Z][A-Z0-9_]+)=(.*)$"
    return dict(re.findall(pattern, ENV_EXAMPLE, re.MULTILINE))


def instruction(name: str) -> list[str]:
    """The last JSON list of an instruction of the Dockerfile."""
    found: list[str] = json.loads(re.findall(rf"^\s*{name} (\[.*\])$", DOCKERFILE, re.MULTILINE)[-1])
    return found


LINTER = Path(sys.executable).with_name("hadolint")


@pytest.mark.skipif(not LINTER.exists(), reason="hadolint has no build for this machine")
def test_the_linter_of_dockerfiles_has_no_complaint():
    said = subprocess.run([LINTER, "--no-color", ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, ""), said.stdout + said.stderr


def test_the_bot_runs_as_its_own_user_and_writes_only_where_a_volume_or_memory_is():
    bot = SERVICES["bot"]
    assert re.search(r"^USER (?!0|root)\d+:\d+$", DOCKERFILE, re.MULTILINE)
    assert bot["read_only"] is True
    assert bot["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in bot["security_opt"]
    places = {volume.split(":")[1]: volume.split(":")[2:] for volume in map(_without_variables, bot["volumes"])}
    assert places == {"/data": [], "/documents": ["ro"], "/etc/haechi/haechi.toml": ["ro"]}
    assert [mount.split(":")[0] for mount in bot["tmpfs"]] == ["/tmp"]
    assert "VOLUME /data" in DOCKERFILE
    assert instruction("ENTRYPOINT")[-1] == "/etc/haechi/haechi.toml"
    assert bot["extra_hosts"] == ["host.docker.internal:host-gateway"]


def test_ports_are_open_to_this_machine_alone_and_the_health_check_asks_the_one_that_is_served():
    for service in SERVICES.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    settings = deployed({})
    assert settings.web.port == 8765
    assert f"127.0.0.1:{settings.web.port}/healthz" in DOCKERFILE
    assert f"EXPOSE {settings.web.port}" in DOCKERFILE
    assert SERVICES["bot"]["ports"] == ["127.0.0.1:8765:8765"]


def test_every_service_has_a_limit_a_pinned_image_and_only_declared_volumes():
    used = set()
    for name, service in SERVICES.items():
        if name != "ollama-pull":  # it hands its work to the server, and ends
            assert "mem_limit" in service, name
        if "build" not in service:
            assert re.search(r":[\w.-]*\d[\w.-]*$", service["image"]), name
            assert service["profiles"] == [name.split("-")[0]]
        for volume in map(_without_variables, service.get("volumes", ())):
            origin = volume.split(":")[0]
            if not origin.startswith((".", "/")):
                used.add(origin)
        for other, how in service.get("depends_on", {}).items():
            assert SERVICES[other]["profiles"] == service["profiles"]
            assert how["condition"] != "service_healthy" or "healthcheck" in SERVICES[other]
    assert used == set(COMPOSE["volumes"])


def test_the_image_of_the_chroma_server_is_the_version_of_its_client():
    (locked,) = re.findall(r"^chromadb==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert SERVICES["chroma"]["image"] == f"chromadb/chroma:{locked}"


def test_every_variable_of_compose_stands_in_the_example_and_the_other_way_round():
    variables = set(re.findall(r"\$\{(\w+)", COMPOSE_TEXT))
    shown = environment(all_lines=True)
    assert variables <= set(shown)
    known = {key.env for key in setting_keys(Settings, ENV_PREFIX)}
    named = set(re.findall(r'_env = "(\w+)"', DEPLOYED.read_text(encoding="utf-8")))
    guides = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("*.md"))
    for name in shown:
        assert name in variables or name in known or name in named or name in guides, name
    hosts = set(re.findall(r"http://([\w-]+):", ENV_EXAMPLE + DEPLOYED.read_text(encoding="utf-8")))
    assert hosts <= {*SERVICES, "host.docker.internal"}


def deployed(more: dict[str, str], text: str | None = None, folder: Path | None = None) -> Settings:
    """The container's settings under the example's environment, with a page token."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**environment(all_lines=False), "HAECHI_PAGE_TOKEN": "a-token", **more}.items():
            patch.setenv(name, value)
        file = DEPLOYED
        if text is not None and folder is not None:
            file = folder / "haechi.toml"
            file.write_text(text, encoding="utf-8")
        return load_settings(file)


def test_the_configuration_inside_the_container_loads_as_it_stands_and_with_all_that_it_proposes(tmp_path):
    proposed = {name: value or "a-secret" for name, value in environment(all_lines=True).items()}
    settings = deployed(proposed, _uncommented(DEPLOYED.read_text(encoding="utf-8")), tmp_path)
    assert [source.name for source in settings.sources] == ["documents", "shop"]
    assert (settings.model.provider, settings.model.url) == ("ollama", "http://ollama:11434")
    assert settings.chroma.url == "http://chroma:8000"
    assert settings.mattermost.enabled
    assert "a-secret" in secret_values(settings)
    assert deployed({}).model.provider == "none"


def test_without_a_page_token_the_first_error_says_what_to_set():
    with pytest.raises(Exception, match="HAECHI_PAGE_TOKEN"):
        deployed({"HAECHI_PAGE_TOKEN": ""})


def test_what_is_copied_into_the_image_is_not_left_out_and_everything_else_is():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line.startswith("!")}
    copied = {
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert copied == kept


def _uncommented(text: str) -> str:
    """With every proposed table and key; sentences stay comments."""
    return re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE)


def _without_variables(volume: str) -> str:
    return re.sub(r"\$\{[^}]*\}", "./given", volume)
