"""Annotations say what a definition is to its framework: the request it answers, when it is run."""

from __future__ import annotations

import pytest

from knowledge.chunking.code import chunk_code
from knowledge.chunking.code_roles import roles_of

SPRING = """@RestController
@RequestMapping("/api/orders")
class OrderController {
    @PostMapping("/{id}/cancel")
    @Transactional
    public void cancel(@PathVariable long id) {
        service.cancel(id);
    }

    @Scheduled(cron = "0 0 3 * * *")
    public void nightly() {
        service.clean();
    }
}
"""


@pytest.mark.parametrize(
    ("annotations", "around", "roles"),
    [
        ('@GetMapping("/{id}")', '@RequestMapping("/api/orders")', "endpoint GET /api/orders/{id}"),
        ('@RequestMapping(value = "/x", method = RequestMethod.PUT)', "", "endpoint PUT /x"),
        ("@PostMapping", '@RequestMapping("/orders")', "endpoint POST /orders"),
        ('[HttpGet("{id}")]', '[Route("api/[controller]")]', "endpoint GET /api/[controller]/{id}"),
        ('@router.delete("/items/{id}")', "", "endpoint DELETE /items/{id}"),
        ('@app.route("/pay", methods=["POST"])', "", "endpoint POST /pay"),
        ("@Get(':id')", "@Controller('orders')", "endpoint GET /orders/:id"),
        ('#[get("/orders/{id}")]', "", "endpoint GET /orders/{id}"),
        ("#[Route('/pay', methods: ['POST'])]", "", "endpoint POST /pay"),
        ('@GET\n@Path("/{id}")', '@Path("/orders")', "endpoint GET /orders/{id}"),
        ('@KafkaListener(topics = "orders")', "", "event listener"),
        ("@Service", "", "service"),
        ("@Override", '@RequestMapping("/api")', ""),
    ],
)
def test_roles_of_annotations(annotations: str, around: str, roles: str) -> None:
    assert roles_of(annotations, around) == roles


def test_the_request_of_a_method_stands_in_its_index_text() -> None:
    found = {draft.symbol: draft.index_text for draft in chunk_code("web/OrderController.java", SPRING)}
    assert "endpoint POST /api/orders/{id}/cancel, transaction" in found["OrderController.cancel"]
    assert "scheduled job" in found["OrderController.nightly"]
    assert "endpoint" not in found["OrderController.nightly"]
