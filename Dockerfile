# SPDX-License-Identifier: GPL-2.0-or-later
# The same set-up script as `make run`, in a box. The server runs as an ordinary user in it.
#
# The base is named by tag, since the set-up script takes Debian's newest packages anyway. To build on
# an exact base, look its digest up (docker buildx imagetools inspect debian:12) and give it:
#   docker build --build-arg BASE=debian:12@sha256:... .
ARG BASE=debian:12
FROM ${BASE}
# Behind a proxy with a certificate authority of its own, packages are fetched with these; they are
# set while the image is built and stand in no layer.
ARG SSL_CERT_FILE
ARG PIP_CERT
ARG NODE_EXTRA_CA_CERTS
WORKDIR /duet
COPY . .
# The source of the kernels too, where the base has it by this very name (apt-get takes an unknown one for a
# pattern): the server may have no network later. Elsewhere it is fetched when the first kernel is built.
RUN ./setup.sh kernels \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends '?exact-name(linux-source-6.1)'
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin duet \
 && install -d -o duet -g duet -m 0700 /cache
# Set-up is over: this user writes to /cache and /tmp alone.
ENV DUET_SETUP=skip DUET_CACHE=/cache DUET_RUNS=/cache/runs DUET_ACCESS=/cache/access.json
VOLUME /cache
USER duet
EXPOSE 8642
# All addresses of the container; docker-compose.yml publishes them on the host's loopback alone.
# The first start prints a link for each role; `duet token rotate` in the box makes new ones.
CMD ["./duet", "serve", "--host", "0.0.0.0", "--allow-host", "localhost", "--token-required"]
