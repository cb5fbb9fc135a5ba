// SPDX-License-Identifier: Apache-2.0
// The C interface of gdn.cpp, for C99, C++ and whatever can call C.
//
// Load a checkpoint folder into a session, submit requests to it, read the chunks of each request's
// stream as they come. examples/complete.c is a whole program.
//
// Threads. A session takes calls from any number of threads; gdn_free alone must be its last. A
// stream takes calls from one thread at a time, gdn_cancel alone from any while others wait in
// gdn_next. Different streams are independent. A child that comes from fork() may use neither
// sessions nor streams of its parent. No thread may be ended (pthread_cancel) inside of a call.
//
// Errors. A call that fails returns a status other than GDN_OK, and gdn_last_error() says why. It
// sets the handle or chunk that it should have returned to NULL, leaves other outputs as they were,
// and the session and the stream usable. No C++ exception leaves the library. A handle that has
// been freed, or a pointer to less memory than is said, is undefined behaviour. The library
// installs no signal handlers and prints nothing, but for a line on stderr when the system gives
// fewer threads than asked for, or before it ends the process over a defect of its own.
//
// Texts are UTF-8. Those that come in end at a NUL byte, unless a size says where.
//
// Versions. GDN_API_VERSION counts incompatible changes; it is the number in the library's SONAME.
// Within one version functions and fields at the end of structs may be added. So a struct begins
// with its own size: a caller states the one that it was compiled with (the *_init functions do),
// and fields behind it have their defaults. A size below the first version's or above the library's
// own, which is that of a caller compiled for a later library, is GDN_INVALID_ARGUMENT.
#ifndef GDN_GDN_H_
#define GDN_GDN_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GDN_API __attribute__((visibility("default")))
#else
#define GDN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GDN_API_VERSION 1

// GDN_API_VERSION of the library that runs.
GDN_API uint32_t gdn_api_version(void);
// "gdn 0.1.0 (commit abcdef1) backends: cpu", for people. Valid for ever.
GDN_API const char* gdn_version(void);

typedef enum gdn_status {
  GDN_OK = 0,
  GDN_INVALID_ARGUMENT = 1,  // an argument or a file says something that cannot be
  GDN_NOT_FOUND = 2,         // a file that is not there
  GDN_OUT_OF_MEMORY = 3,     // also: a model that does not fit in the memory that is free
  GDN_UNSUPPORTED = 4,       // well-formed, but not something that this library can do
  GDN_CANCELLED = 5,
  // A defect of the library, a resource that the system refuses, a device that failed at its work.
  GDN_INTERNAL = 6,
  // What gdn_next may return besides; no errors, gdn_last_error() does not change.
  GDN_END = 7,     // all has been read
  GDN_TIMEOUT = 8  // nothing came in time
} gdn_status;

// One line on the last call of this thread that failed: names the thing, what it is and what it
// must be. "" where none has. Valid until this thread's next call of any function here.
GDN_API const char* gdn_last_error(void);

// ---- Sessions ----

// A loaded model and the thread that runs it. From gdn_load, until gdn_free.
typedef struct gdn_session gdn_session;

// Called on the thread of gdn_load, now and then and at the end, with how much of the weights has
// been read. Must return, and call nothing of the session to be.
typedef void (*gdn_progress_fn)(void* user, uint64_t done_bytes, uint64_t total_bytes);

