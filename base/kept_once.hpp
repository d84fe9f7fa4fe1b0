// Keeps equal constants in memory once: those of models loaded several times, and the layouts that
// kernels make of them.
#pragma once

#include <memory>

#include "polychron/buffer.hpp"

namespace polychron {

/// Immutable bytes.
using KeptBytes = std::shared_ptr<const Buffer>;

/// Returns an equal block that this process already holds; otherwise `bytes`, which later calls
/// find as long as they are held. Compares the whole content, so that a crafted hash collision
/// cannot give one model the weights of another. Small blocks are not looked up. Reads the bytes
/// once or twice; blocks only while other threads look up an entry. Thread-safe, also in a child
/// forked during a call.
KeptBytes kept_once(KeptBytes bytes);

/// The hash for the lookup, over all bytes: constants that differ in one place only are common.
std::size_t content_digest(const Buffer& bytes);

}  // namespace polychron
