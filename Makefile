# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel Duet. `make run` shows it, `make test` proves it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
LESSON ?=
# Stages for make bench (default: all): STAGE="decode reduce".
STAGE ?=
# A measurement and its options for make bench: ARGS="viewers --viewers 100".
ARGS ?=
# Options of ./duet serve for make run: SERVE="--port 8643".
SERVE ?=
SUITE ?= trixie
VENV := .venv/bin
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export DUET_ROOT := $(CURDIR)
PYTEST = $(VENV)/python -m pytest -c backend/pyproject.toml --rootdir . -p no:cacheprovider --durations=15 --durations-min=5
PLAYWRIGHT = DUET_NIGHTLY=$(NIGHTLY) npx --no-install playwright test -c ../tests/e2e/playwright.config.ts --retries $(RETRIES)
# Tests that nothing disturbs run so many at a time.
JOBS ?= 2
# Unit tests wait for servers a part of their time: one more at a time fills it.
MORE_JOBS ?= $(shell expr $(JOBS) + 1)
CHECK_JOBS ?= 2
# How often a test of processes, guests or browsers that fails is run again; the summary lists it as RERUN or flaky.
RETRIES ?= 0
# Long tests, whose faults others mostly find sooner, run in make nightly alone.
NIGHTLY ?=
DAILY = $(if $(NIGHTLY),, and not nightly)
CLAIMS = $(if $(NIGHTLY),,DUET_CLAIMS=few)

.PHONY: plugins-out nightly help run test dev check check-types check-page check-lessons check-rest contract docs stage format kernel record record-grid record-all lesson pins test-unit test-guest test-page test-e2e bench bench-parts stress fuzz soak clean image image-test fresh kubernetes

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: ## set up what is missing, serve the page, build kernels in the background
	@./duet serve $(SERVE)

test: ## unit, page, real guests, browser (builds the kernels it boots); make nightly adds the long tests
	@./setup.sh all
	@DUET_LESSONS=tests/sixth ./duet build
	@for part in unit page guest e2e; do \
		began=$$SECONDS; $(MAKE) --no-print-directory test-$$part || exit; \
		echo "== tests: $$part took $$((SECONDS - began)) s"; \
	done

nightly: ## make test with the long tests and Linux 7.3, the core without plug-ins, and an hour of faults: before a release
	-./duet build --base 7.3
	@$(MAKE) --no-print-directory test NIGHTLY=yes RETRIES=1
	@$(MAKE) --no-print-directory plugins-out
	@$(MAKE) --no-print-directory soak MINUTES=60

test-unit: ## Python and C tests that boot nothing
	$(PYTEST) -r aR --reruns $(RETRIES) tests -m "not guest$(DAILY)" -n $(MORE_JOBS) --dist worksteal

test-page: ## vitest
	cd frontend && npm test --silent

test-guest: ## tests that boot real kernels; those that want the machine alone come last
	$(CLAIMS) $(PYTEST) -r aR --reruns $(RETRIES) tests/guest tests/plugins$(if $(NIGHTLY), tests/tools) -m "guest and not alone$(DAILY)" -n $(JOBS)
	$(CLAIMS) $(PYTEST) -r aR --reruns $(RETRIES) tests/guest tests/plugins$(if $(NIGHTLY), tests/tools) -m "guest and alone$(DAILY)"

test-e2e: ## Playwright in Chromium, on recordings, then on live guests, which get the machine alone
	cd frontend && $(PLAYWRIGHT) --grep-invert '@guest$(if $(NIGHTLY),,|@nightly)' --workers $(JOBS)
	cd frontend && $(PLAYWRIGHT) --grep @guest $(if $(NIGHTLY),,--grep-invert @nightly) --workers 1

dev: ## the server with reload and Vite's dev server
	@./setup.sh all
	@trap 'kill 0' EXIT; $(VENV)/python -m duet serve & cd frontend && DUET_PORT=8642 npm run dev

check: ## lint, format, types, layers, drift, shell, links; CHECK_JOBS of them at a time
	@./setup.sh dev
	@$(MAKE) --no-print-directory --output-sync=target -j $(CHECK_JOBS) check-types check-page check-lessons check-rest

