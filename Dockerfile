# The programs, their licences and nothing else: they are linked statically. Only
# toolguard-proxy opens connections and needs the CA certificates. The binaries of each
# platform are in a directory such as linux/amd64; make image builds one.
FROM scratch
ARG TARGETPLATFORM
LABEL org.opencontainers.image.title="toolguard" \
      org.opencontainers.image.description="Linter and fixer for transcripts of AI agents" \
      org.opencontainers.image.source="https://github.com/toolguard/toolguard" \
      org.opencontainers.image.licenses="MIT"
COPY LICENSE THIRD_PARTY_NOTICES /licenses/
COPY ca-certificates.crt /etc/ssl/certs/
COPY $TARGETPLATFORM/toolguard $TARGETPLATFORM/toolguard-proxy $TARGETPLATFORM/toolguard-sqlite $TARGETPLATFORM/toolguard-parquet /
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/toolguard"]
