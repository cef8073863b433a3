# No logic here: scripts/setup finds or installs what a build needs, CMakePresets.json says what is built and how.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
unexport MAKEFLAGS  # ninja takes all cores by itself; in make's -j it would look for a jobserver
configure := .venv/bin/cmake --preset default >/dev/null  # warnings and errors come on stderr
build := .venv/bin/cmake --build --preset

.PHONY: demo test bench format clean lab

demo: lab
	@build/inlay demo

bench: lab
	@build/inlay bench transpose

test:
	@scripts/setup toolkit
	@$(configure)
	@$(build) default
	@scripts/test

lab:
	@scripts/setup
	@$(configure)
	@$(build) demo

format:
	@scripts/format

clean:
	rm -rf build
