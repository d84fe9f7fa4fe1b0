// Values that the model gives: initializers, and those of Constant nodes.
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

/// A literal that may still be in a file beside the model: then it is read when it is first asked
/// for, and kept. Copies share it. Thread-safe.
class Constant {
 public:
  Constant(Literal literal) : size_(literal.bytes.size()), literal_(std::move(literal)) {}
  /// `read` returns a literal of `size` bytes; it may throw, and is then called again next time.
  Constant(std::size_t size, std::function<Literal()> read)
      : size_(size), later_(std::make_shared<Later>(std::move(read))) {}

  /// Of the literal, in bytes.
  std::size_t size() const noexcept { return size_; }
  /// Throws what `read` throws: Error (bad_data, out_of_memory).
  Literal literal() const { return later_ ? later_->get() : literal_; }

 private:
  class Later {
   public:
    explicit Later(std::function<Literal()> read) : read_(std::move(read)) {}
    Literal get() {
      const std::lock_guard lock(mutex_);
      if (!known_) known_ = read_();
      return *known_;
    }

   private:
    const std::function<Literal()> read_;
    std::mutex mutex_;
    std::optional<Literal> known_;
  };

  std::size_t size_;
  Literal literal_;               ///< unless later_ has it
  std::shared_ptr<Later> later_;  ///< null: nothing has to be read
};

using Constants = std::unordered_map<std::string, Constant>;

}  // namespace polychron::onnx::detail
