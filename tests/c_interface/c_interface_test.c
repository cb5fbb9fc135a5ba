// SPDX-License-Identifier: Apache-2.0
// The C interface as a C program sees it. usage: c_interface_test MODEL_DIR CASE
#include <gdn/gdn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxTokens = 512, kMaxText = 8192, kThreads = 6 };

#define CHECK(condition) \
  ((condition) ? (void)0 : Broken(__FILE__, __LINE__, #condition, gdn_last_error()))

static void Broken(const char* file, int line, const char* condition, const char* last_error) {
  fprintf(stderr, "%s:%d: %s does not hold; last error: %s\n", file, line, condition, last_error);
  exit(1);
}

// One completion as it was read.
typedef struct Answer {
  int32_t tokens[kMaxTokens];
  size_t num_tokens;
  char text[kMaxText];
  gdn_finish finish;
} Answer;

static const char* model_dir = NULL;

static gdn_session* Load(int32_t max_sequences) {
  gdn_session* session = NULL;
  gdn_load_params params;
  CHECK(gdn_load_params_init(&params, sizeof(params)) == GDN_OK);
  params.threads = 2;
  params.max_sequences = max_sequences;
  CHECK(gdn_load(model_dir, &params, &session) == GDN_OK);
  CHECK(session != NULL);
  return session;
}

static gdn_request Request(const gdn_session* session, const char* text, int64_t max_new_tokens) {
  gdn_request request;
  CHECK(gdn_request_init(session, &request, sizeof(request)) == GDN_OK);
  request.text = text;
  request.max_new_tokens = max_new_tokens;
  request.ignore_eos = 1;
  return request;
}

static gdn_stream* Submit(gdn_session* session, const gdn_request* request) {
  gdn_stream* stream = NULL;
  CHECK(gdn_submit(session, request, &stream) == GDN_OK);
  CHECK(stream != NULL);
  return stream;
}

static void Add(const gdn_chunk* chunk, Answer* answer) {
  const size_t length = strlen(answer->text);
  CHECK(chunk->struct_size == sizeof(*chunk));
  CHECK(chunk->text[chunk->text_bytes] == '\0');
  CHECK(chunk->reasoning[chunk->reasoning_bytes] == '\0');
  CHECK(answer->finish == GDN_FINISH_NONE);  // nothing comes after the last chunk
  CHECK(length + chunk->text_bytes < kMaxText);
  memcpy(answer->text + length, chunk->text, chunk->text_bytes + 1);
  if (chunk->token >= 0) {
    CHECK(answer->num_tokens < kMaxTokens);
    answer->tokens[answer->num_tokens++] = chunk->token;
  }
  answer->finish = chunk->finish;
}

// Reads the stream to its end; answers has room for each completion.
static void Read(gdn_stream* stream, Answer* answers) {
  const gdn_chunk* chunk = NULL;
  gdn_status status = GDN_OK;
  while ((status = gdn_next(stream, -1, &chunk)) == GDN_OK) Add(chunk, &answers[chunk->completion]);
  CHECK(status == GDN_END);
  CHECK(chunk == NULL);
  CHECK(gdn_next(stream, 0, &chunk) == GDN_END);
}

static void Complete(gdn_session* session, const gdn_request* request, Answer* answer) {
  gdn_stream* stream = Submit(session, request);
  memset(answer, 0, sizeof(*answer));
  Read(stream, answer);
  gdn_stream_free(stream);
}

static int SameAnswer(const Answer* a, const Answer* b) {
  return a->num_tokens == b->num_tokens && a->finish == b->finish &&
         memcmp(a->tokens, b->tokens, a->num_tokens * sizeof(a->tokens[0])) == 0 &&
         strcmp(a->text, b->text) == 0;
}

// ---- Several threads ----

typedef struct Reader {
  gdn_session* session;
  char prompt[32];
  uint64_t seed;
  Answer alone;
  Answer together;
} Reader;

static void* ReadTogether(void* argument) {
  Reader* reader = argument;
  gdn_request request = Request(reader->session, reader->prompt, 40);
  request.seed = reader->seed;
  Complete(reader->session, &request, &reader->together);
  return NULL;
}

// More readers than the session runs at once, and each sees the answer that it gets alone.
static void TestThreads(void) {
  static Reader readers[kThreads];
  pthread_t threads[kThreads];
  gdn_session* session = Load(4);
  for (int i = 0; i < kThreads; ++i) {
    gdn_request request;
    readers[i].session = session;
    readers[i].seed = (uint64_t)i;
    snprintf(readers[i].prompt, sizeof(readers[i].prompt), "In the beginning %d", i);
    request = Request(session, readers[i].prompt, 40);
    request.seed = readers[i].seed;
    Complete(session, &request, &readers[i].alone);
    CHECK(readers[i].alone.num_tokens == 40);
    CHECK(readers[i].alone.finish == GDN_FINISH_LENGTH);
    CHECK(readers[i].alone.text[0] != '\0');
  }
  for (int i = 0; i < kThreads; ++i) {
    CHECK(pthread_create(&threads[i], NULL, ReadTogether, &readers[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(SameAnswer(&readers[i].alone, &readers[i].together));
    CHECK(i == 0 || !SameAnswer(&readers[i].alone, &readers[i - 1].alone));
  }
  gdn_free(session);
}

static void* Cancel(void* stream) {
  CHECK(gdn_cancel(stream) == GDN_OK);
  return NULL;
}

// A stream cancelled from another thread while its reader waits; a neighbour notices nothing.
static void TestCancel(void) {
  static Answer cancelled;
  static Answer neighbour;
  static Answer alone;
  const gdn_chunk* chunk = NULL;
  pthread_t thread = {0};
  gdn_session* session = Load(2);
  const gdn_request longer = Request(session, "It was a dark night", 2000);
  const gdn_request shorter = Request(session, "In the beginning", 30);
  gdn_stream* first = Submit(session, &longer);
  gdn_stream* second = Submit(session, &shorter);
  memset(&cancelled, 0, sizeof(cancelled));
  memset(&neighbour, 0, sizeof(neighbour));
  CHECK(gdn_next(first, -1, &chunk) == GDN_OK);
  Add(chunk, &cancelled);
  CHECK(pthread_create(&thread, NULL, Cancel, first) == 0);
  Read(first, &cancelled);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(cancelled.finish == GDN_FINISH_CANCELLED);
  CHECK(gdn_cancel(first) == GDN_OK);  // of what has ended: nothing
  Read(second, &neighbour);
  CHECK(neighbour.finish == GDN_FINISH_LENGTH);
  Complete(session, &shorter, &alone);
  CHECK(SameAnswer(&alone, &neighbour));
  gdn_stream_free(first);
  gdn_stream_free(second);
  gdn_free(session);
}

// ---- Freeing ----

static void TestFreeOrders(void) {
  static Answer answer;
  gdn_session* session = Load(1);
  const gdn_request request = Request(session, "It was a dark night", 2000);
  gdn_stream* running = Submit(session, &request);
  gdn_stream* waiting = Submit(session, &request);
  gdn_stream* dropped = Submit(session, &request);
  gdn_stream* unread = Submit(session, &request);
  const gdn_chunk* chunk = NULL;
  const int32_t* tokens = NULL;
  size_t num_tokens = 0;
  memset(&answer, 0, sizeof(answer));
  CHECK(gdn_next(running, -1, &chunk) == GDN_OK);
  Add(chunk, &answer);
  CHECK(gdn_next(waiting, 0, &chunk) == GDN_TIMEOUT);
  CHECK(chunk == NULL);
  gdn_stream_free(dropped);
  gdn_free(session);
  Read(running, &answer);
  CHECK(answer.finish == GDN_FINISH_CANCELLED);
  memset(&answer, 0, sizeof(answer));
  Read(waiting, &answer);
  CHECK(answer.finish == GDN_FINISH_CANCELLED);
  CHECK(answer.num_tokens == 0);
  CHECK(gdn_cancel(waiting) == GDN_OK);
  CHECK(gdn_stream_prompt_tokens(unread, &tokens, &num_tokens) == GDN_OK);
  CHECK(num_tokens > 0);
  gdn_stream_free(unread);
  gdn_stream_free(waiting);
  gdn_stream_free(running);
  gdn_free(NULL);
  gdn_stream_free(NULL);
}

// ---- What requests can ask for ----

static void TestRequests(void) {
  static Answer answers[3];
  static Answer again;
  const char* stops[] = {"no such text", " "};
  const gdn_chunk* chunk = NULL;
  gdn_session* session = Load(4);
  gdn_request request = Request(session, "In the beginning", 12);
  gdn_stream* stream = NULL;
  // The checkpoint's own defaults (models/tiny/generation_config.json).
  CHECK(fabsf(request.temperature - 0.8F) < 1e-6F && request.top_k == 40);

  request.num_completions = 3;
  request.seed = 7;
  stream = Submit(session, &request);
  memset(answers, 0, sizeof(answers));
  Read(stream, answers);
  gdn_stream_free(stream);
  request.num_completions = 1;
  request.seed = 9;
  Complete(session, &request, &again);
  CHECK(SameAnswer(&answers[2], &again));

  request.temperature = 0;
  request.log_probs = 1;
  request.num_top_logits = 3;
  stream = Submit(session, &request);
  for (int i = 0; i < 12; ++i) {
    CHECK(gdn_next(stream, -1, &chunk) == GDN_OK);
    CHECK(chunk->num_top_logits == 3);
    CHECK(chunk->top_logits[0].token == chunk->token);
    CHECK(chunk->top_logits[0].logit >= chunk->top_logits[1].logit);
    CHECK(chunk->log_prob < 0 && chunk->log_prob > -20);
    CHECK(chunk->elapsed_ms > 0);
    CHECK(chunk->error[0] == '\0' && chunk->error_status == GDN_OK);
  }
  CHECK(chunk->finish == GDN_FINISH_LENGTH);
  gdn_stream_free(stream);

  // A bias decides every token; a stop text ends before itself.
  {
    const gdn_logit_bias bias = {answers[0].tokens[0], 100};
    request.logit_bias = &bias;
    request.num_logit_bias = 1;
    Complete(session, &request, &again);
    CHECK(again.tokens[0] == bias.token && again.tokens[11] == bias.token);
  }
  request.num_logit_bias = 0;
  request.stop = stops;
  request.num_stop = 2;
  request.max_new_tokens = 200;
  Complete(session, &request, &again);
  CHECK(again.finish == GDN_FINISH_STOP);
  CHECK(strchr(again.text, ' ') == NULL);
  gdn_free(session);
}

// A prompt as text and as the ids of that text, and one that is remembered.
static void TestTokens(void) {
  static Answer from_text;
  static Answer from_tokens;
  int32_t tokens[kMaxTokens];
  char text[kMaxText];
  char prompt[2000] = "";
  size_t num_tokens = 0;
  size_t text_bytes = 0;
  gdn_stats stats;
  gdn_session* session = Load(2);
  gdn_request request;
  while (strlen(prompt) < 900) strcat(prompt, "In the beginning was the word. ");
  request = Request(session, prompt, 20);
  CHECK(gdn_tokenize(session, prompt, GDN_NUL_TERMINATED, 0, NULL, 0, &num_tokens) == GDN_OK);
  CHECK(num_tokens > 128 && num_tokens < kMaxTokens);
  memset(tokens, 0xff, sizeof(tokens));
  CHECK(gdn_tokenize(session, prompt, strlen(prompt), 0, tokens, 3, &num_tokens) == GDN_OK);
  CHECK(tokens[2] >= 0 && tokens[3] == -1);
  CHECK(gdn_tokenize(session, prompt, strlen(prompt), 0, tokens, kMaxTokens, &num_tokens) ==
        GDN_OK);
  CHECK(gdn_detokenize(session, tokens, num_tokens, 1, text, sizeof(text), &text_bytes) == GDN_OK);
  CHECK(strcmp(text, prompt) == 0 && text_bytes == strlen(prompt));
  CHECK(gdn_detokenize(session, tokens, num_tokens, 1, text, 5, &text_bytes) == GDN_OK);
  CHECK(strcmp(text, "In t") == 0 && text_bytes == strlen(prompt));
  CHECK(gdn_detokenize(session, tokens, num_tokens, 1, NULL, 0, &text_bytes) == GDN_OK);

  Complete(session, &request, &from_text);
  request.text = NULL;
  request.tokens = tokens;
  request.num_tokens = num_tokens;
  Complete(session, &request, &from_tokens);
  CHECK(SameAnswer(&from_text, &from_tokens));
  stats.struct_size = sizeof(stats);
  do {  // the count of the last token may come after its chunk
    CHECK(gdn_get_stats(session, &stats) == GDN_OK);
  } while (stats.num_new_tokens < 40);
  CHECK(stats.num_prompt_tokens == 2 * (int64_t)num_tokens);
  CHECK(stats.num_cached_tokens >= 128 && stats.num_cached_tokens % 64 == 0);
  CHECK(stats.num_new_tokens == 40);
  CHECK(stats.context_tokens == 2048 && stats.load_ms > 0);

  // "<|im_end|>" is one token, or the letters of it.
  CHECK(gdn_tokenize(session, "<|im_end|>", GDN_NUL_TERMINATED, 0, tokens, 8, &num_tokens) ==
        GDN_OK);
  CHECK(num_tokens == 1 && tokens[0] == 2047);
  CHECK(gdn_tokenize(session, "<|im_end|>", GDN_NUL_TERMINATED,
                     GDN_TOKENIZE_PLAIN | GDN_TOKENIZE_BARE, NULL, 0, &num_tokens) == GDN_OK);
  CHECK(num_tokens > 1);
  gdn_free(session);
}

static void TestChat(void) {
  static Answer chat;
  static Answer text;
  const char* list = "[{\"role\": \"user\", \"content\": \"Hello\"}]";
  const char* continued =
      "{\"messages\": [{\"role\": \"assistant\", \"content\": \"Once upon\"}],"
      " \"continue_final_message\": true}";
  char prompt[256];
  size_t prompt_bytes = 0;
  gdn_session* session = Load(2);
  gdn_request request = Request(session, NULL, 16);
  CHECK(gdn_chat_prompt(session, list, prompt, sizeof(prompt), &prompt_bytes) == GDN_OK);
  CHECK(strcmp(prompt, "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n") == 0);
  CHECK(prompt_bytes == strlen(prompt));
  request.chat = list;
  Complete(session, &request, &chat);
  request.chat = NULL;
  request.text = prompt;
  Complete(session, &request, &text);
  CHECK(chat.num_tokens == 16 && SameAnswer(&chat, &text));
  CHECK(gdn_chat_prompt(session, continued, prompt, sizeof(prompt), &prompt_bytes) == GDN_OK);
  CHECK(strcmp(prompt, "<|im_start|>assistant\nOnce upon") == 0);
  gdn_free(session);
}

// ---- Errors ----

// The call failed with this status, and the error says so in one line that has this part.
#define CHECK_ERROR(call, status, part)            \
  do {                                             \
    CHECK((call) == (status));                     \
    CHECK(strstr(gdn_last_error(), part) != NULL); \
    CHECK(strchr(gdn_last_error(), '\n') == NULL); \
  } while (0)

static void TestLoadErrors(void) {
  gdn_session* session = (gdn_session*)1;
  gdn_load_params params;
  CHECK(gdn_last_error()[0] == '\0');
  CHECK_ERROR(gdn_load(NULL, NULL, &session), GDN_INVALID_ARGUMENT, "gdn_load: dir is NULL");
  CHECK(session == NULL);
  CHECK_ERROR(gdn_load(model_dir, NULL, NULL), GDN_INVALID_ARGUMENT, "out is NULL");
  CHECK_ERROR(gdn_load("/no/such/folder", NULL, &session), GDN_NOT_FOUND, "/no/such/folder");
  CHECK_ERROR(gdn_load_params_init(NULL, sizeof(params)), GDN_INVALID_ARGUMENT, "params is NULL");
  CHECK_ERROR(gdn_load_params_init(&params, 8), GDN_INVALID_ARGUMENT, "struct_size is 8");
#define CHECK_PARAM(field, value, status, part)                            \
  do {                                                                     \
    CHECK(gdn_load_params_init(&params, sizeof(params)) == GDN_OK);        \
    params.field = (value);                                                \
    CHECK_ERROR(gdn_load(model_dir, &params, &session), (status), (part)); \
    CHECK(session == NULL);                                                \
  } while (0)
  CHECK_PARAM(struct_size, sizeof(params) + 8, GDN_INVALID_ARGUMENT, "gdn_load: struct_size");
  CHECK_PARAM(threads, -1, GDN_INVALID_ARGUMENT, "threads is -1, want 0 to 1024");
  CHECK_PARAM(max_sequences, 0, GDN_INVALID_ARGUMENT, "max_sequences is 0");
  CHECK_PARAM(context_tokens, -1, GDN_INVALID_ARGUMENT, "context_tokens is -1");
  CHECK_PARAM(context_tokens, 2049, GDN_INVALID_ARGUMENT, "2049");
  CHECK_PARAM(kv_tokens, 64, GDN_INVALID_ARGUMENT, "kv_tokens is 64");
  CHECK_PARAM(kv_tokens, (int64_t)1 << 40, GDN_OUT_OF_MEMORY, "memory");
  CHECK_PARAM(prefix_snapshots, -2, GDN_INVALID_ARGUMENT, "prefix_snapshots is -2");
  CHECK_PARAM(memory, "much", GDN_INVALID_ARGUMENT, "much");
  CHECK_PARAM(memory, "1MiB", GDN_OUT_OF_MEMORY, "there are 1.00 MiB");
  CHECK_PARAM(device, "abacus", GDN_INVALID_ARGUMENT, "abacus");
  CHECK_PARAM(prefill, "quick", GDN_INVALID_ARGUMENT, "prefill is \"quick\"");
}

static void TestRequestErrors(void) {
  const gdn_logit_bias bias = {2048, 1};
  const char* stops[] = {"a", NULL};
  const int32_t tokens[] = {1, 2, -3};
  gdn_session* session = Load(1);
  gdn_stream* stream = (gdn_stream*)1;
  gdn_request request;
#define CHECK_FIELDS(change, status, part)                                 \
  do {                                                                     \
    request = Request(session, "In the beginning", 4);                     \
    change;                                                                \
    CHECK_ERROR(gdn_submit(session, &request, &stream), (status), (part)); \
    CHECK(stream == NULL);                                                 \
  } while (0)
  CHECK_FIELDS(request.struct_size = 0, GDN_INVALID_ARGUMENT, "gdn_submit: struct_size is 0");
  CHECK_FIELDS(request.struct_size += 8, GDN_INVALID_ARGUMENT, "gdn_submit: struct_size");
  CHECK_FIELDS(request.text = NULL, GDN_INVALID_ARGUMENT, "0 of text, tokens and chat");
  CHECK_FIELDS(request.chat = "[]", GDN_INVALID_ARGUMENT, "2 of text, tokens and chat");
  CHECK_FIELDS(request.text = "", GDN_INVALID_ARGUMENT, "prompt is empty");
  CHECK_FIELDS(request.text = "\xff", GDN_INVALID_ARGUMENT, "UTF-8");
  CHECK_FIELDS((request.text = NULL, request.tokens = tokens, request.num_tokens = 3),
               GDN_INVALID_ARGUMENT, "token -3");
  CHECK_FIELDS((request.text = NULL, request.chat = "{\"messages\": [], \"tool\": []}"),
               GDN_INVALID_ARGUMENT, "\"tool\" is not known");
  CHECK_FIELDS((request.text = NULL, request.chat = "[{\"role\": \"clown\", \"content\": \"\"}]"),
               GDN_INVALID_ARGUMENT, "the roles are");
  CHECK_FIELDS(request.max_new_tokens = 0, GDN_INVALID_ARGUMENT, "tokens to generate is 0");
  CHECK_FIELDS(request.num_completions = 129, GDN_INVALID_ARGUMENT, "129");
  CHECK_FIELDS(request.top_p = NAN, GDN_INVALID_ARGUMENT, "top_p");
  CHECK_FIELDS(request.temperature = -1, GDN_INVALID_ARGUMENT, "temperature");
  CHECK_FIELDS(request.num_stop = 1, GDN_INVALID_ARGUMENT, "stop is NULL");
  CHECK_FIELDS((request.stop = stops, request.num_stop = 2), GDN_INVALID_ARGUMENT,
               "stop[1] is NULL");
  CHECK_FIELDS((request.logit_bias = &bias, request.num_logit_bias = 1), GDN_INVALID_ARGUMENT,
               "2048");
  CHECK_FIELDS(request.num_top_logits = 1025, GDN_INVALID_ARGUMENT, "1025");
  // The session is as good as before.
  request = Request(session, "In the beginning", 4);
  gdn_stream_free(Submit(session, &request));
  gdn_free(session);
}

static void TestNullErrors(void) {
  gdn_session* session = Load(1);
  const gdn_request request = Request(session, "In the beginning", 4);
  gdn_request other;
  gdn_stream* stream = Submit(session, &request);
  gdn_stream* none = NULL;
  const gdn_chunk* chunk = NULL;
  const int32_t* tokens = NULL;
  int32_t token = 0;
  size_t size = 0;
  gdn_stats stats;
  stats.struct_size = 0;
  CHECK_ERROR(gdn_request_init(NULL, &other, sizeof(other)), GDN_INVALID_ARGUMENT, "session");
  CHECK_ERROR(gdn_request_init(session, NULL, sizeof(other)), GDN_INVALID_ARGUMENT, "request");
  CHECK_ERROR(gdn_request_init(session, &other, 4), GDN_INVALID_ARGUMENT, "struct_size is 4");
  CHECK_ERROR(gdn_submit(NULL, &request, &none), GDN_INVALID_ARGUMENT, "session is NULL");
  CHECK_ERROR(gdn_submit(session, NULL, &none), GDN_INVALID_ARGUMENT, "request is NULL");
  CHECK_ERROR(gdn_submit(session, &request, NULL), GDN_INVALID_ARGUMENT, "out is NULL");
  CHECK_ERROR(gdn_next(NULL, 0, &chunk), GDN_INVALID_ARGUMENT, "gdn_next: stream is NULL");
  CHECK_ERROR(gdn_next(stream, 0, NULL), GDN_INVALID_ARGUMENT, "gdn_next: out is NULL");
  CHECK_ERROR(gdn_cancel(NULL), GDN_INVALID_ARGUMENT, "gdn_cancel: stream is NULL");
  CHECK_ERROR(gdn_stream_prompt_tokens(NULL, &tokens, &size), GDN_INVALID_ARGUMENT, "stream");
  CHECK_ERROR(gdn_stream_prompt_tokens(stream, NULL, &size), GDN_INVALID_ARGUMENT, "tokens");
  CHECK_ERROR(gdn_stream_prompt_tokens(stream, &tokens, NULL), GDN_INVALID_ARGUMENT, "num_tokens");
  CHECK_ERROR(gdn_tokenize(NULL, "a", 1, 0, &token, 1, &size), GDN_INVALID_ARGUMENT, "session");
  CHECK_ERROR(gdn_tokenize(session, NULL, 1, 0, &token, 1, &size), GDN_INVALID_ARGUMENT, "text");
  CHECK_ERROR(gdn_tokenize(session, "a", 1, 0, NULL, 1, &size), GDN_INVALID_ARGUMENT, "tokens");
  CHECK_ERROR(gdn_tokenize(session, "a", 1, 0, &token, 1, NULL), GDN_INVALID_ARGUMENT,
              "num_tokens");
  CHECK_ERROR(gdn_tokenize(session, "a", 1, 4, &token, 1, &size), GDN_INVALID_ARGUMENT,
              "flags is 4");
  CHECK_ERROR(gdn_detokenize(session, NULL, 1, 0, NULL, 0, &size), GDN_INVALID_ARGUMENT, "tokens");
  CHECK_ERROR(gdn_detokenize(session, &token, 1, 0, NULL, 1, &size), GDN_INVALID_ARGUMENT, "text");
  CHECK_ERROR(gdn_chat_prompt(session, NULL, NULL, 0, &size), GDN_INVALID_ARGUMENT, "chat is NULL");
  CHECK_ERROR(gdn_chat_prompt(session, "[{", NULL, 0, &size), GDN_INVALID_ARGUMENT, "chat: ");
  CHECK_ERROR(gdn_get_stats(session, NULL), GDN_INVALID_ARGUMENT, "stats is NULL");
  CHECK_ERROR(gdn_get_stats(session, &stats), GDN_INVALID_ARGUMENT, "struct_size is 0");
  gdn_stream_free(stream);
  gdn_free(session);
}

// ---- Loading ----

static void CountProgress(void* user, uint64_t done_bytes, uint64_t total_bytes) {
  uint64_t* seen = user;
  CHECK(done_bytes >= seen[0] && done_bytes <= total_bytes);
  seen[0] = done_bytes;
  seen[1] = total_bytes;
}

static void TestLoading(void) {
  uint64_t seen[2] = {0, 0};
  gdn_session* session = NULL;
  gdn_load_params params;
  CHECK(gdn_api_version() == GDN_API_VERSION);
  CHECK(strncmp(gdn_version(), "gdn ", 4) == 0);
  CHECK(gdn_load_params_init(&params, sizeof(params)) == GDN_OK);
  params.progress = CountProgress;
  params.progress_user = seen;
  params.device = "cpu";
  params.prefill = "recurrent";
  params.prefix_snapshots = 0;
  params.memory = "2GiB";
  CHECK(gdn_load(model_dir, &params, &session) == GDN_OK);
  CHECK(seen[0] > 0 && seen[0] == seen[1]);
  gdn_free(session);
}

static const struct Case {
  const char* name;
  void (*run)(void);
} kCases[] = {
    {"threads", TestThreads},        {"cancel", TestCancel},
    {"free_orders", TestFreeOrders}, {"requests", TestRequests},
    {"tokens", TestTokens},          {"chat", TestChat},
    {"load_errors", TestLoadErrors}, {"request_errors", TestRequestErrors},
    {"null_errors", TestNullErrors}, {"loading", TestLoading},
};

int main(int argc, char** argv) {
  for (size_t i = 0; argc == 3 && i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    if (strcmp(argv[2], kCases[i].name) != 0) continue;
    model_dir = argv[1];
    kCases[i].run();
    printf("%s passed\n", kCases[i].name);
    return 0;
  }
  fprintf(stderr, "usage: c_interface_test MODEL_DIR CASE\n");
  return 2;
}
