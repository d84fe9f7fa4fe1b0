// A model's graphs, one for each set of shapes that requests have.
//
// Owns: the sessions of one model on one context, and the requests that wait for a build.
// Invariants: each set of shapes is built once; one build of a model at a time; at most `most`
// sessions are kept, and no more than fit the memory; the least recently used one goes first.
// Never: blocks its caller. Builds run on the given executor.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <polychron/onnx.hpp>
#include <polychron/session.hpp>
#include <string>
#include <vector>

#include "core/config.hpp"

namespace polychron::server {

class Shapes : public std::enable_shared_from_this<Shapes> {
 public:
  using Ready = std::function<void(Result<onnx::Session>)>;

  struct Counts {
    std::size_t kept = 0;      ///< sessions and remembered refusals
    std::size_t waiting = 0;   ///< shapes that wait for their build
    std::uint64_t builds = 0;  ///< since the model was loaded
    std::uint64_t evicted = 0;
  };

  /// `most_bytes` is what the graphs of all kept sessions may take together; `on_build` is called
  /// when a build begins.
  Shapes(Context context, onnx::Model model, std::string label, std::size_t most,
         std::uint64_t most_bytes, boost::asio::any_io_executor builder,
         std::function<void()> on_build)
      : context_(std::move(context)),
        model_(std::move(model)),
        label_(std::move(label)),
        most_(most),
        most_bytes_(most_bytes),
        builder_(std::move(builder)),
        on_build_(std::move(on_build)) {}

  /// Calls `ready` once: at once if the session is there, else when it is built. Any thread. May
  /// throw std::bad_alloc; `ready` is then not called.
  void get(const Bindings& bindings, Ready ready);
  Counts counts() const;

 private:
  struct Entry {
    Bindings bindings;
    std::optional<Result<onnx::Session>> result;  ///< absent until it is built
    std::vector<Ready> waiting;
    std::list<std::string>::iterator used;
    GraphMemory memory{};  ///< of its graph
    bool retried = false;  ///< once, after the others made room
    std::uint64_t arenas() const { return memory.total() - memory.constants; }
  };
  using Entries = std::map<std::string, Entry>;

  /// With the lock. If it throws, it has done nothing.
  void add(const std::string& key, const Bindings& bindings, Ready ready);
  void start_next();  ///< with the lock; if it throws, the queue is as it was
  /// The same for later. Requests whose build cannot begin for lack of memory hear of it.
  void go_on(std::unique_lock<std::mutex>& lock) noexcept;
  static void tell(const std::vector<Ready>& waiting, const Result<onnx::Session>& result) noexcept;
  void build(const std::string& key, const Bindings& bindings);
  void built(const std::string& key, Result<onnx::Session> result);
  void evict(std::size_t most, const std::string& keep);  ///< with the lock

  const Context context_;
  const onnx::Model model_;
  const std::string label_;
  const std::size_t most_;
  const std::uint64_t most_bytes_;
  const boost::asio::any_io_executor builder_;
  const std::function<void()> on_build_;
  const Error no_memory_{ErrorKind::out_of_memory, "out of memory"};  ///< made early

  mutable std::mutex mutex_;
  Entries entries_;
  std::list<std::string> order_;  ///< most recently used first
  std::list<std::string> queue_;  ///< shapes that wait for their build
  bool building_ = false;
  std::uint64_t builds_ = 0, evicted_ = 0;
};

}  // namespace polychron::server
