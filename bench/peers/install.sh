# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034  # who sources this uses what it sets
# Installs the peers and what they read, under build/peers. Source it in the root, after tools/lib.sh.

peers_folder=bench/peers
out=build/peers
# The source package brings all of llama.cpp: its converter, llama-bench and its server, too.
llama_cpp_python=llama-cpp-python==0.3.36
export PEERS_LLAMA_CPP=$llama_cpp_python
source=$out/$(tr - _ <<<"${llama_cpp_python%%==*}")-${llama_cpp_python##*==}/vendor/llama.cpp

# venv NAME REQUIREMENTS [PIP OPTION...]: sets `python`. That of parity/whole_model is as good.
venv() {
  local name=$1 requirements=$2 folder
  for folder in "build/whole_model/venv-$name" "$out/venv-$name"; do
    python=$folder/bin/python
    cmp -s "$requirements" "$folder/requirements.txt" && return
  done
  say "making $folder"
  rm -rf "$folder"
  python3 -m venv "$folder" &&
    "$folder/bin/pip" install -q "${@:3}" -r "$requirements" &&
    cp "$requirements" "$folder/requirements.txt"
}

# What PyTorch's and vLLM's guides for CPUs advise: without it every large tensor is fresh pages.
need_tcmalloc() {
  need_packages libtcmalloc-minimal4
  PEERS_PRELOAD=${PEERS_PRELOAD-$(dpkg-query -L libtcmalloc-minimal4 | grep 'libtcmalloc_minimal.so.4$')}
  export PEERS_PRELOAD
}

fetch_llama_cpp() {
  [[ ! -e $source/CMakeLists.txt ]] || return 0
  say "fetching $llama_cpp_python"
  "$PEERS_PYTHON_TRANSFORMERS" -m pip download -q --no-deps --no-binary llama-cpp-python \
    -d "$out/download" "$llama_cpp_python"
  tar -xzf "$out"/download/llama_cpp_python-*.tar.gz -C "$out"
}

# configure_llama_cpp NAME [CMAKE OPTION...]: in build/peers/NAME.
configure_llama_cpp() {
  local folder=$out/$1
  # Neither our own commit taken for llama.cpp's, nor a web interface fetched.
  GIT_CEILING_DIRECTORIES=$PWD/$out GIT_DIR=$PWD/$out/no-git cmake -S "$source" -B "$folder" \
    -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DLLAMA_BUILD_TESTS=OFF \
    -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF \
    -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF "${@:2}" >"$folder.cmake.log" 2>&1 ||
    fail "cannot configure llama.cpp: see $folder.cmake.log"
}

# build_llama_cpp NAME TARGET
build_llama_cpp() {
  cmake --build "$out/$1" --target "$2" -j "$(max_jobs 1500)" >"$out/$1.build.log" 2>&1 ||
    fail "cannot build llama.cpp: see $out/$1.build.log"
}

# llama_cpp NAME [CMAKE OPTION...]: llama-bench and our two programs in build/peers/NAME/bin.
llama_cpp() {
  local folder=$out/$1 name
  configure_llama_cpp "$@"
  build_llama_cpp "$1" llama-bench
  for name in op_ggml top_llama; do
    cc -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -o "$folder/bin/$name" "$peers_folder/$name.c" \
      -I"$source/include" -I"$source/ggml/include" -L"$folder/bin" -Wl,-rpath,"$PWD/$folder/bin" \
      -lllama -lggml -lggml-cpu -lggml-base
  done
}

make_checkpoint() {
  [[ ! -e $out/checkpoint/model.safetensors ]] || return 0
  say "making a checkpoint of random weights"
  build/gdn-make-checkpoint --config tools/make_checkpoint/configs/qwen3_5_0.8b.json --dtype bf16 \
    --seed 1 --tokenizer models/tiny --out "$out/checkpoint"
}

make_gguf() {
  [[ ! -e $out/bf16.gguf ]] || return 0
  say "converting it for llama.cpp"
  "$PEERS_PYTHON_TRANSFORMERS" "$peers_folder/make_gguf.py" "$source" "$out/checkpoint" \
    "$out/part.gguf" 2>"$out/convert.log" || fail "cannot convert: see $out/convert.log"
  mv "$out/part.gguf" "$out/bf16.gguf"
}
