// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "base/str.h"
#include "bench_serve/http_loop.h"

namespace gdn {
namespace {

constexpr std::string_view kScheme = "http://";

bool IsPort(std::string_view text) {
  int port = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && stop == text.data() + text.size() && port >= 1 && port <= 65535;
}

// What would end a header or a request line early.
bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

}  // namespace

Result<HttpUrl> ParseHttpUrl(std::string_view text) {
  const auto bad = [text](std::string_view want) {
    return InvalidArgument(StrCat("url is ", Quoted(text), ", want ", want));
  };
  if (!text.starts_with(kScheme) || !IsPlain(text)) return bad("http://HOST:PORT");
  std::string_view rest = text.substr(kScheme.size());
  HttpUrl url{.port = "80"};
  const size_t slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  if (url.path.find_first_of("?#") != std::string::npos) return bad("no query");
  rest = rest.substr(0, slash);
  if (rest.find('@') != std::string_view::npos) return bad("no user: a key is --api-key");
  const bool is_v6 = rest.starts_with('[');
  const size_t host_end = is_v6 ? rest.find(']') : std::min(rest.find(':'), rest.size());
  if (host_end == std::string_view::npos) return bad("a ']' after the address");
  url.host = rest.substr(is_v6 ? 1 : 0, is_v6 ? host_end - 1 : host_end);
  if (url.host.empty()) return bad("http://HOST:PORT");
  rest = rest.substr(is_v6 ? host_end + 1 : host_end);
  if (rest.empty()) return url;
  if (!rest.starts_with(':') || !IsPort(rest.substr(1))) return bad("a port from 1 to 65535");
  url.port = rest.substr(1);
  return url;
}

std::string HttpUrl::Authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return StrCat(is_v6 ? "[" : "", host, is_v6 ? "]:" : ":", port);
}

std::string HttpUrl::Text() const { return StrCat(kScheme, Authority(), path); }

}  // namespace gdn
