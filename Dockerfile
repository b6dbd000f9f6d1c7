# syntax=docker/dockerfile:1
# Builds the binary and runs it as an unprivileged user that can write only to /data:
#   docker build -t fundfeed .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL -p 8080:8080 -v fundfeed:/data fundfeed
# For both architectures, without emulation, because the program is compiled for the other one and nothing runs in its image:
#   docker buildx build --platform linux/amd64,linux/arm64 -t fundfeed .

FROM --platform=$BUILDPLATFORM oven/bun:1.4.5-debian AS build
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --production --ignore-scripts
COPY tsconfig.json ./
COPY clients clients
COPY db db
COPY SECURITY.md ./
COPY docs docs
COPY src src
# For `fundfeed version`: --build-arg SOURCE_COMMIT=$(git rev-parse --short HEAD)
ARG SOURCE_COMMIT
ARG TARGETARCH
RUN case "$TARGETARCH" in arm64) platform=linux-arm64 ;; *) platform=linux-x64-baseline ;; esac \
    && bun run build:portable --target="bun-$platform" && mkdir -m 0700 /data

# glibc and CA certificates, no shell.
FROM gcr.io/distroless/base-nossl-debian12:nonroot
LABEL org.opencontainers.image.title="fundfeed" \
      org.opencontainers.image.description="US federal funding opportunities with their history, served from one binary" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /app/dist/fundfeed /usr/local/bin/fundfeed
COPY --from=build --chown=65532:65532 /data /data
ENV FUNDFEED_DATA=/data FUNDFEED_HOST=0.0.0.0 FUNDFEED_PORT=8080
VOLUME /data
EXPOSE 8080
USER 65532:65532
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s CMD ["/usr/local/bin/fundfeed", "health"]
ENTRYPOINT ["/usr/local/bin/fundfeed"]
CMD ["up"]