// How to load. All pointers are read during gdn_load alone.
typedef struct gdn_load_params {
  size_t struct_size;  // of this struct, in bytes
  const char* device;  // "auto" or a name that `gdn devices` lists; NULL: "auto"
  // The form in which prompts are computed: "auto" (16-bit models: chunk, others: recurrent),
  // "chunk" or "recurrent"; NULL: "auto".
  const char* prefill;
  int32_t threads;         // 0 to 1024; 0, the default: all cores that this process may use
  int32_t max_sequences;   // completions computed at once, 1 to 1024; default 8. Others wait.
  int64_t context_tokens;  // longest prompt and answer together; 0, the default: the model's own,
                           // but no more than 4096
  // Tokens whose keys and values there is memory for, of all completions together and of the
  // prompts that are remembered; at least context_tokens. 0, the default: max_sequences *
  // context_tokens, or what memory has room for. Where they run out, completions wait or pause; no
  // answer changes.
  int64_t kv_tokens;
  // States of earlier prompts to remember, each as large as that of a running completion, up to
  // 4096. A prompt that begins like one of them starts from there, which changes no answer. -1, the
  // default: as many as memory has room for, within reason. 0: every prompt is computed from its
  // start.
  int64_t prefix_snapshots;
  // The most memory for the weights and all else together: "8GiB", "512MiB", "80%" (of what is
  // available); NULL, the default: what is available. kv_tokens and prefix_snapshots shrink to fit
  // where they are left open.
  const char* memory;
  gdn_progress_fn progress;  // NULL, the default: none
  void* progress_user;       // the first argument of progress
} gdn_load_params;

// Fills in the defaults. struct_size is sizeof(gdn_load_params). Errors: GDN_INVALID_ARGUMENT.
GDN_API gdn_status gdn_load_params_init(gdn_load_params* params, size_t struct_size);

// Loads the Hugging Face checkpoint folder dir. params may be NULL: the defaults. All memory of the
// model is taken here. On success *out is the caller's, to be freed with gdn_free.
// Errors: GDN_INVALID_ARGUMENT (params, a file that is not as it must be), GDN_NOT_FOUND,
// GDN_OUT_OF_MEMORY, GDN_UNSUPPORTED (the checkpoint), GDN_INTERNAL.
GDN_API gdn_status gdn_load(const char* dir, const gdn_load_params* params, gdn_session** out);

// Ends all completions of the session as GDN_FINISH_CANCELLED, then frees it; no other call on the
// session may be under way or follow. Its streams remain, to be read to their end and freed.
// NULL: nothing happens.
GDN_API void gdn_free(gdn_session* session);

// ---- Requests ----

// A request whose answer is under way. From gdn_submit, until gdn_stream_free.
typedef struct gdn_stream gdn_stream;

typedef struct gdn_logit_bias {
  int32_t token;  // of the vocabulary
  float bias;     // -100 to 100, added to the token's logit
} gdn_logit_bias;

// text_bytes of a text that ends at a NUL byte.
#define GDN_NUL_TERMINATED ((size_t)-1)

// What to generate. Filled in by gdn_request_init; then the caller sets the prompt and what else it
// wants different. All pointers are read during gdn_submit alone.
typedef struct gdn_request {
  size_t struct_size;  // of this struct, in bytes

  // The prompt: exactly one of text, tokens and chat is not NULL.
  const char* text;       // special tokens by name count as such
  size_t text_bytes;      // of text; default GDN_NUL_TERMINATED
  const int32_t* tokens;  // ids of the vocabulary
  size_t num_tokens;
  // A conversation, whose prompt the checkpoint's chat template makes. JSON: a list of messages
  //   [{"role": "user", "content": "Hello"}]
  // or an object with the list as "messages" and, each optional, "tools", "documents" (lists of
  // objects), "chat_template_kwargs" (an object: more variables of the template) and
  // "continue_final_message" (true: the last message is the beginning of the reply).
  const char* chat;

  int64_t max_new_tokens;  // of each completion, at least 1; default 128. The context ends it, too.
  int64_t min_new_tokens;  // no end-of-text token before so many; default 0
  int32_t num_completions;  // answers to the prompt, 1 to 128; default 1. Number i has seed + i.
  int32_t priority;         // higher ones are served first, equal ones in their order; default 0

  // Sampling. temperature, top_k, top_p, min_p and repetition_penalty have the checkpoint's own
  // values (generation_config.json) as defaults, the others are off.
  float temperature;         // 0: always the likeliest token; else above 0
  int32_t top_k;             // keep the k likeliest tokens; 0: off
  float top_p;               // of those, the fewest whose share is top_p, in (0, 1]; 1: off
  float min_p;               // of those, the ones with min_p times the likeliest's probability, in
                             // [0, 1]; 0: off
  float repetition_penalty;  // above 0; 1: off
  float frequency_penalty;   // -2 to 2; 0: off
  float presence_penalty;    // -2 to 2; 0: off
  int32_t ignore_eos;        // not 0: goes on after an end-of-text token; default 0
  uint64_t seed;             // the same seed gives the same answer; default 0
  const gdn_logit_bias* logit_bias;
  size_t num_logit_bias;
  // Texts that end an answer, which does not hold them: at most 64, of 1 to 1024 bytes.
  const char* const* stop;
  size_t num_stop;

  int32_t num_top_logits;  // largest logits to report with each token, 0 to 1024; default 0
  int32_t log_probs;       // not 0: report each token's log probability; default 0
} gdn_request;

