# Rushlight's commands. `make demo` and `make test` need nothing but a Debian or Ubuntu machine; `make help` lists the others.
SHELL := /bin/sh
export PATH := $(if $(CARGO_HOME),$(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
# A single target folder; CMake's cargo driver and Maven take the libraries from here.
export CARGO_TARGET_DIR := $(CURDIR)/target

PREFIX ?= /usr/local
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
JOBS ?= $(shell nproc)
CMAKE_BUILD := build/cmake
# One command at a time in that folder: `make test` builds there in the background.
ALONE := flock build/cmake.lock
INSTALL_BUILD := build/package
COMPARE_BUILD := build/compare
JAR := java/target/rushlight-$(VERSION).jar
PYTORCH_JAR := java/pytorch/target/rushlight-pytorch-$(VERSION).jar
KOTLIN_JAR := java/kotlin/target/rushlight-kotlin-$(VERSION).jar
MAVEN := mvn -q -f java/reactor.xml -Drushlight.native.dir=$(CARGO_TARGET_DIR)/release
RELEASE_BUILDS := build/release
PLATFORM := linux-$(shell uname -m)
ARM64_BUILD := $(filter-out $(RELEASE_BUILDS)/$(PLATFORM),$(wildcard $(RELEASE_BUILDS)/linux-aarch64))
LIBRARY := target/release/librushlight.so

# No target is a file.
.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))
.NOTPARALLEL:
.DEFAULT_GOAL := help

help: ## lists the commands
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

# ---- Building ----

setup: ## installs, or lists, the prerequisites of the other commands
	@cmake/setup.sh all

setup-native:
	@cmake/setup.sh native

setup-java:
	@cmake/setup.sh java

build: setup-native ## the native library and the tool: target/release/librushlight.{so,a}, target/release/rushlight
	@# One command for both, like CMake's driver: building the tool alone, with its features, would rebuild parts of the library.
	cargo build --release --locked -p rushlight-capi -p rushlight-cli

# With the packages of `build`: the features of the crates are the same, and they are not built again.
runners: build
	@cargo build -q --release --locked -p rushlight-capi -p rushlight-cli -p rushlight-conformance

configure: setup build
	@mkdir -p build
	@$(ALONE) cmake -S . -B $(CMAKE_BUILD) -DRUSHLIGHT_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Debug >build/cmake.log 2>&1 || { cat build/cmake.log; exit 1; }

cmake: configure
	$(ALONE) cmake --build $(CMAKE_BUILD) -j $(JOBS)

jar: setup-java build generate ## the Java library with the native one inside
	$(MAVEN) -DskipTests package

# The library for ARM64, if `make arm64` has built it.
ARM64 := $(wildcard build/release/linux-aarch64/lib/librushlight.so)

jars: setup-java build generate ## the jars that are published: with the library, classes alone, a library for each platform, sources, javadoc
	$(MAVEN) -DskipTests -P publish $(if $(ARM64),-Drushlight.native.dir.aarch64=$(abspath $(dir $(ARM64)))) package
	@ls -l java/target/*.jar java/pytorch/target/*.jar java/kotlin/target/*.jar

# ---- The two commands of the README ----

demo: configure jar ## trains a convolutional network on handwritten digits from C, C++ and Java and compares with PyTorch
	$(ALONE) cmake --build $(CMAKE_BUILD) --target digits -j $(JOBS)
	@examples/digits/run.sh $(CMAKE_BUILD)/examples $(JAR) out/digits
	@cargo run -q --locked -p rushlight-checks --no-default-features --bin demo-check -- tests/data/digits_reference out/digits

# The library and the C and C++ tests are compiled in the background while the lints and the Rust tests run, which use
# another profile of Cargo. A stage that needs them waits for the locks of Cargo and of $(CMAKE_BUILD).
STAGES := check test-rust test-native test-java test-soak examples demo test-install docs-test valgrind

test: setup ## all checks and tests, in stages whose times are printed at the end
	@tests/stages.sh --ahead 'make cmake' $(STAGES)
	@echo "make test: all passed"

test-quick: setup ## before a commit, in minutes if everything was built before: lints, generated files, unit tests, some C and C++ tests
	@tests/stages.sh headers-check notices-check format lint test-unit test-native-quick

begin-%:
	@tests/stages.sh --begin $*

end-%: %
	@tests/stages.sh --end $*

# ---- Parts of `make test` ----

# The kernels, and crates that contain them, are tested in the profile of the library: Cargo builds it once for all tests. So is
# the interpreter of CUDA's kernels, which is slow without optimization. The others are tested in the profile `dev`, which checks
# integers for overflow; the fuzzers check them in every crate. So do the unit tests inside the released crates
# (tests/unit_rustc.sh).
WITH_KERNELS = $(shell cargo tree -q --locked --workspace -i rushlight-cpu -e normal,build --prefix none -f '{p}' | sed 's/ .*//' | sort -u)
RELEASED = fakecuda $(WITH_KERNELS)
TEST_RELEASED = RUSTC_WRAPPER=$(CURDIR)/tests/unit_rustc.sh cargo test -q --locked --release $(RELEASED:%=-p %)
TEST_OTHERS = cargo test -q --locked --workspace $(RELEASED:%=--exclude %)

