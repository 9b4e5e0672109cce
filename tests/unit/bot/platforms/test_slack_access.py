"""How the bot gets at Slack: tokens that are replaced while it runs, private authorities, proxies."""

from __future__ import annotations

import ssl

import pytest
import trustme
from pydantic import SecretStr

from bot.errors import ConfigError, Unreachable
from bot.platforms.slack_api import SlackApi, tls_of
from tests.emulators.forward_proxy import ForwardProxy
from tests.emulators.slack import APP_TOKEN, BOT_TOKEN
from tests.unit.bot.platforms.slack_bench import listening, slack_server


@pytest.fixture
def authority(tmp_path):
    ca = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("localhost").configure_cert(server)
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return server, tmp_path / "ca.pem"


# --- tokens -----------------------------------------------------------------------------------------


async def test_a_bot_token_that_was_replaced_in_its_file_is_taken_up_without_a_restart():
    configured = {"bot_token": SecretStr(BOT_TOKEN), "app_token": SecretStr(APP_TOKEN)}
    async with slack_server() as server, listening(server, token_now=configured.get) as bench:
        asked = await bench.ask()
        server.revoked.add(BOT_TOKEN)
        server.tokens["xoxb-2-new"] = "bot"
        configured["bot_token"] = SecretStr("xoxb-2-new")
        await bench.until(lambda: bench.platform._api._token.get_secret_value() == "xoxb-2-new")
        await bench.platform.post(bench.reply(asked))
        assert bench.shown(asked.thread) == ["15일입니다. [1]"]


async def test_an_app_token_that_was_replaced_in_its_file_is_taken_up_without_a_restart():
    configured = {"bot_token": SecretStr(BOT_TOKEN), "app_token": SecretStr(APP_TOKEN)}
    async with slack_server() as server, listening(server, token_now=configured.get) as bench:
        server.revoked.add(APP_TOKEN)
        server.tokens["xapp-2-new"] = "app"
        configured["app_token"] = SecretStr("xapp-2-new")
        await server.sockets.drop()
        ts = await server.say("C1", "U1", "들리나요?")
        await bench.until(lambda: any(message.id == ts for message in bench.posted))


async def test_a_token_that_stays_as_it_was_is_reported_as_before():
    async with slack_server() as server, listening(server, token_now=lambda name: SecretStr(BOT_TOKEN)) as bench:
        server.revoked.add(BOT_TOKEN)
        await bench.until(lambda: "token_revoked" in bench.platform._health.status("slack", detail="").detail)


# --- certificates and proxies -----------------------------------------------------------------------


async def test_the_api_the_socket_and_files_work_with_a_certificate_of_a_private_authority(authority):
    tls, ca_file = authority
    async with slack_server(tls=tls) as server, listening(server, ca_file=ca_file) as bench:
        assert server.url.startswith("https://")
        file = server.add_file("app.log", b"TimeoutError", "text/plain")
        await server.say("C1", "U1", "<@U0BOT00001> 봐 주세요", subtype="file_share", files=[file])
        await bench.until(lambda: bench.posted)
        assert [item.text for item in bench.posted[0].attachments] == ["TimeoutError"]
        await bench.platform.post(bench.reply(bench.posted[0]))
        await server.command("U1", "C1", "help")
        await bench.until(lambda: bench.commands)
        await bench.platform.answer_command(bench.commands[0], "도움말")
        assert "도움말" in str(server.workspace.ephemeral)


async def test_a_certificate_that_nobody_vouches_for_is_refused_and_the_remedy_named(authority):
    tls, _ = authority
    async with slack_server(tls=tls) as server:
        api = SlackApi(token=SecretStr(BOT_TOKEN), api_url=server.url, retry_pause_s=0.01)
        with pytest.raises(Unreachable, match=r"slack\.ca_file"):
            await api.identify()
        await api.close()


def test_a_file_without_certificates_is_told(tmp_path):
    (tmp_path / "ca.pem").write_text("nothing", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"slack\.ca_file .*ca\.pem"):
        tls_of(tmp_path / "ca.pem")


async def test_the_api_and_the_socket_go_through_the_proxy_of_the_environment(authority, monkeypatch):
    tls, ca_file = authority
    async with slack_server(tls=tls) as server:
        with ForwardProxy(resolves={"localhost": server.port}, login="bot:secret") as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://bot:secret@127.0.0.1:{proxy.port}")
            async with listening(server, ca_file=ca_file) as bench:
                asked = await bench.ask()
                await bench.platform.post(bench.reply(asked))
                assert bench.shown(asked.thread) == ["15일입니다. [1]"]
            assert len(proxy.asked) >= 2
            assert {target for target, _ in proxy.asked} == {f"localhost:{server.port}"}
