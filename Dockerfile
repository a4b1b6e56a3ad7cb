# The program, its licences and nothing else: it is linked statically and opens no
# connections, so that it needs no CA certificates. The binary of each
# platform is in a directory such as linux/amd64; make image builds one.
FROM scratch
ARG TARGETPLATFORM
LABEL org.opencontainers.image.title="toolguard" \
      org.opencontainers.image.description="Linter and fixer for transcripts of AI agents" \
      org.opencontainers.image.source="https://github.com/toolguard/toolguard" \
      org.opencontainers.image.licenses="MIT"
COPY LICENSE THIRD_PARTY_NOTICES /licenses/
COPY $TARGETPLATFORM/toolguard /toolguard
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/toolguard"]
