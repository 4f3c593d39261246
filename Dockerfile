# syntax=docker/dockerfile:1
# The program alone on a base without a shell: the C library, certificates, and a user that is not root.
FROM rust:1.95-bookworm AS build
WORKDIR /headroom
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/headroom/target \
    cargo build --locked --profile dist -p headroom && cp target/dist/headroom /usr/local/bin/headroom

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /usr/local/bin/headroom /usr/local/bin/headroom
# The allocator keeps what a round lets go for ten seconds, and not for 10 ms: the next round takes it up again.
ENV MIMALLOC_PURGE_DELAY=10000
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/headroom"]
CMD ["--help"]