# The sets of instructions below the widest one of this processor, at which all tests of the kernels run.
LOWER_LEVELS = portable $(if $(shell grep -m 1 -o avx512f /proc/cpuinfo),avx2)

# The golden cases, their properties and random calls run through the shipped library.
test-rust: build
	@tests/same_features.sh $(RELEASED)
	status=0; \
	RUSHLIGHT_LIBRARY=$(CURDIR)/$(LIBRARY) $(TEST_RELEASED) --no-fail-fast || status=1; \
	$(TEST_OTHERS) --no-fail-fast || status=1; exit $$status
	@program=$$($(TEST_RELEASED:-q=) --lib --no-run 2>&1 | sed -n 's/.*(\(.*rushlight_cpu-[^)]*\))/\1/p') && test -n "$$program" && \
	  for level in $(LOWER_LEVELS); do RUSHLIGHT_SIMD=$$level "$$program" -q || exit 1; done

test-checked: setup ## all tests of Rust with checks of integers for overflow
	cargo test -q --locked --workspace --no-fail-fast

test-unit: build
	$(TEST_RELEASED) --lib --bins
	$(TEST_OTHERS) --lib --bins

operators: setup ## which of PyTorch's operators there are, by family, and why others are missing; MISSING=1 names them
	@cargo run -q --locked -p rushlight-generate -- --coverage $(if $(MISSING),--missing)

conformance: runners ## GOLDEN=dir: every recorded case of a folder, by name through the library; OP=name JSON=1 PROPERTIES=1
	@test -e "$(GOLDEN)" || { echo "GOLDEN=dir is needed: a folder of golden files (tests/data/golden.md)" >&2; exit 1; }
	@target/release/conformance --library $(LIBRARY) $(if $(OP),--op '$(OP)') $(if $(JSON),--json) \
	  $(if $(PROPERTIES),--properties) '$(GOLDEN)'

zoo: runners ## DIR=dir: runs every saved model of a folder through the C functions and compares with PyTorch's results; ONLY=part of a name COMPILED=1
	@test -d "$(DIR)" || { echo "DIR=dir is needed: an unpacked zoo, a folder for each model" >&2; exit 1; }
	@target/release/zoo --library $(LIBRARY) $(if $(COMPILED),--compiled) $(if $(ONLY),--only '$(ONLY)') '$(DIR)'

zoo-saved: runners ## DIR=dir PYTHON=file: loads every saved model of a folder, saves it and runs the file in PyTorch 2.7.1 and here; ONLY=part of a name
	@test -d "$(DIR)" || { echo "DIR=dir is needed: an unpacked zoo, a folder for each model" >&2; exit 1; }
	@test -n "$(PYTHON)" || { echo "PYTHON=file is needed: a Python with PyTorch 2.7.1" >&2; exit 1; }
	@rm -rf build/zoo-saved
	'$(PYTHON)' tests/oracle/script_saved.py --library $(LIBRARY) --out build/zoo-saved $(if $(ONLY),--only '$(ONLY)') '$(DIR)'
	@target/release/zoo --library $(LIBRARY) build/zoo-saved

fuzz-calls: runners ## N=100000 SEED=1 OP=name: random calls of every operator; each must succeed or return an error
	@target/release/fuzz-calls --library $(LIBRARY) --calls $(or $(N),100000) \
	  --seed $(or $(SEED),1) $(if $(OP),--op '$(OP)')

