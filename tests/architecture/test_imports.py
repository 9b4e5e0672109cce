"""The import directions of the design: knowledge never imports bot; inside each, lower layers never import higher ones."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The longest matching prefix names a module's layer; a module may import its own layer and those below.
LAYERS = {
    "knowledge": {
        "foundation": ["knowledge", "knowledge.types", "knowledge.errors"],
        "ports": ["knowledge.ports"],
        "logic": [
            "knowledge.analysis",
            "knowledge.numerals",
            "knowledge.stemming",
            "knowledge.stopwords",
            "knowledge.masking",
            "knowledge.chunking",
            "knowledge.retrieval",
            "knowledge.rerank",
        ],
        "adapters": [
            "knowledge.sources",
            "knowledge.extract",
            "knowledge.embed",
            "knowledge.rerank.http",
            "knowledge.rerank.onnx",
            "knowledge.rerank.registry",
            "knowledge.index",
            "knowledge.catalog",
            "knowledge.migrations",
        ],
        "composition": [
            "knowledge.ingest",
            "knowledge.error_memory",
            "knowledge.workers",
            "knowledge.sync",
            "knowledge.watching",
            "knowledge.lookup",
            "knowledge.passages",
            "knowledge.page_images",
            "knowledge.status",
            "knowledge.api",
            "knowledge.config",
            "knowledge.verify",
            "knowledge.backup",
            "knowledge.maintenance",
            "knowledge.calibrate_gate",
            "knowledge.evaluate",
        ],
    },
    "bot": {
        "foundation": ["bot", "bot.types", "bot.errors"],
        "ports": ["bot.ports"],
        "logic": [
            "bot.admission",
            "bot.anchor_units",
            "bot.anchoring",
            "bot.clause_quotes",
            "bot.code_words",
            "bot.code_lines",
            "bot.code_units",
            "bot.code_terms",
            "bot.code_values",
            "bot.code_conditions",
            "bot.code_anchoring",
            "bot.code_quotes",
            "bot.leads",
            "bot.rule_words",
            "bot.same_meaning",
            "bot.translated_words",
            "bot.word_forms",
            "bot.clause_support",
            "bot.clause_windows",
            "bot.strong_words",
            "bot.alerts",
            "bot.tracing",
            "bot.routing",
            "bot.persona",
            "bot.prompts",
            "bot.prompting",
            "bot.answering",
            "bot.answers",
            "bot.refusals",
            "bot.quoting",
            "bot.generating",
            "bot.citing",
            "bot.claims",
            "bot.doubt",
            "bot.excerpt",
            "bot.evidence_text",
            "bot.sources",
            "bot.wording",
            "bot.two_languages",
            "bot.json_forms",
            "bot.model_chain",
            "bot.structured",
            "bot.number_words",
            "bot.quantities",
            "bot.dates",
            "bot.labels",
            "bot.content_words",
            "bot.evidence_tables",
            "bot.evidence_pieces",
            "bot.row_binding",
            "bot.arithmetic",
            "bot.polarity",
            "bot.sanitising",
            "bot.sentences",
            "bot.notices",
            "bot.orders",
            "bot.small_talk",
            "bot.conversation",
            "bot.contradictions",
            "bot.translation",
            "bot.fusing",
            "bot.finding",
            "bot.reply_text",
            "bot.channels",
            "bot.limits",
            "bot.hook_matching",
            "bot.evidence_grants",
        ],
        "adapters": [
            "bot.settings",
            "bot.store",
            "bot.inbox",
            "bot.query_log",
            "bot.feedback",
            "bot.data_folder",
            "bot.native_memory",
            "bot.logging_setup",
            "bot.extraction",
            "bot.llm",
            "bot.platforms",
            "bot.http",
            "bot.web_posts",
            "bot.platform_state",
            "bot.stored_forms",
            "bot.audit",
            "bot.backup",
            "bot.restoring",
            "bot.unfinished",
            "bot.export",
            "bot.erasure",
            "bot.retention",
            "bot.job_journal",
            "bot.alerts.store",
            "bot.alerts.verdicts",
            "bot.alerts.intake",
            "bot.alerts.deploy_store",
            "bot.alerts.digests",
        ],
        "composition": [
            "bot.app",
            "bot.alerts.desk",
            "bot.alerts.placing",
            "bot.alerts.announcing",
            "bot.alerts.rendering",
            "bot.alerts.cases",
            "bot.alerts.counts",
            "bot.alerts.threads",
            "bot.case_operations",
            "bot.services",
            "bot.compose",
            "bot.cli",
            "bot.__main__",
            "bot.worker",
            "bot.reception",
            "bot.platform_runner",
            "bot.questions",
            "bot.commands",
            "bot.signs",
            "bot.readiness",
            "bot.admin_notices",
            "bot.metrics",
            "bot.maintenance",
            "bot.control",
            "bot.session",
            "bot.operations",
            "bot.jobs",
            "bot.scheduler",
            "bot.query_lines",
            "bot.doctor",
            "bot.model_probes",
            "bot.stopping",
            "bot.terminal_text",
        ],
    },
}
ORDER = ["foundation", "ports", "logic", "adapters", "composition"]


def modules(package: str) -> dict[str, Path]:
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, package: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in names if name.split(".")[0] == package}


def layer(module: str) -> str | None:
    table = LAYERS[module.split(".")[0]]
    best, chosen = -1, None
    for name, prefixes in table.items():
        for prefix in prefixes:
            exact = module == prefix
            below = module.startswith((prefix + ".", prefix + "_")) and "." in prefix
            if (exact or below) and len(prefix) > best:
                best, chosen = len(prefix), name
    return chosen


def test_knowledge_never_imports_bot():
    assert {m: names for m, p in modules("knowledge").items() if (names := imported(p, "bot"))} == {}


def test_bot_reaches_knowledge_through_its_door_its_types_and_its_errors_only():
    doors = ("knowledge.api", "knowledge.types", "knowledge.errors", "knowledge.extract", "knowledge.masking")
    extra = {
        "bot.cli": ("knowledge.evaluate",),
        "bot.settings_sources": ("knowledge.sources.git_access",),  # which addresses git may be given
        "bot.operations": ("knowledge.evaluate",),
        "bot.compose_schedule": ("knowledge.watching",),  # file events of folders
        "bot.extraction": ("knowledge.workers",),  # its process ends with the command
        "bot.code_terms": ("knowledge.retrieval.lexicon",),  # what Korean words are called in code
        "bot.services": ("knowledge.analysis", "knowledge.embed.registry"),  # builds the adapters
    }
    wrong = {}
    for module, path in modules("bot").items():
        allowed = doors + next((v for k, v in extra.items() if module == k or module.startswith(k + "_")), ())
        bad = {n for n in imported(path, "knowledge") if n != "knowledge" and not n.startswith(allowed)}
        if bad:
            wrong[module] = sorted(bad)
    assert wrong == {}


@pytest.mark.parametrize("package", ["knowledge", "bot"])
def test_every_module_has_a_layer(package):
    assert [m for m in modules(package) if layer(m) is None] == []


@pytest.mark.parametrize("package", ["knowledge", "bot"])
def test_lower_layers_never_import_higher_ones(package):
    wrong = []
    known = modules(package)
    for module, path in known.items():
        for name in imported(path, package):
            target = name if name in known else name.rpartition(".")[0]
            if target not in known or target == package:
                continue
            if ORDER.index(layer(target) or "composition") > ORDER.index(layer(module) or "foundation"):
                wrong.append(f"{module} ({layer(module)}) imports {target} ({layer(target)})")
    assert wrong == []


def test_only_settings_reads_the_environment():
    readers = []
    for package in ("knowledge", "bot"):
        for module, path in modules(package).items():
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb"):
                    readers.append(module)
    assert set(readers) <= {"bot.settings"}
