// SPDX-License-Identifier: Apache-2.0
// Text and tokens of the C interface.
#include <span>
#include <vector>

#include "capi/boundary.h"
#include "capi/handles.h"
#include "session/chat_request_json.h"

namespace gdn::capi {
namespace {

constexpr uint32_t kTokenizeFlags = GDN_TOKENIZE_PLAIN | GDN_TOKENIZE_BARE;

// A caller's memory for a text.
struct TextBuffer {
  char* text;
  size_t capacity;
  size_t* text_bytes;

  Status Check(const char* function) const {
    GDN_RETURN_IF_ERROR(NotNull(function, "text", text, capacity));
    return NotNull(function, "text_bytes", text_bytes);
  }
  void Write(std::string_view from) const {
    *text_bytes = from.size();
    if (capacity == 0) return;
    const size_t size = std::min(from.size(), capacity - 1);
    std::copy_n(from.begin(), size, text);
    text[size] = '\0';
  }
};

Status Tokenize(const gdn_session* session, const char* text, size_t text_bytes, uint32_t flags,
                std::span<int32_t> tokens, size_t* num_tokens) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_tokenize", "session", session));
  GDN_RETURN_IF_ERROR(NotNull("gdn_tokenize", "text", text, text_bytes));
  GDN_RETURN_IF_ERROR(NotNull("gdn_tokenize", "tokens", tokens.data(), tokens.size()));
  GDN_RETURN_IF_ERROR(NotNull("gdn_tokenize", "num_tokens", num_tokens));
  if ((flags & ~kTokenizeFlags) != 0) {
    return InvalidArgument(StrCat("gdn_tokenize: flags is ", flags, ", want a sum of ",
                                  static_cast<int>(GDN_TOKENIZE_PLAIN), " and ",
                                  static_cast<int>(GDN_TOKENIZE_BARE)));
  }
  const EncodeOptions options{.parse_special = (flags & GDN_TOKENIZE_PLAIN) == 0,
                              .surround = (flags & GDN_TOKENIZE_BARE) == 0};
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                       session->session->tokenizer().Encode(TextOf(text, text_bytes), options));
  std::copy_n(ids.begin(), std::min(ids.size(), tokens.size()), tokens.begin());
  *num_tokens = ids.size();
  return OkStatus();
}

Status Detokenize(const gdn_session* session, std::span<const int32_t> tokens, bool skip_special,
                  const TextBuffer& buffer) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_detokenize", "session", session));
  GDN_RETURN_IF_ERROR(NotNull("gdn_detokenize", "tokens", tokens.data(), tokens.size()));
  GDN_RETURN_IF_ERROR(buffer.Check("gdn_detokenize"));
  buffer.Write(session->session->tokenizer().Decode(tokens, skip_special));
  return OkStatus();
}

Status MakeChatPrompt(const gdn_session* session, const char* chat, const TextBuffer& buffer) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_chat_prompt", "session", session));
  GDN_RETURN_IF_ERROR(NotNull("gdn_chat_prompt", "chat", chat));
  GDN_RETURN_IF_ERROR(buffer.Check("gdn_chat_prompt"));
  GDN_ASSIGN_OR_RETURN(const ChatRequest request, ParseChatRequest(chat, "chat"));
  GDN_ASSIGN_OR_RETURN(const ChatPrompt prompt,
                       session->session->chat_format().BuildPrompt(request));
  buffer.Write(prompt.text);
  return OkStatus();
}

}  // namespace
}  // namespace gdn::capi

gdn_status gdn_tokenize(const gdn_session* session, const char* text, size_t text_bytes,
                        uint32_t flags, int32_t* tokens, size_t capacity, size_t* num_tokens) {
  return gdn::capi::Guard([&] {
    return gdn::capi::Tokenize(session, text, text_bytes, flags, {tokens, capacity}, num_tokens);
  });
}

gdn_status gdn_detokenize(const gdn_session* session, const int32_t* tokens, size_t num_tokens,
                          int32_t skip_special, char* text, size_t capacity, size_t* text_bytes) {
  return gdn::capi::Guard([&] {
    return gdn::capi::Detokenize(session, {tokens, num_tokens}, skip_special != 0,
                                 {text, capacity, text_bytes});
  });
}

gdn_status gdn_chat_prompt(const gdn_session* session, const char* chat, char* text,
                           size_t capacity, size_t* text_bytes) {
  return gdn::capi::Guard([&] {
    return gdn::capi::MakeChatPrompt(session, chat, {text, capacity, text_bytes});
  });
}
