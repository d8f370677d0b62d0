# SPDX-License-Identifier: GPL-2.0-or-later
# The same set-up script as `make run`, in a box.
FROM debian:12
WORKDIR /duet
COPY . .
RUN ./setup.sh kernels
ENV DUET_CACHE=/cache DUET_ACCESS=/cache/access.json
VOLUME /cache
EXPOSE 8642
# The first start prints a link for each role; `duet token rotate` in the box makes new ones.
CMD ["./duet", "serve", "--host", "0.0.0.0", "--allow-host", "localhost", "--token-required"]
