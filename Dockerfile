# The program, its licences and nothing else: it is linked statically and opens no
# connections, so that it needs no CA certificates. GoReleaser puts the binary of
# each platform beside this file; to build by hand, see docs/ci.md.
FROM scratch
ARG TARGETPLATFORM=.
LABEL org.opencontainers.image.title="toolguard" \
      org.opencontainers.image.description="Linter and fixer for transcripts of AI agents" \
      org.opencontainers.image.source="https://github.com/toolguard/toolguard" \
      org.opencontainers.image.licenses="MIT"
COPY LICENSE THIRD_PARTY_NOTICES /licenses/
COPY $TARGETPLATFORM/toolguard /toolguard
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/toolguard"]
