// SPDX-License-Identifier: Apache-2.0
// What the opaque handles of the C interface are.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gdn/gdn.h"
#include "session/session.h"

struct gdn_session {
  std::unique_ptr<gdn::Session> session;
};

struct gdn_stream {
  std::unique_ptr<gdn::Stream> stream;
  // What the caller's chunk points to, until the next one.
  std::optional<gdn::Chunk> chunk;
  std::vector<gdn_token_logit> top_logits;
  gdn_chunk view;
};