// Fills in the defaults, those of the session's checkpoint among them, and no prompt. struct_size
// is sizeof(gdn_request). Errors: GDN_INVALID_ARGUMENT.
GDN_API gdn_status gdn_request_init(const gdn_session* session, gdn_request* request,
                                    size_t struct_size);

// Queues a request and returns at once. On success *out is the caller's, to be freed with
// gdn_stream_free. An answer depends on its request alone, not on what else the session does.
// Errors: GDN_INVALID_ARGUMENT (the request), GDN_UNSUPPORTED (chat, where the checkpoint has no
// template or one with constructs that are not there), GDN_OUT_OF_MEMORY.
GDN_API gdn_status gdn_submit(gdn_session* session, const gdn_request* request, gdn_stream** out);

// ---- Answers ----

typedef enum gdn_finish {
  GDN_FINISH_NONE = 0,       // more is to come
  GDN_FINISH_STOP = 1,       // an end-of-text token, or a stop text
  GDN_FINISH_LENGTH = 2,     // max_new_tokens, or the end of the context
  GDN_FINISH_CANCELLED = 3,  // gdn_cancel, or gdn_free
  GDN_FINISH_ERROR = 4       // error_status and error say why
} gdn_finish;

typedef struct gdn_token_logit {
  int32_t token;  // -1: the vocabulary has no further one
  float logit;
} gdn_token_logit;

// What one token adds to a completion, or its end. Made by the library, never by the caller. Texts
// end at a NUL byte and are "" where there is nothing; a text may hold NUL bytes of its own, which
// its size counts.
typedef struct gdn_chunk {
  // Bytes of this struct that the library has filled: where a caller that was compiled for a later
  // library looks whether a field is there.
  size_t struct_size;
  int32_t completion;       // which one, from 0 to num_completions - 1
  int32_t token;            // its id; -1: the completion ended without one
  gdn_finish finish;        // not GDN_FINISH_NONE: the last chunk of this completion
  gdn_status error_status;  // with GDN_FINISH_ERROR what kind, else GDN_OK
  const char* error;        // with GDN_FINISH_ERROR one line, else ""
  // Whole characters that are certain with this token; special tokens have none.
  const char* text;
  size_t text_bytes;
  // The same, of the reply's reasoning, where the model of a chat marks it (<think>).
  const char* reasoning;
  size_t reasoning_bytes;
  // Natural log of the token's probability, before temperature and filters; 0 where the request did
  // not ask for log_probs, or without a token.
  double log_prob;
  // As many as the request asked for: before temperature and filters, largest first, ties by id.
  // None without a token.
  const gdn_token_logit* top_logits;
  size_t num_top_logits;
  int64_t num_cached_tokens;  // of the prompt, that were remembered and not computed
  double elapsed_ms;          // from gdn_submit until the token was there
} gdn_chunk;

// The next chunk, in the order in which they came, of all completions of the request. Waits for it
// up to timeout_ms milliseconds; a negative timeout_ms waits as long as it takes. *out is the
// stream's and valid until the next call of gdn_next or gdn_stream_free on it.
// Returns GDN_OK with a chunk; GDN_TIMEOUT; GDN_END once the last chunk of each completion has been
// read, however often it is asked. *out is NULL but with GDN_OK. An answer that failed is a chunk,
// no error of this call. Errors: GDN_INVALID_ARGUMENT (NULL), GDN_OUT_OF_MEMORY (the chunk is
// lost).
GDN_API gdn_status gdn_next(gdn_stream* stream, int32_t timeout_ms, const gdn_chunk** out);