fuzz-torch: runners ## PYTHON=file CALLS=10000 SEED=1 OP=name: random calls compared with PyTorch 2.7.1 (tests/oracle/README.md), minimised
	@test -n "$(PYTHON)" || { echo "PYTHON=file is needed: a Python with PyTorch 2.7.1" >&2; exit 1; }
	@cargo run -q --locked -p rushlight-generate -- --build --out build/schemas >/dev/null
	'$(PYTHON)' tests/oracle/fuzz_torch.py --schemas build/schemas/schema.json --runner target/release/conformance --library $(LIBRARY) \
	  --calls $(or $(CALLS),10000) --seed $(or $(SEED),1) $(if $(OP),--op '$(OP)')

test-arm64: setup ## rushlight-base and rushlight-cpu on an emulated ARM64 processor
	@tests/arm64/run.sh

arm64: setup ## both libraries and the tool for arm64 Linux, tested on an emulated processor: build/release/linux-aarch64
	@tests/arm64/libraries.sh build/release/linux-aarch64

portable: setup ## both libraries for glibc 2.17 and for musl, tested: build/portable; PLATFORMS="x86_64-gnu x86_64-musl aarch64-gnu aarch64-musl"
	@cmake/portable/build.sh $(or $(PLATFORMS),x86_64-gnu x86_64-musl)

portable-test: setup ## tests what `make portable` has built, with the golden cases, on an emulated processor if needed; PLATFORMS=...
	@cmake/portable/test.sh $(PLATFORMS)

windows: setup ## both libraries for Windows on x86-64, tested in Wine: build/windows/sdk
	@cmake/windows/build.sh

windows-test: setup ## tests what `make windows` has built, with the digits programs and the golden cases, in Wine
	@cmake/windows/test.sh

test-native: cmake
	cargo run -q --locked -p rushlight-checks --no-default-features --bin instructions -- $(LIBRARY)
	ctest --test-dir $(CMAKE_BUILD) --output-on-failure -j $(JOBS)

QUICK_C := errors by_name autograd hooks memory files chapters
null :=
space := $(null) $(null)

test-native-quick: configure
	$(ALONE) cmake --build $(CMAKE_BUILD) --target cpp_tests $(QUICK_C:%=c_%) -j $(JOBS)
	ctest --test-dir $(CMAKE_BUILD) --output-on-failure -j $(JOBS) -R '^(cpp_tests|c/($(subst $(space),|,$(QUICK_C))))$$'

pytorch-cpp-tests: build ## SOURCES=dir: PyTorch's own tests of its C++ API, from a checkout of PyTorch; ONLY=file.cpp
	@test -d "$(SOURCES)/test/cpp/api" || { echo "SOURCES=dir is needed: a checkout of PyTorch 2.6.0" >&2; exit 1; }
	@python3 tests/cpp/pytorch_tests.py '$(SOURCES)' --cxxflags '-isystem include -isystem cpp-frontend/include' --library $(LIBRARY) \
	  --expected docs/pytorch-cpp-tests.md $(if $(ONLY),--only '$(ONLY)')

pytorch-java-tests: jar ## SOURCES=dir PYTHON=file: PyTorch's own tests of its Java API, from a checkout of PyTorch; its models by PyTorch 2.7.1
	@test -d "$(SOURCES)/android/pytorch_android" || { echo "SOURCES=dir is needed: a checkout of PyTorch 2.6.0" >&2; exit 1; }
	@test -n "$(PYTHON)" || { echo "PYTHON=file is needed: a Python with PyTorch 2.7.1 and torchvision" >&2; exit 1; }
	'$(PYTHON)' -W ignore tests/oracle/mobile_models.py '$(SOURCES)/test/mobile/model_test' build/mobile
	@tests/java-pytorch/run.sh '$(SOURCES)' build/mobile $(JAR) $(PYTORCH_JAR) build/java-pytorch

test-java: setup-java build generate
	$(MAVEN) -P publish verify
	@tests/jars/run.sh $(JAR:.jar=) $(PYTORCH_JAR:.jar=) build/jars

examples: cmake jar ## runs the short examples; that in C# if there is a C# compiler
	@examples/hello/run.sh $(CMAKE_BUILD)/examples $(JAR)
	@tests/csharp/run.sh build/generated $(dir $(LIBRARY))

