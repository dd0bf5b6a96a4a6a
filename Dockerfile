# The server with every bundled variant. Built from this directory: docker build -t rummy500 .
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md ./
COPY proto proto
COPY server server
COPY variants variants
RUN python -m venv /opt/rummy500 \
    && /opt/rummy500/bin/pip install --no-cache-dir . ./variants/*/

FROM python:3.12-slim
RUN groupadd --gid 10500 rummy500 \
    && useradd --uid 10500 --gid rummy500 --no-create-home --shell /usr/sbin/nologin rummy500 \
    && install --directory --owner=rummy500 --group=rummy500 --mode=0700 /data
COPY --from=build /opt/rummy500 /opt/rummy500
ENV PATH=/opt/rummy500/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    RUMMY500_HOST=0.0.0.0 \
    RUMMY500_DATABASE=/data/rummy500.db \
    RUMMY500_LOG_FORMAT=json
USER 10500:10500
WORKDIR /data
VOLUME /data
EXPOSE 50500 9500
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s --retries=3 CMD ["rummy500-server", "health"]
ENTRYPOINT ["rummy500-server"]
CMD ["serve"]