// Asks for the end of what still runs, and returns at once: each completion ends with a chunk of
// GDN_FINISH_CANCELLED, within one step of the model. Chunks from before remain to be read.
// Errors: GDN_INVALID_ARGUMENT (NULL), GDN_OUT_OF_MEMORY.
GDN_API gdn_status gdn_cancel(gdn_stream* stream);

// Frees a stream, before or after its session; what still runs of it is cancelled.
// NULL: nothing happens.
GDN_API void gdn_stream_free(gdn_stream* stream);

// The ids of the prompt as the model sees it; *tokens is the stream's, until gdn_stream_free.
// Errors: GDN_INVALID_ARGUMENT (NULL).
GDN_API gdn_status gdn_stream_prompt_tokens(const gdn_stream* stream, const int32_t** tokens,
                                            size_t* num_tokens);

// ---- Text and tokens ----
//
// These write into the caller's buffer what fits and say how much there is, so that a first call
// with capacity 0 (then the buffer may be NULL) asks for the size.

enum {
  // Text that looks like a special token is plain text: for text of strangers.
  GDN_TOKENIZE_PLAIN = 1,
  // No tokens are put around the text: for a chat prompt, which brings its own.
  GDN_TOKENIZE_BARE = 2
};

// The ids of a text of text_bytes bytes (or GDN_NUL_TERMINATED), with flags 0 as gdn_submit makes
// them. Writes at most capacity ids; *num_tokens is how many there are.
// Errors: GDN_INVALID_ARGUMENT (NULL, unknown flags, not UTF-8), GDN_OUT_OF_MEMORY.
GDN_API gdn_status gdn_tokenize(const gdn_session* session, const char* text, size_t text_bytes,
                                uint32_t flags, int32_t* tokens, size_t capacity,
                                size_t* num_tokens);

// The text of ids; ids without a token have none, bytes that are no UTF-8 become U+FFFD.
// skip_special: not 0 leaves out special tokens. Writes at most capacity bytes, the last of which
// is a NUL byte; *text_bytes is how many there are, the NUL byte not counted. Errors:
// GDN_INVALID_ARGUMENT (NULL), GDN_OUT_OF_MEMORY.
GDN_API gdn_status gdn_detokenize(const gdn_session* session, const int32_t* tokens,
                                  size_t num_tokens, int32_t skip_special, char* text,
                                  size_t capacity, size_t* text_bytes);

// The prompt that the checkpoint's chat template makes of a conversation (gdn_request.chat),
// special tokens by name. Writes as gdn_detokenize does. Errors: GDN_INVALID_ARGUMENT (NULL, JSON,
// what the template refuses), GDN_UNSUPPORTED, GDN_OUT_OF_MEMORY.
GDN_API gdn_status gdn_chat_prompt(const gdn_session* session, const char* chat, char* text,
                                   size_t capacity, size_t* text_bytes);

// ---- Statistics ----

// How a session stands after a step of its model; a chunk that has just been read may be of the
// step after that.
typedef struct gdn_stats {
  size_t struct_size;      // of this struct, in bytes: set by the caller before the call
  double load_ms;          // what gdn_load took
  int64_t context_tokens;  // longest prompt and answer together
  int64_t num_running;     // completions
  int64_t num_waiting;
  int64_t num_free_sequences;  // completions that could start at once
  int64_t num_free_blocks;     // blocks of 64 tokens that keys and values could take
  int64_t num_snapshots;       // states of earlier prompts remembered
  int64_t num_preemptions;     // completions that had to give up their memory and go on later
  // Tokens since the load, of all completions that have one.
  int64_t num_prompt_tokens;
  int64_t num_cached_tokens;  // of them, remembered and not computed
  int64_t num_new_tokens;
} gdn_stats;

// Fills in stats, whose struct_size the caller has set. Errors: GDN_INVALID_ARGUMENT.
GDN_API gdn_status gdn_get_stats(const gdn_session* session, gdn_stats* stats);

#ifdef __cplusplus
}
#endif

#endif  // GDN_GDN_H_
