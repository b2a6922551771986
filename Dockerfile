# bin/worker and bin/starter in an image that holds nothing else.
#   docker build -t countersign .
#   docker run countersign --roles engine        (the worker is the entry point)
#   docker run --entrypoint starter countersign  (the command line)
FROM golang:1.26-bookworm AS build
WORKDIR /src
# The modules are a layer of their own: they change seldom.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /out/ ./worker ./starter \
	&& mkdir -p /data

# Certificates and time zones, no shell, and a user that is not root.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/worker /out/starter /usr/local/bin/
COPY LICENSE /usr/share/doc/countersign/LICENSE
# A named volume that is mounted here takes over the owner.
COPY --from=build --chown=nonroot:nonroot /data /var/lib/countersign
ENV COUNTERSIGN_DATA_DIR=/var/lib/countersign
VOLUME /var/lib/countersign
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/worker"]
