// SPDX-License-Identifier: Apache-2.0
// The figures of a run.
#pragma once

#include <nlohmann/json.hpp>

#include "bench_serve/load_run.h"

namespace gdn {

// completed, failed, errors ([{message, count}], most frequent first), duration_s, the sums of
// tokens, throughputs a second, and {mean, p50, p90, p99} of ttft_ms, tpot_ms, itl_ms and e2e_ms,
// all of the complete answers:
// - ttft: from the request (connection included) to its first token;
// - tpot: from the first token to the end, over the tokens after the first, one value an answer;
// - itl: between one chunk with tokens and the next, one value a pair;
// - e2e: from the request to the end of the answer.
// One that no answer has is null: of tokens without text some servers say nothing before the end.
nlohmann::ordered_json ReportOf(const LoadResult& result);

}  // namespace gdn