test-install: ## installs into a folder and uses the installation as an external project would
	@$(MAKE) --no-print-directory install PREFIX=build/prefix >/dev/null
	@tests/install/run.sh build/prefix build/install

docs-test: ## runs the code of the documents with the installation of test-install; PYTHON=file: a Python with PyTorch; PAGE=file.md
	@cargo run -q --locked -p rushlight-checks --no-default-features --features documents --bin documents -- run build/prefix build/docs $(PAGE)

check: setup headers-check notices-check format lint ## formatting, lints, generated files
	cargo clippy -q --locked -p rushlight-capi -p rushlight --no-default-features --features rushlight-capi/minimal -- -D warnings

format: setup
	cargo fmt --all --check

lint: setup
	cargo clippy -q --locked --workspace --all-targets -- -D warnings

features: setup ## every family of operators compiles alone with what it needs, and the set `inference`
	cargo clippy -q --locked -p rushlight-capi --no-default-features --features inference,foreign-allocator -- -D warnings
	@for family in $$(sed -n 's/^\(op-[a-z_]*\) = .*/\1/p' core/tensor/Cargo.toml); do echo "$$family"; \
	  cargo clippy -q --locked -p rushlight-capi --no-default-features --features "$$family" -- -D warnings || exit 1; done

generate: setup-native ## writes Java's generated sources, and below build/generated what tests, documents and packages read
	cargo run -q --locked -p rushlight-generate -- --build --java

headers: setup ## writes the headers of C and C++, which are checked in, and the record of the ABI
	cargo run -q --locked -p rushlight-generate -- --headers
	cargo run -q --locked -p rushlight-abi --bin snapshot -- include tests/abi/interface.txt --update

kernels: setup ## compiles the kernels of CUDA devices: core/cuda/ptx. Needs `rustup component add rust-src`
	cargo run -q --release --locked -p rushlight-cuda-pack

check-kernels: setup ## checks that the checked-in kernels are what their source gives
	cargo run -q --release --locked -p rushlight-cuda-pack -- --check

check-cuda: check-cuda-ptx check-cuda-bits ## what can be proven of CUDA's kernels without a GPU: the two targets below

check-cuda-ptx: setup ## ARCHS="75 80 86 90 120" JOBS=n: assembles every kernel with NVIDIA's ptxas, which it gets from PyPI; registers, spills
	@ptxas=$$(tests/cuda/ptxas.sh) && cargo run -q --release --locked -p rushlight-cuda-pack --bin assemble-kernels -- \
	  --ptxas "$$ptxas" --jobs $(JOBS) $(if $(ARCHS),--archs '$(ARCHS)')

check-cuda-bits: runners ## SEED=1 OP=name: every element-wise operator on the driver of tests/fakecuda has the bits of the CPU at AVX2
	@cargo build -q --release --locked -p fakecuda -p rushlight-capi -p rushlight-cli -p rushlight-conformance
	@mkdir -p build/fakecuda
	@for name in libcuda.so libcuda.so.1; do ln -sf $(CARGO_TARGET_DIR)/release/libfakecuda.so build/fakecuda/$$name; done
	@LD_LIBRARY_PATH=build/fakecuda RUSHLIGHT_KERNELS=core/cuda/ptx RUSHLIGHT_SIMD=avx2 target/release/device-bits --library $(LIBRARY) \
	  $(if $(SEED),--seed $(SEED)) $(if $(OP),--op '$(OP)')

headers-check: setup ## checks that the checked-in headers are up to date
	cargo run -q --locked -p rushlight-generate -- --check

notices: setup ## writes THIRD_PARTY_NOTICES.md
	cargo run -q --locked -p rushlight-checks --no-default-features --bin notices

notices-check: setup
	cargo run -q --locked -p rushlight-checks --no-default-features --bin notices -- --check

DENY := $(CARGO_TARGET_DIR)/tools/bin/cargo-deny

$(DENY):
	env -u CARGO_TARGET_DIR cargo install -q cargo-deny --version 0.20.2 --locked --root $(CARGO_TARGET_DIR)/tools

deny: setup $(DENY) ## licences, duplicates and sources of all crates against deny.toml; not in `make test`: the tool takes minutes to compile
	$(DENY) --locked check -D unnecessary-skip -D unmatched-skip licenses bans sources

