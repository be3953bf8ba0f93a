# One word per habit. `make` alone lists them.
STACK ?= local
CACHE ?= 0
COLD ?= 0
SDK ?= all
RUN ?= status
KIT ?= $(HOME)/plumbline-recovery-kit
INTO ?= $(HOME)/plumbline-recovered
POINT ?= latest-verified
DESTROY ?= no
WORKLOAD ?= list
FOR ?= 30m
BOARDS ?= yes
STEP ?= all
ALERT ?= none
WINDOW ?= 60s
SINCE ?= usual
PLUMBLINE := bin/plumbline

.DEFAULT_GOAL := help
.PHONY: help up down clean status smoke prove preview sdk-regression recovery recovery-secrets drill debug-logs evidence alert-review check test bench env programs lock golden

help: ## list these words
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

up: ## deploy STACK (default local: a cluster on this machine) and prove it; the exit code is the verdict
	@$(PLUMBLINE) up --stack $(STACK)

down: ## stop the embedded cluster; its data stays, `make up` resumes
	@$(PLUMBLINE) down --stack $(STACK)

clean: ## delete the embedded cluster's state after naming it; CACHE=1 deletes the caches too
	@$(PLUMBLINE) clean --stack $(STACK) --cache $(CACHE)

status: ## what runs, how much room is left, the last verdict
	@$(PLUMBLINE) status --stack $(STACK)

smoke: ## run the checks that change nothing; writes .out/$(STACK)/report.{html,md,json,xml}
	@$(PLUMBLINE) smoke --stack $(STACK)

prove: ## smoke plus the checks that kill pods; refused on durable stacks
	@$(PLUMBLINE) prove --stack $(STACK)

preview: ## what `make up` would change on STACK
	@$(PLUMBLINE) preview --stack $(STACK)

sdk-regression: ## play every scenario of smoke/sdk_matrix.toml with every SDK, or SDK=0.8.4, against STACK
	@$(PLUMBLINE) sdk-regression --stack $(STACK) --sdk $(SDK)

recovery: ## RUN='create', 'verify --latest', 'list', 'restore …': restore points of STACK, in its cluster
	@$(PLUMBLINE) recovery --stack $(STACK) -- $(RUN)

recovery-secrets: ## without a cluster: open the secrets of POINT (default: the last verified) with what KIT holds, INTO a directory
	@$(PLUMBLINE) recovery-secrets --kit $(KIT) --into $(INTO) --point $(POINT)

drill: ## restore a point into a stack of its own, compare, time it; DESTROY=yes destroys SwanLab of STACK first
	@$(PLUMBLINE) drill --stack $(STACK) --destroy $(DESTROY)

debug-logs: ## keep what WORKLOAD=namespace/name logs below the lowest level FOR=30m, it ends by itself; FOR=0 ends it now; alone: list
	@$(PLUMBLINE) debug-logs --stack $(STACK) --workload $(WORKLOAD) --for $(FOR)

# RUN is that of `make recovery` elsewhere, and has another default there.
evidence: RUN = none
evidence: ## what hit a training RUN=id in STEP=n (alone: over its life), or which runs ALERT=name hit; WINDOW=60s, SINCE=24h
	@$(PLUMBLINE) evidence --stack $(STACK) --run $(RUN) --step $(STEP) --alert $(ALERT) --window $(WINDOW) --since $(SINCE)

alert-review: ## which alerts never fired, flap, or end before anybody must answer; SINCE=30d
	@$(PLUMBLINE) alert-review --stack $(STACK) --since $(SINCE)

check: ## lint, types and offline tests; no root, no cluster
	@$(PLUMBLINE) check

test: ## lint, types, live tests on an embedded cluster of their own, offline tests beside the second half of them
	@$(PLUMBLINE) test

bench: ## times per stage beside their aims, SwanLab beside its stores; ONLY=signals, recovery, telemetry instead; COLD=1 an empty cache too (30 minutes)
	@$(PLUMBLINE) bench --cold $(COLD)

env: ## print the line that puts bin/ on PATH: eval "$(make env)"
	@$(PLUMBLINE) env

programs: ## build the pinned programs into the cache
	@$(PLUMBLINE) programs

lock: ## compile requirements.lock from pyproject.toml
	@$(PLUMBLINE) lock

golden: ## write golden manifests and reference pages anew; look at the difference before you commit it
	@$(PLUMBLINE) golden
