// SPDX-License-Identifier: Apache-2.0
// Streams the continuation of a prompt:
//   cc complete.c $(pkg-config --cflags --libs gdn) -o complete
//   ./complete DIR "In the beginning"
#include <gdn/gdn.h>
#include <stdio.h>

static int Fail(void) {
  fprintf(stderr, "error: %s\n", gdn_last_error());
  return 1;
}

// Prints the stream's text as it comes.
static int Print(gdn_stream* stream) {
  const gdn_chunk* chunk = NULL;
  gdn_status status = GDN_OK;
  while ((status = gdn_next(stream, -1, &chunk)) == GDN_OK) {
    fwrite(chunk->text, 1, chunk->text_bytes, stdout);
    fflush(stdout);
    if (chunk->finish == GDN_FINISH_ERROR) {
      fprintf(stderr, "error: %s\n", chunk->error);
      return 1;
    }
  }
  printf("\n");
  return status == GDN_END ? 0 : Fail();
}

int main(int argc, char** argv) {
  gdn_session* session = NULL;
  gdn_stream* stream = NULL;
  gdn_request request;
  int exit_code = 0;
  if (argc != 3) {
    fprintf(stderr, "usage: complete DIR PROMPT\n");
    return 2;
  }
  if (gdn_load(argv[1], NULL, &session) != GDN_OK) return Fail();
  exit_code = gdn_request_init(session, &request, sizeof(request)) == GDN_OK ? 0 : Fail();
  if (exit_code == 0) {
    request.text = argv[2];
    request.max_new_tokens = 64;
    exit_code = gdn_submit(session, &request, &stream) == GDN_OK ? Print(stream) : Fail();
  }
  gdn_stream_free(stream);
  gdn_free(session);
  return exit_code;
}
