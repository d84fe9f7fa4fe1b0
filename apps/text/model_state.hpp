// A loaded model: what all its generations share. Immutable, except the queue.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/text/chat.hpp"
#include "apps/text/network.hpp"
#include "apps/text/scheduler.hpp"
#include "apps/text/tokenizer.hpp"
#include "polychron/text.hpp"

namespace polychron::text::detail {

/// Rows of the graphs for prompts. A longer prompt goes in pieces, so that others wait for a piece
/// at most.
inline constexpr std::uint32_t short_piece = 16, long_piece = 64;
/// The most generations that share a step.
inline constexpr std::uint32_t most_joint = 8;

/// A graph, and the tensors of its runs. One run at a time uses them.
struct Step {
  NetworkShape shape;
  Graph graph{};
  NamedTensors inputs{};  ///< without caches
  Tensor new_rows{}, logits{};
};

class ModelState {
 public:
  ModelState(const Context& on, ModelFiles files, const LoadOptions& options,
             std::string own_label);

  const std::string label;
  const Context context;
  const Tokenizer tokenizer;
  const std::unique_ptr<Network> network;
  const CacheSizes sizes;
  const std::uint32_t context_length, chats;
  const ChatTemplate chat;
  const std::function<std::chrono::steady_clock::time_point()> now;
  std::vector<Step> joint;   ///< for the next token of 1, 2, 4, 8 generations, as many as may be
  std::vector<Step> pieces;  ///< of a prompt, the short one first
  Tensor spare;              ///< takes the place of a cache in a step with too many rows
  mutable Scheduler scheduler;

 private:
  /// Throws type_error.
  void check_sizes() const;
  Tensor create(const OperandDescriptor& descriptor, const TensorUsage& usage) const;
  void create_tensors(Step& step, Graph graph) const;
};

}  // namespace polychron::text::detail
