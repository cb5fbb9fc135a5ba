// SPDX-License-Identifier: Apache-2.0
// usage: top_llama GGUF THREADS ID...: the five largest logits after a prompt, by llama.cpp.
#include <stdio.h>
#include <stdlib.h>

#include "llama.h"

enum { kTop = 5 };

static void Fail(const char* what) {
  fprintf(stderr, "error: top_llama: %s\n", what);
  exit(1);
}

static void PrintTop(const float* logits, int vocab) {
  int top[kTop], count = 0;
  for (int id = 0; id < vocab; ++id) {
    int at = count;
    while (at > 0 && logits[id] > logits[top[at - 1]]) --at;
    if (at == kTop) continue;
    if (count < kTop) ++count;
    for (int i = count - 1; i > at; --i) top[i] = top[i - 1];
    top[at] = id;
  }
  printf("{\"top\": [");
  for (int i = 0; i < count; ++i)
    printf("%s[%d, %.6f]", i == 0 ? "" : ", ", top[i], (double)logits[top[i]]);
  printf("]}\n");
}

int main(int argc, char** argv) {
  if (argc < 4) Fail("want GGUF THREADS ID...");
  const int tokens = argc - 3;
  llama_token* ids = malloc((size_t)tokens * sizeof(llama_token));
  for (int i = 0; i < tokens; ++i) ids[i] = atoi(argv[3 + i]);

  struct llama_model* model = llama_model_load_from_file(argv[1], llama_model_default_params());
  if (model == NULL) Fail("cannot load the model");
  struct llama_context_params params = llama_context_default_params();
  params.n_ctx = 512;
  params.n_threads = params.n_threads_batch = atoi(argv[2]);
  struct llama_context* context = llama_init_from_model(model, params);
  if (context == NULL) Fail("cannot make a context");
  if (llama_decode(context, llama_batch_get_one(ids, tokens)) != 0) Fail("cannot decode");
  PrintTop(llama_get_logits_ith(context, -1), llama_vocab_n_tokens(llama_model_get_vocab(model)));
  llama_free(context);
  llama_model_free(model);
  free(ids);
  return 0;
}
