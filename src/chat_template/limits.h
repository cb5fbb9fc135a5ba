// SPDX-License-Identifier: Apache-2.0
// What a template and its messages may ask of us, both written by strangers. Real templates have at
// most 17 KB and nest some ten levels; a conversation of a thousand messages takes some 10^5 steps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdn::jinja {

inline constexpr size_t kMaxSourceBytes = size_t{256} << 10;

// Levels of parentheses, brackets and blocks in the source: the recursion of the parser.
inline constexpr int kMaxSourceNesting = 64;
// Height of a tree of expressions: a chain such as a + b + c has no nesting, but grows the tree.
inline constexpr int kMaxTreeHeight = 200;
// Levels of tree nodes and macro calls of a render: the recursion of the evaluator.
inline constexpr int kMaxRenderDepth = 800;
// Levels of lists and mappings within each other: the recursion of whoever walks a value.
inline constexpr int kMaxValueDepth = 100;

// Tree nodes evaluated, elements visited and blocks of 64 bytes of text searched in one render.
inline constexpr uint64_t kMaxSteps = 10'000'000;
// Bytes of values and texts made in one render, in all: what is freed again counts too.
inline constexpr size_t kMaxAllocatedBytes = size_t{256} << 20;
inline constexpr size_t kMaxOutputBytes = size_t{32} << 20;

// Elements of a range(): what the sandbox of the reference allows.
inline constexpr int64_t kMaxRange = 100'000;
// Of a format specification, a padding method or an indentation.
inline constexpr int64_t kMaxWidth = 10'000;

}  // namespace gdn::jinja
