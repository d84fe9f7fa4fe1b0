// Constants that are alike, in memory once: those of models that are loaded more than once, and
// what kernels make of them.
#pragma once

#include <memory>

#include "polychron/buffer.hpp"

namespace polychron {

/// Bytes that nobody writes any more.
using KeptBytes = std::shared_ptr<const Buffer>;

/// Others with the same content that somebody in this process holds; else `bytes`, which are found
/// from here on as long as somebody holds them. Compares all of the content: who knows how content
/// is looked up cannot make a model whose weights another one gets. Small ones are not looked for.
/// Reads the bytes once or twice; blocks for no longer than others look up a place. Thread-safe,
/// also in a process that was forked while others were in here.
KeptBytes kept_once(KeptBytes bytes);

/// By which they are looked up: of all bytes, as constants that differ in one place only are
/// common.
std::size_t content_digest(const Buffer& bytes);

}  // namespace polychron
