# The program alone: it is linked statically and needs nothing else. GoReleaser
# puts the binary of each platform beside this file; to build by hand, see
# docs/ci.md.
FROM scratch
ARG TARGETPLATFORM=.
COPY $TARGETPLATFORM/toolguard /toolguard
WORKDIR /work
ENTRYPOINT ["/toolguard"]
