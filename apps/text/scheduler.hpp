// Joins the steps of generations: continuous batching (Yu et al.: "Orca: A Distributed Serving
// System for Transformer-Based Generative Models", OSDI 2022).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "apps/text/tokenizer.hpp"
#include "polychron/text.hpp"

namespace polychron::text::detail {

class Job;
class ModelState;
using Jobs = std::list<std::unique_ptr<Job>>;

/// The generations that its loop has not seen. The loop is a coroutine, which lives while there is
/// a generation. Thread-safe.
class Scheduler {
 public:
  Scheduler();
  ~Scheduler();
  /// True if there is no loop: the caller begins one.
  bool add(std::unique_ptr<Job> job);
  /// Moves all to the end of `to`. False if there are none, and `goes_on` is false: then the loop
  /// must end.
  bool take(Jobs& to, bool goes_on);

 private:
  std::mutex mutex_;
  Jobs arrived_;
  bool has_loop_ = false;
};

/// Continues the prompt. Throws type_error.
Future<Generated> generate(std::shared_ptr<const ModelState> model, std::vector<TokenId> prompt,
                           const GenerateOptions& options);

}  // namespace polychron::text::detail
