"""The chat bot: listens, routes, answers from evidence, refuses without it."""
