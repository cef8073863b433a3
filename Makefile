# No logic here: scripts/setup finds or installs what a build needs, CMakePresets.json says what is built and how.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
unexport MAKEFLAGS  # ninja takes all cores by itself; in make's -j it would look for a jobserver
configure := .venv/bin/cmake >/dev/null --preset  # warnings and errors come on stderr
build := .venv/bin/cmake --build --preset

.PHONY: demo report lab test gpu-code bench format clean

demo:
	@scripts/setup
	@$(configure) default
	@$(build) demo
	@build/inlay-first

report: lab
	@build/inlay report --out build/report.html
	@echo build/report.html

lab:
	@scripts/setup
	@$(configure) default
	@$(build) lab

bench: lab
	@build/inlay bench transpose

test:
	@scripts/setup
	@$(configure) default
	@$(build) default
	@scripts/test

gpu-code:
	@scripts/setup toolkit
	@$(configure) gpu-code
	@$(build) gpu-code
	@scripts/test -L gpu-code

format:
	@scripts/format

clean:
	rm -rf build
