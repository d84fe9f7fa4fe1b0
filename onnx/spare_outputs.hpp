// Spare memory for outputs that a run does not ask for, kept for later runs.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "polychron/buffer.hpp"
#include "polychron/context.hpp"

namespace polychron::onnx::detail {

/// Buffers that runs take and give back; a buffer belongs to one run at a time. Thread-safe; the
/// lock is held only briefly.
class SpareBuffers {
 public:
  /// Keeps at most `max` for each of `outputs`.
  SpareBuffers(std::size_t outputs, std::size_t max) : kept_(outputs), max_(max) {}
  /// One of `bytes` for this output, of indeterminate content. Throws Error (out_of_memory).
  Buffer take(std::size_t output, std::size_t bytes);
  void keep(std::size_t output, Buffer&& buffer) noexcept;
  /// The number of unused buffers.
  std::size_t count() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::vector<Buffer>> kept_;
  const std::size_t max_;
};

/// Tensors that dispatches write in rotation and no one reads. Thread-safe; the lock is held while
/// a tensor is made, so that there are never more than `max`.
class SpareTensors {
 public:
  SpareTensors(std::size_t outputs, std::size_t max) : turns_(outputs), max_(max) {}
  /// The next tensor; waits if it must be made first. Throws what Context::create_tensor() rejects
  /// with.
  polychron::Tensor next(Context context, std::size_t output, const TensorDescriptor& descriptor);

 private:
  struct Turns {
    std::vector<polychron::Tensor> tensors;
    std::size_t next = 0;
  };
  std::mutex mutex_;
  std::vector<Turns> turns_;
  const std::size_t max_;
};

}  // namespace polychron::onnx::detail
