"""What a definition is to the framework around it, by its annotations: which request it answers, when it is run.

The path of a request is put together from the class and the method, as Spring, JAX-RS, ASP.NET, NestJS, Symfony, Flask,
FastAPI, Actix and Rocket write them, so that "POST /orders/{id}/cancel" finds the method.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_VERBS = "get|post|put|delete|patch|head|options"
_MAPPING = re.compile(
    rf"@(?P<spring>Get|Post|Put|Delete|Patch|Request)Mapping\b(?P<spring_args>\([^)]*\))?"
    rf"|\[Http(?P<net>Get|Post|Put|Delete|Patch)(?P<net_args>\([^)]*\))?"
    rf"|@(?:\w+\.)+(?P<flask>{_VERBS}|route|api_route|websocket)(?P<flask_args>\((?:[^()]|\([^()]*\))*\))"
    rf"|@(?P<nest>Get|Post|Put|Delete|Patch|All)(?P<nest_args>\([^)]*\))"
    rf"|#\[(?:\w+::)*(?P<rust>{_VERBS})(?P<rust_args>\([^)]*\))"
    rf"|#\[(?:\w+\\)*Route(?P<php_args>\([^)]*\))"
    rf"|@(?P<jax>GET|POST|PUT|DELETE|PATCH|HEAD)\b",
)
_PREFIX = re.compile(
    r"@RequestMapping\b(?P<spring>\([^)]*\))|\[Route(?P<net>\([^)]*\))|@Controller(?P<nest>\([^)]*\))"
    r"|@Path(?P<jax>\([^)]*\))|#\[(?:\w+\\)*Route(?P<php>\([^)]*\))|@FeignClient(?P<feign>\([^)]*\))"
)
_STRING = re.compile(r"[\"'`]([^\"'`]*)[\"'`]")
_METHOD = re.compile(r"RequestMethod\.(\w+)|methods?\s*[:=]\s*[\[{(]?\s*[\"'](\w+)[\"']", re.IGNORECASE)
_ROLES = (
    (re.compile(r"@(?:Rest)?Controller(?:Advice)?\b|\[ApiController"), "controller"),
    (re.compile(r"@Service\b|@Injectable\b"), "service"),
    (re.compile(r"@Repository\b|@Mapper\b|@Dao\b"), "repository"),
    (re.compile(r"@Configuration\b|@SpringBootApplication\b|@Module\b"), "configuration"),
    (re.compile(r"@Entity\b|@Document\b|@Table\b"), "entity"),
    (re.compile(r"@ExceptionHandler\b"), "exception handler"),
    (re.compile(r"@Scheduled\b|@Cron\b|@shared_task\b|@\w+\.task\b|@periodic_task\b"), "scheduled job"),
    (re.compile(r"@\w*(?:Listener|EventHandler|OnEvent|MessagePattern|Incoming)\b|@receiver\b"), "event listener"),
    (re.compile(r"@Transactional\b"), "transaction"),
)


def roles_of(annotations: str, around: str = "") -> str:
    """Words for the index text, e.g. "endpoint GET /orders/{id}, transaction"; empty without telling annotations.

    `around` are the annotations of the class.
    """
    if not annotations:
        return ""
    roles = [f"endpoint {verb} {path}" for verb, path in _endpoints(annotations, around)]
    roles += [role for pattern, role in _ROLES if pattern.search(annotations)]
    return ", ".join(dict.fromkeys(roles))


def _endpoints(annotations: str, around: str) -> Iterator[tuple[str, str]]:
    prefix = next((_path(match[0]) for match in _PREFIX.finditer(around)), "")
    own_path = re.search(r"@Path(\([^)]*\))", annotations)
    for match in _MAPPING.finditer(annotations):
        groups = match.groupdict()
        arguments = next((value for name, value in groups.items() if name.endswith("_args") and value), "") or ""
        if groups["jax"] and own_path:
            arguments = own_path[1]
        named = next((groups[name] for name in ("spring", "net", "flask", "nest", "rust", "jax") if groups[name]), "")
        told = _METHOD.search(arguments)
        verb = named.upper()
        if verb in ("REQUEST", "ROUTE", "API_ROUTE", "ALL", ""):
            verb = (told[1] or told[2]).upper() if told else "ANY"
        yield verb, _joined(prefix, _path(arguments))


def _path(arguments: str) -> str:
    """The first string that may be a path."""
    return next((text for text in _STRING.findall(arguments) if text and " " not in text), "")


def _joined(prefix: str, path: str) -> str:
    return "/" + "/".join(part.strip("/") for part in (prefix, path) if part.strip("/"))
