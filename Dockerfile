# The image of the bot: Debian, Python, the readers of scans and old Word files, and the bundled models. It runs as its own
# user on a read-only root file system; /data is all that it writes, /tmp what it throws away. Log lines are JSON.
# `scripts/try-image` carries the same steps out in a plain folder, where no container engine is at hand.

FROM debian:bookworm-slim AS build
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/haechi
COPY requirements.lock ./
RUN python3 -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY pyproject.toml README.md persona.md ./
COPY bot bot
COPY knowledge knowledge
RUN .venv/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation . \
    && .venv/bin/haechi --help > /dev/null

FROM debian:bookworm-slim
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        ca-certificates git openssh-client python3 tzdata \
        tesseract-ocr tesseract-ocr-kor fontconfig fonts-nanum libreoffice-writer-nogui \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 haechi \
    && useradd --uid 10001 --gid haechi --no-create-home --home-dir /data --shell /usr/sbin/nologin haechi \
    && install -d -o haechi -g haechi -m 0700 /data \
    && install -d /documents /etc/haechi
COPY --from=build /opt/haechi/.venv /opt/haechi/.venv
COPY deploy/haechi.toml /etc/haechi/haechi.toml
ENV PATH=/opt/haechi/.venv/bin:/usr/local/bin:/usr/bin:/bin \
    LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HAECHI_DATA_DIR=/data \
    HAECHI_LOG__FORMAT=json
WORKDIR /etc/haechi
USER 10001:10001
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python3", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
ENTRYPOINT ["haechi", "--config", "/etc/haechi/haechi.toml"]
CMD ["run"]