test-soak: jar
	java -cp $(JAR) tests/soak/Soak.java 200000 0 64

valgrind: cmake ## the C demo program and the C tests under valgrind
	valgrind -q --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite $(CMAKE_BUILD)/examples/hello_c
	@tests/c/valgrind.sh $(CMAKE_BUILD)/tests/c

# ---- Long-running tests (docs/RELIABILITY.md) ----

fuzz: setup ## TIME=600 READERS="pt npz": fuzzes every reader for TIME seconds each; needs a nightly compiler
	@tests/fuzz/run.sh $(or $(TIME),600) build/fuzz $(READERS)

soak: cmake jar ## MINUTES=1 THREADS=64 N=10000000: concurrent training from C and Java, a loaded module, unclosed temporaries
	@$(CMAKE_BUILD)/tests/c/c_soak $(or $(MINUTES),1) $(or $(THREADS),64)
	@$(CMAKE_BUILD)/tests/c/c_module_soak tests/data/script/classifier.pt $(or $(MINUTES),1) $(or $(THREADS),64)
	@java -cp $(JAR) tests/soak/Soak.java $(or $(N),10000000) $(or $(MINUTES),1) $(or $(THREADS),64)

sanitize: setup ## the C and C++ tests under AddressSanitizer, LeakSanitizer and ThreadSanitizer; needs clang and a nightly compiler
	@tests/sanitize/run.sh address build/asan
	@tests/sanitize/run.sh thread build/tsan

# ---- Measuring ----

bench: cmake ## overhead, start-up, memory, compile time
	@bench/run.sh $(CMAKE_BUILD)/bench include cpp-frontend/include

bench-first: cmake ## MODEL=file SIZES="1 3 224 224": the time from a process start to the first result of a saved model, and where it goes
	@test -f "$(MODEL)" || { echo "MODEL=file is needed: a saved model" >&2; exit 1; }
	@bench/first_result.sh $(CMAKE_BUILD)/bench '$(MODEL)' $(SIZES)

bench-java: jar ## cost of calls from Java, and memory used by unclosed temporaries
	@java -cp $(JAR) bench/Overhead.java
	@java -cp $(JAR) bench/Temporaries.java

compare-build: setup
	@test -f "$(TORCH)/lib/libtorch_cpu.so" || { echo "TORCH=dir is needed: the folder torch of an installed wheel of PyTorch 2.7.1" >&2; exit 1; }
	@mkdir -p build
	@cmake -S . -B $(COMPARE_BUILD) -DRUSHLIGHT_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Release -DRUSHLIGHT_COMPARE_TORCH=$(abspath $(TORCH)) >build/compare.log 2>&1 || \
	  { cat build/compare.log; exit 1; }
	cmake --build $(COMPARE_BUILD) --target compare_rushlight compare_torch compare_machine -j $(JOBS)
	cargo build -q --release --locked -p rushlight-compare

compare: compare-build ## TORCH=dir: times compared with libtorch's; ONLY=regex ROUNDS=n THREADS=1,2 LIBTORCH_ENV="NAME=value ..." JSON=file RESULTS=file
	@target/release/rushlight-compare run --rushlight $(COMPARE_BUILD)/bench/compare/compare_rushlight \
	  --libtorch $(COMPARE_BUILD)/bench/compare/compare_torch --machine $(COMPARE_BUILD)/bench/compare/compare_machine \
	  $(if $(ONLY),--only '$(ONLY)') $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(THREADS),--threads $(THREADS)) \
	  $(foreach variable,$(LIBTORCH_ENV),--libtorch-env $(variable)) $(if $(JSON),--json '$(JSON)') $(if $(RESULTS),--markdown '$(RESULTS)')

size: jar ## sizes and their limits: shipped artifacts, and small builds by feature set
	@bench/size.sh $(LIBRARY) $(JAR)

# ---- The site ----

MDBOOK := $(CARGO_TARGET_DIR)/tools/bin/mdbook

$(MDBOOK):
	env -u CARGO_TARGET_DIR cargo install -q mdbook --version 0.5.4 --locked --no-default-features --features search --root $(CARGO_TARGET_DIR)/tools

