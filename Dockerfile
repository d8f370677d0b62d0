# SPDX-License-Identifier: GPL-2.0-or-later
# The same set-up script as `make run`, in a box.
FROM debian:12
WORKDIR /duet
COPY . .
RUN ./setup.sh kernels
ENV DUET_CACHE=/cache
VOLUME /cache
EXPOSE 8642
CMD ["./duet", "serve", "--host", "0.0.0.0", "--port", "8642"]
