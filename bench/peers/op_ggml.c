// SPDX-License-Identifier: Apache-2.0
// usage: op_ggml INPUTS OUT TOKENS THREADS: llama.cpp's fused gated delta rule.
// INPUTS and OUT are patterns with {} for the number of value heads; answers "gdrHV" on standard
// input as protocol.py says. ggml's value head h reads key head h % KEY_HEADS, ours
// h / (HV / KEY_HEADS): heads are reordered on reading and on writing, outside the time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

enum { kDim = 128, kKeyHeads = 16 };

static void Fail(const char* what) {
  fprintf(stderr, "error: op_ggml: %s\n", what);
  exit(1);
}

static FILE* OpenPattern(const char* pattern, int heads, const char* mode) {
  char path[4096];
  const char* mark = strstr(pattern, "{}");
  if (mark == NULL) Fail("a pattern has no {}");
  snprintf(path, sizeof(path), "%.*s%d%s", (int)(mark - pattern), pattern, heads, mark + 2);
  FILE* file = fopen(path, mode);
  if (file == NULL) Fail(path);
  return file;
}

// Rows [tokens][heads][width] of the file <-> tensor data, whose heads are ggml's if `reorder`.
static void ReadHeads(FILE* file, float* data, int tokens, int heads, int width, int reorder) {
  for (int t = 0; t < tokens; ++t) {
    for (int h = 0; h < heads; ++h) {
      const int group = heads / kKeyHeads;
      const int to = reorder ? (h % group) * kKeyHeads + h / group : h;
      if (fread(data + ((size_t)t * heads + to) * width, sizeof(float), width, file) !=
          (size_t)width)
        Fail("the inputs are short");
    }
  }
}

static void WriteHeads(FILE* file, const float* data, int tokens, int heads) {
  const int group = heads / kKeyHeads;
  for (int t = 0; t < tokens; ++t)
    for (int h = 0; h < heads; ++h) {
      const int from = (h % group) * kKeyHeads + h / group;
      fwrite(data + ((size_t)t * heads + from) * kDim, sizeof(float), kDim, file);
    }
}

typedef struct {
  int heads;
  struct ggml_context* context;
  struct ggml_tensor* out;
  struct ggml_cgraph* graph;
} Op;

static Op MakeOp(const char* inputs, int tokens, int heads) {
  const size_t floats = (size_t)tokens * (2 * kKeyHeads + 2 * heads + 4) * kDim;
  const size_t state_floats = (size_t)4 * heads * kDim * kDim;
  struct ggml_init_params params = {(floats + state_floats) * sizeof(float) + (16 << 20), NULL,
                                    false};
  Op op = {heads, ggml_init(params), NULL, NULL};
  struct ggml_context* c = op.context;
  struct ggml_tensor* q = ggml_new_tensor_4d(c, GGML_TYPE_F32, kDim, kKeyHeads, tokens, 1);
  struct ggml_tensor* k = ggml_new_tensor_4d(c, GGML_TYPE_F32, kDim, kKeyHeads, tokens, 1);
  struct ggml_tensor* v = ggml_new_tensor_4d(c, GGML_TYPE_F32, kDim, heads, tokens, 1);
  struct ggml_tensor* log_decay = ggml_new_tensor_4d(c, GGML_TYPE_F32, 1, heads, tokens, 1);
  struct ggml_tensor* beta = ggml_new_tensor_4d(c, GGML_TYPE_F32, 1, heads, tokens, 1);
  struct ggml_tensor* state = ggml_new_tensor_4d(c, GGML_TYPE_F32, kDim, kDim, heads, 1);
  FILE* file = OpenPattern(inputs, heads, "rb");
  ReadHeads(file, q->data, tokens, kKeyHeads, kDim, 0);
  ReadHeads(file, k->data, tokens, kKeyHeads, kDim, 0);
  ReadHeads(file, v->data, tokens, heads, kDim, 1);
  ReadHeads(file, log_decay->data, tokens, heads, 1, 1);
  ReadHeads(file, beta->data, tokens, heads, 1, 1);
  fclose(file);
  memset(state->data, 0, ggml_nbytes(state));
  op.out = ggml_gated_delta_net(c, q, k, v, log_decay, beta, state, /*K=*/1);
  op.graph = ggml_new_graph(c);
  ggml_build_forward_expand(op.graph, op.out);
  return op;
}

static double Seconds(ggml_backend_t backend, const Op* op) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  if (ggml_backend_graph_compute(backend, op->graph) != GGML_STATUS_SUCCESS) Fail("compute failed");
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

int main(int argc, char** argv) {
  if (argc != 5) Fail("want INPUTS OUT TOKENS THREADS");
  const int tokens = atoi(argv[3]);
  ggml_backend_t backend = ggml_backend_cpu_init();
  ggml_backend_cpu_set_n_threads(backend, atoi(argv[4]));
  printf("{\"versions\": {\"ggml\": \"%s\", \"commit\": \"%s\", \"avx2\": %d, \"avx512\": %d}}\n",
         ggml_version(), ggml_commit(), ggml_cpu_has_avx2(), ggml_cpu_has_avx512());
  fflush(stdout);

  Op op = {0, NULL, NULL, NULL};
  for (int heads; scanf(" gdr%d", &heads) == 1;) {
    if (heads < kKeyHeads || heads % kKeyHeads != 0) Fail("heads are no multiple of the key heads");
    if (heads != op.heads) {
      if (op.context != NULL) ggml_free(op.context);
      op = MakeOp(argv[1], tokens, heads);
      Seconds(backend, &op);  // not counted: touches the memory
      FILE* out = OpenPattern(argv[2], heads, "wb");
      WriteHeads(out, op.out->data, tokens, heads);
      fclose(out);
    }
    printf("{\"seconds\": %.6f}\n", Seconds(backend, &op));
    fflush(stdout);
  }
  return 0;
}