check-types:
	cd backend && ../$(VENV)/mypy && ../$(VENV)/mypy ../lessons/*/probes/*.py

check-page:
	cd frontend && npm run --silent contract -- --check
	cd frontend && npm run --silent check

check-lessons:
	./duet lint

check-rest:
	$(VENV)/ruff check --config backend/pyproject.toml backend/src tests tools lessons vm-images/root/build
	$(VENV)/ruff format --check --config backend/pyproject.toml backend/src tests tools lessons vm-images/root/build
	cd backend && PYTHONPATH=src ../$(VENV)/lint-imports --config pyproject.toml
	$(VENV)/python -m duet.api.contract --check
	$(PYTEST) -q tests/contract/test_docs.py
	shellcheck setup.sh duet packaging/image.sh packaging/fresh.sh .ci/run vm-images/root/init vm-images/root/duet-scratch lessons/_template/workload/nap-sh.sh

contract: ## generate the page's types and checks of what the server sends from its models
	$(VENV)/python -m duet.api.contract
	cd frontend && npm run --silent contract

statements: ## docs/STATEMENTS.md from tests/fixtures/statements.yaml
	$(VENV)/python -m tests.support.statements

docs: ## the pages of docs/ as a site in build/docs
	@./setup.sh docs
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build
	@echo "The pages are at build/docs/index.html"

format: ## write Python, TypeScript and C as the checks want them
	$(VENV)/ruff check --fix --config backend/pyproject.toml backend/src tests tools lessons vm-images/root/build
	$(VENV)/ruff format --config backend/pyproject.toml backend/src tests tools lessons vm-images/root/build
	cd frontend && npm run --silent fmt
	git ls-files '*.c' '*.h' | grep -v ^vm-images/microscope/ | xargs $(VENV)/clang-format -i --style=file:vm-images/agent/.clang-format
	git ls-files 'vm-images/microscope/*.[ch]' | xargs $(VENV)/clang-format -i --style=file:vm-images/microscope/.clang-format

kernel: ## build the kernels of LESSON (default: all)
	@./duet build $(LESSON)

published: ## measure what docs/PUBLISHED.md lacks or has of other kernels (LESSON; default: all), and write it; see also --stored
	@./duet measure $(LESSON) --published --write docs/PUBLISHED.md

record: ## record LESSON's runs into lessons/LESSON/recorded
	@./duet record $(LESSON)

record-grid: ## record the cells of LESSON's grids that are missing or stale; goes on where it was interrupted
	@./duet record $(LESSON) --grid all

record-all: ## make every stale recording and recorded table of LESSON (default: all lessons) anew; goes on where it was interrupted
	@./duet record-all $(LESSON)

lesson: ## start a new lesson that runs as it is: make lesson LESSON=06-my-question
	@./duet new "$(LESSON)"

stress: ## an hour of changed recordings, then each arm of LESSON (default: all) on a debug kernel; by hand, not in CI
	$(VENV)/python -m tests.stress.fuzz_bundles
	$(VENV)/python -m tests.debug.stress $(if $(LESSON),--lesson $(LESSON))

fuzz: ## coverage-guided fuzzing of what reads pages, events, frames and bundles: make fuzz MINUTES=10; some seconds of it are in make test
	$(VENV)/python -m tests.fuzz.run_fuzz --minutes $(or $(MINUTES),10)

soak: ## lanes in a loop with random faults: make soak MINUTES=60 SEED=1; CI runs three minutes of it
	$(VENV)/python -m tests.soak.soak --minutes $(or $(MINUTES),60) $(if $(SEED),--seed $(SEED))

stage: ## measure how each step of LESSON (default: all) uses its stage, on the desk and on slides, four sizes, light and dark; SHEETS=folder for contact sheets
	@PATH="$(CURDIR)/$(VENV):$$PATH" node tests/bench/stage.ts $(if $(LESSON),--lesson $(LESSON)) $(if $(SHEETS),--sheets $(SHEETS))

plugins-out: ## the core without any plug-in: make check and its unit tests, in a copy
	@out=$$(mktemp -d) && $(VENV)/python -m tests.support.plugins_out "$$out" && \
		export PYTHONPATH="$$out/backend/src" && \
		$(MAKE) --no-print-directory -C "$$out" contract check test-unit; \
		code=$$?; rm -rf "$$out"; exit $$code

bench: ## every stage beside its best peer, in 20 minutes: make bench STAGE=decode; or load on a real server: make bench ARGS='lanes 02-grace-periods' (ARGS=--help lists them)
ifneq ($(ARGS),)
	@$(VENV)/python -m tools.bench $(ARGS)
else
	@$(VENV)/python -m tools.bench speed $(STAGE)
endif

bench-parts: ## figures of parts that have no peer: microscope, x-ray
	@for b in microscope xray; do $(VENV)/python -m tests.bench.$$b; done

pins: ## compile the hash-pinned requirements anew
	@cd backend && for f in requirements-uv requirements requirements-dev requirements-docs requirements-hub; do \
		../$(VENV)/uv pip compile -q --upgrade --generate-hashes --no-emit-index-url --no-emit-find-links \
		--python-version 3.11 --custom-compile-command 'make pins' $$f.in -o $$f.txt; done

kubernetes: ## the pool on a real Kubernetes cluster, whose programs are built first (Go, 10 minutes of CPU, once)
	$(VENV)/python -m tests.plugins.cluster.kubernetes.binaries
	DUET_TEST_KUBERNETES=1 $(PYTEST) -r aR tests/plugins/cluster/test_kubernetes_cluster.py tests/plugins/cluster/test_kubernetes_trouble.py
	DUET_TEST_KUBERNETES=1 $(PYTEST) -r aR tests/plugins/cluster/test_kubernetes_run.py

image: ## the container image by buildah, without Docker: localhost/kernel-duet (some minutes)
	@packaging/image.sh build

image-test: ## build the image, start it without any right, and ask for its page
	@packaging/image.sh test

fresh: ## what a new user sees on a bare SUITE (trixie, bookworm): make run, a live lesson, a tried patch, PARTS of the tests; as root
	@packaging/fresh.sh $(SUITE)

clean: ## remove what set-up made in the checkout (not the kernel cache)
	rm -rf .venv .venv-docs .venv-hub .setup-stamps build/docs frontend/node_modules frontend/dist
