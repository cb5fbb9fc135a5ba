# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What ./quickstart, ./test and tools/ share: the package lists and a few functions. Source it.

# Debian 12 names.
# shellcheck disable=SC2034  # used by those who source this
PACKAGES_BUILD=(g++ cmake ninja-build pkg-config ccache libhwy-dev nlohmann-json3-dev libcli11-dev
  libpcre2-dev libutf8proc-dev libvulkan-dev glslc libboost-dev prometheus-cpp-dev)
# The last two: a Vulkan driver that runs on the CPU, and the layer that checks how it is used.
# shellcheck disable=SC2034
PACKAGES_TEST=(libgtest-dev libgmock-dev python3 mesa-vulkan-drivers vulkan-validationlayers)
# From chromium on: for the server's page and clients (tests/server).
# shellcheck disable=SC2034
PACKAGES_TEST_ALL=(clang clang-tidy clang-format libclang-rt-14-dev chromium chromium-driver
  fonts-dejavu-core python3-selenium python3-venv)
# shellcheck disable=SC2034
PACKAGES_TEST_NEON=(g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user libhwy-dev:arm64
  libgtest-dev:arm64 libgmock-dev:arm64 libpcre2-dev:arm64 libutf8proc-dev:arm64)
# hipcc and what it compiles with, for the kernels of AMD's GPUs.
# shellcheck disable=SC2034
PACKAGES_TEST_ROCM=(hipcc libamdhip64-dev rocm-device-libs llvm-15)

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# missing_packages NAME...: those that dpkg does not have installed, one a line.
missing_packages() {
  local package status
  for package in "$@"; do
    # Of a package for several architectures there is a word for each.
    status=$(dpkg-query -W -f ' ${db:Status-Status}' "$package" 2>/dev/null) || true
    if [[ $status != *" installed"* ]]; then
      printf '%s\n' "$package"
    fi
  done
}

# need_packages NAME...: installs what is missing; without the means to, says what and stops.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: taking it on trust that these are there: $*"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if [[ ${#missing[@]} -eq 0 ]]; then
    say "all ${#} packages are there"
    return
  fi
  local by_hand="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  local as_root=()
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null ||
      fail "packages are missing, and there is no sudo to install them. As root: $by_hand"
    as_root=(sudo)
    [[ -t 0 ]] || as_root=(sudo -n) # nobody is there to type a password
  fi
  command -v apt-get >/dev/null || fail "packages are missing, and there is no apt-get: ${missing[*]}"
  if [[ " ${missing[*]}" == *:arm64* ]]; then
    "${as_root[@]}" dpkg --add-architecture arm64
  fi
  say "installing with apt-get: ${missing[*]}"
  if ! "${as_root[@]}" apt-get update -q ||
    ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -q --no-install-recommends "${missing[@]}"; then
    fail "apt-get did not install the packages. By hand, as root: $by_hand"
  fi
}

# find_nvcc: the path of CUDA's compiler, which is used where it is found and never installed.
find_nvcc() {
  command -v nvcc && return
  local path
  for path in /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc /usr/lib/nvidia-cuda-toolkit/bin/nvcc; do
    if [[ -x $path ]]; then
      printf '%s\n' "$path"
      return
    fi
  done
  return 1
}

# max_jobs MIB: parallel jobs that take MIB of memory each: as many as there are cores and room for.
max_jobs() {
  local cores memory_mib limit jobs
  cores=$(nproc)
  memory_mib=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  if [[ -r /sys/fs/cgroup/memory.max ]] && read -r limit </sys/fs/cgroup/memory.max &&
    [[ $limit != max ]] && ((limit / 1048576 < memory_mib)); then
    memory_mib=$((limit / 1048576))
  fi
  jobs=$((memory_mib / $1))
  ((jobs > cores)) && jobs=$cores
  ((jobs < 1)) && jobs=1
  printf '%d\n' "$jobs"
}
