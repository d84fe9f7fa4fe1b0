// Values in the model: initializers, and values of Constant nodes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "onnx/literal.hpp"

namespace polychron::onnx::detail {

/// A literal that may still be in a file next to the model. Copies share it. Thread-safe.
class Constant {
 public:
  Constant(Literal literal) : size_(literal.bytes.size()), literal_(std::move(literal)) {}
  struct Read {
    Literal literal;
    bool keep = false;  ///< later uses share it: it is a copy
  };
  /// `read` returns a literal of `size` bytes. Each use calls it until there is one to keep.
  Constant(std::size_t size, std::function<Read()> read)
      : size_(size), later_(std::make_shared<Later>(std::move(read))) {}

  /// The size of the literal in bytes.
  std::size_t size() const noexcept { return size_; }
  /// The literal. Throws what `read` throws: Error (bad_data, out_of_memory).
  Literal literal() const { return later_ ? later_->get() : literal_; }

 private:
  class Later {
   public:
    explicit Later(std::function<Read()> read) : read_(std::move(read)) {}
    Literal get() {
      const std::lock_guard lock(mutex_);
      if (known_) return *known_;
      auto [literal, keep] = read_();
      if (keep) known_ = literal;
      return literal;
    }

   private:
    const std::function<Read()> read_;
    std::mutex mutex_;
    std::optional<Literal> known_;
  };

  std::size_t size_;
  Literal literal_;               ///< used if later_ is null
  std::shared_ptr<Later> later_;  ///< null: no file to read
};

using Constants = std::unordered_map<std::string, Constant>;

}  // namespace polychron::onnx::detail
