// SPDX-License-Identifier: Apache-2.0
#include "server/http_types.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "base/str.h"

namespace gdn {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string Date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  // The server sets no locale: names are English.
  const size_t size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

bool IsSame(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, Lower, Lower);
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (IsSame(key, name)) return value;
  }
  return {};
}

std::string_view HttpRequest::path() const {
  std::string_view out = std::string_view(target).substr(0, target.find_first_of("?#"));
  constexpr std::string_view kScheme = "http://";  // the absolute form, which proxies use
  if (!out.starts_with(kScheme)) return out;
  const size_t slash = out.find('/', kScheme.size());
  return slash == std::string_view::npos ? "/" : out.substr(slash);
}

bool HttpRequest::WantsClose() const {
  return std::ranges::any_of(headers, [](const auto& header) {
    if (!IsSame(header.first, "Connection")) return false;
    std::string_view rest = header.second;
    for (;;) {
      const size_t comma = rest.find(',');
      std::string_view token = rest.substr(0, comma);
      token.remove_prefix(std::min(token.find_first_not_of(" \t"), token.size()));
      token = token.substr(0, token.find_last_not_of(" \t") + 1);
      if (IsSame(token, "close")) return true;
      if (comma == std::string_view::npos) return false;
      rest.remove_prefix(comma + 1);
    }
  });
}

bool HttpRequest::ExpectsContinue() const {
  return is_http_1_1 && has_body && IsSame(Header("Expect"), "100-continue");
}

HeadError CheckHeaders(const HttpRequest& head) {
  int hosts = 0;
  int lengths = 0;
  int encodings = 0;
  for (const auto& [name, value] : head.headers) {
    if (IsSame(name, "Host")) ++hosts;
    if (IsSame(name, "Content-Length")) ++lengths;
    if (IsSame(name, "Transfer-Encoding")) {
      ++encodings;
      if (!IsSame(value, "chunked")) {
        return {501, StrCat("Transfer-Encoding is ", Quoted(value), ", want chunked or none")};
      }
    }
    if (IsSame(name, "Content-Encoding") && !IsSame(value, "identity")) {
      return {415, StrCat("Content-Encoding is ", Quoted(value), ", want none")};
    }
  }
  if (hosts > 1) return {400, "the header Host is there twice, want it once"};
  if (lengths + encodings > 1) {
    return {400, "Content-Length and Transfer-Encoding are there more than once, want one of them"};
  }
  if (encodings > 0 && !head.is_http_1_1) {
    return {400, "Transfer-Encoding is of HTTP/1.1, want Content-Length"};
  }
  return {};
}

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Unknown";
  }
}

std::string FormatHead(const HttpResponse& response, BodyFraming framing, bool keep_alive) {
  std::string out =
      StrCat("HTTP/1.1 ", response.status, " ", ReasonPhrase(response.status), "\r\nDate: ", Date(),
             "\r\nConnection: ", keep_alive ? "keep-alive" : "close", "\r\n");
  if (!response.content_type.empty()) {
    out += StrCat("Content-Type: ", response.content_type, "\r\n");
  }
  for (const auto& [name, value] : response.headers) out += StrCat(name, ": ", value, "\r\n");
  if (framing == BodyFraming::kChunked) out += "Transfer-Encoding: chunked\r\n";
  if (framing == BodyFraming::kLength && response.status != 204) {
    out += StrCat("Content-Length: ", response.body.size(), "\r\n");
  }
  return out + "\r\n";
}

std::string FormatChunk(std::string_view piece) {
  if (piece.empty()) return {};  // an empty chunk would end the body
  std::array<char, 16> digits{};
  char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16).ptr;
  return StrCat(std::string_view(digits.data(), static_cast<size_t>(end - digits.data())), "\r\n",
                piece, "\r\n");
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned char byte = 0;
    const char* end = text.data() + i + 3;
    const auto [stop, error] = std::from_chars(text.data() + i + 1, end, byte, 16);
    if (error != std::errc() || stop != end) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

}  // namespace gdn