docs: setup $(MDBOOK) ## builds the documents as a site: build/site/index.html
	@rm -rf build/book build/site
	@cargo run -q --locked -p rushlight-checks --no-default-features --features documents --bin documents -- book build/book
	@cargo run -q --release --locked -p rushlight-checks --bin curves -- build/book/docs/operators/curves
	$(MDBOOK) build docs

# ---- Installing ----

install: jars ## installs headers, libraries, CMake and pkg-config files, the jars and the tool `rushlight` below PREFIX
	@cmake -S . -B $(INSTALL_BUILD) >/dev/null
	cmake --build $(INSTALL_BUILD)
	cmake --install $(INSTALL_BUILD) --prefix $(abspath $(PREFIX))
	install -D -m 644 $(JAR) $(abspath $(PREFIX))/share/java/rushlight-$(VERSION).jar
	install -m 644 $(PYTORCH_JAR) $(KOTLIN_JAR) $(abspath $(PREFIX))/share/java
	@# Apart from the others: javac would find the sources among the classes.
	install -d $(abspath $(PREFIX))/share/doc/rushlight
	install -m 644 $(JAR:.jar=-sources.jar) $(JAR:.jar=-javadoc.jar) $(abspath $(PREFIX))/share/doc/rushlight

# Every crate but tests and tools, which have `publish = false`.
CRATES := $(shell grep -L '^publish = false' core/*/Cargo.toml bindings/*/Cargo.toml capi/Cargo.toml)

package: setup ## the Rust crates as they would be published: each is packed and built from its archive, without network access
	@cargo fetch -q --locked
	cargo package -q --offline --locked $(foreach crate,$(CRATES),-p $(shell sed -n 's/^name = "\(.*\)"/\1/p' $(crate) | head -n 1))

# The libraries for this machine's processor in the archives need no newer glibc than the portable ones.
OLD_GLIBC := build/portable/$(shell uname -m)-gnu
OLD_GLIBC_LINKER := CARGO_TARGET_$(shell uname -m | tr a-z A-Z)_UNKNOWN_LINUX_GNU_LINKER=$(CURDIR)/$(OLD_GLIBC)/cc

dist: setup ## creates archives in build/dist: SDKs (arm64's if `make arm64` was run), jars, notices, bill of materials, checksums
	@cmake -S . -B $(RELEASE_BUILDS)/$(PLATFORM) -DRUSHLIGHT_SYMBOLS=apart >/dev/null
	@cmake/portable/libc.sh $(shell uname -m) gnu.2.17 $(OLD_GLIBC)
	@for platform in $(RELEASE_BUILDS)/*; do $(OLD_GLIBC_LINKER) cmake --build $$platform --target rushlight_libraries rushlight_generated || exit 1; done
	@rm -rf build/dist && mkdir -p build/dist
	@cargo run -q --locked -p rushlight-checks --no-default-features --features sbom --bin sbom -- build/dist/rushlight-$(VERSION).cdx.json
	@rm -rf build/native
	@for platform in $(RELEASE_BUILDS)/*; do install -D $$platform/lib/librushlight.so build/native/$$(basename $$platform)/librushlight.so; done
	@# Maven copies a library only if it is newer than the previous one, so the folder is empty before and after.
	mvn -q -f java/reactor.xml clean
	$(MAKE) --no-print-directory generate
	mvn -q -f java/reactor.xml -P publish -DskipTests -Drushlight.native.dir=$(CURDIR)/build/native/$(PLATFORM) \
	  $(if $(ARM64_BUILD),-Drushlight.native.dir.aarch64=$(CURDIR)/build/native/linux-aarch64) package
	@cp java/target/rushlight-$(VERSION)*.jar java/pytorch/target/rushlight-pytorch-$(VERSION)*.jar $(KOTLIN_JAR:.jar=)*.jar build/dist && mvn -q -f java/reactor.xml clean
	@cmake/dist.sh $(VERSION) $(RELEASE_BUILDS) build/dist
	@cp build/dist/SHA256SUMS build/dist.sums && cmake/dist.sh $(VERSION) $(RELEASE_BUILDS) build/dist && cmp build/dist.sums build/dist/SHA256SUMS
	@tests/install/dist.sh build/dist build/dist-test

clean: ## removes everything that was built
	cargo clean
	rm -rf build out java/target java/pytorch/target java/kotlin/target java/scala/target
