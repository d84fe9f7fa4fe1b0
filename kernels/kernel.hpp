// The kernel interface: each operator has a list of implementations, best first, the reference
// last.
//
// An implementation either prepares a kernel for a problem or refuses it with a reason. All lanes
// share a prepared kernel, which is immutable. Binding it to memory gives a lane its own executable
// step. Preparing and binding may allocate and throw; run() allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/constants.hpp"
#include "kernels/problem.hpp"
#include "polychron/result.hpp"

namespace polychron::kernels {

/// Where a step finds its operands. Absent operands are null, and so are constants of which the
/// kernel keeps its own copy (Kernel::keeps_constant). The plan instance owns this; it outlives the
/// Bound.
struct Arguments {
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  std::byte* scratch = nullptr;  ///< Kernel::scratch_bytes() bytes, aligned to 64
};

/// A kernel with its arguments. One thread uses it, or the threads of one team.
class Bound {
 public:
  virtual ~Bound() = default;
  /// Reads the pointers in the Arguments again, after they have changed.
  virtual void rebind() {}
  /// Computes. Throws Error or dnnl::error; allocates nothing unless it throws.
  virtual void run() = 0;
  /// The number of parts of run(). Each part may run on another thread, at the same time.
  virtual std::size_t parts() const noexcept { return 1; }
  /// Computes one part.
  virtual void run_part([[maybe_unused]] std::size_t part) { run(); }
  /// The constants that a part reads first. For run() they are those of part 0. The step before may
  /// prefetch them as it ends. Empty if prefetching gains nothing.
  virtual std::span<const std::byte> reads_first([[maybe_unused]] std::size_t part) const noexcept {
    return {};
  }
  /// `next` is the first later step with constants to prefetch. It lives as long as this Bound
  /// does.
  virtual void precedes([[maybe_unused]] const Bound& next) {}
};

/// A kernel prepared for one problem. Immutable and thread-safe.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::size_t scratch_bytes() const noexcept { return 0; }
  /// Adds the constants that the kernel has transformed and keeps. Other kernels may share them.
  virtual void add_constants([[maybe_unused]] Constants& constants) const {}
  /// The bytes of all constants that the kernel keeps.
  std::size_t constant_bytes() const {
    Constants constants;
    add_constants(constants);
    keep_each_once(constants);
    return total_bytes(constants);
  }
  /// True if the kernel has its own copy of constant input `index` and no longer needs the
  /// original.
  virtual bool keeps_constant(std::size_t index) const noexcept {
    static_cast<void>(index);
    return false;
  }
  /// True if the kernel may write output 0 over input `index` (same bytes, same layout).
  virtual bool in_place(std::size_t index) const noexcept {
    static_cast<void>(index);
    return false;
  }
  /// The number of parts of its Bounds.
  virtual std::size_t parts() const noexcept { return 1; }
  /// True if a library computes it by its reference implementation, which is correct and slow.
  virtual bool runs_reference() const noexcept { return false; }
  /// The Bound keeps a reference to `arguments`, which must outlive it.
  virtual std::unique_ptr<Bound> bind(const Arguments& arguments) const = 0;
};

using KernelResult = Result<std::unique_ptr<Kernel>>;

/// Refuses with an Error of kind not_supported whose message is the reason.
using Prepare = KernelResult (*)(const Problem& problem);

/// The reason why an implementation refuses a problem; nullopt if it takes it.
using Refusal = std::optional<std::string>;

/// A row of a folder's table: one implementation of an operator. The rows of one operator stand
/// best first. Passes, cuts and layouts ask these rows, so that only the rows know which kernel
/// takes a problem.
struct Entry {
  ops::OpId op;
  Prepare prepare;
  std::string_view way{};  ///< distinguishes rows of one folder
  /// Says why the implementation refuses a problem, and prepares nothing. Null if only prepare()
  /// knows.
  Refusal (*refusal)(const Problem& problem) = nullptr;
  /// True if its kernels divide their work into parts themselves, better than by the operands'
  /// shapes.
  bool cuts_itself = false;
};

/// Names of ways that callers compare with.
inline constexpr std::string_view by_panels = "panels";
inline constexpr std::string_view by_minimal_filtering = "minimal filtering";  ///< Winograd's
inline constexpr std::string_view by_scattering = "scattered";

/// A row with the name of its folder: "onednn", "eigen", "reference", ...
struct Implementation : Entry {
  std::string_view name;
};

/// Makes one entry for each line of `table`. Lines have an `op` and further fields; `prepare`
/// serves them all.
template <class Line, std::size_t N>
constexpr std::array<Entry, N> entries_of(const Line (&table)[N], Prepare prepare) {
  std::array<Entry, N> entries{};
  for (std::size_t i = 0; i < N; ++i) entries[i] = {table[i].op, prepare};
  return entries;
}

template <std::size_t... N>
constexpr std::array<Entry, (N + ...)> joined(const std::array<Entry, N>&... parts) {
  std::array<Entry, (N + ...)> all{};
  std::size_t at = 0;
  const auto append = [&](const auto& part) {
    for (const Entry& entry : part) all[at++] = entry;
  };
  (append(parts), ...);
  return all;
}

/// The implementations of an operator, best first. Empty if it has none.
std::vector<Implementation> implementations(ops::OpId op);

/// The way of the first row whose refusal() takes `problem` in its present layouts. Empty if no row
/// takes it.
std::string_view way_of(const Problem& problem);

/// The value that prepare() returns to decline a problem.
inline KernelResult refuse(std::string reason) {
  return Error(ErrorKind::not_supported, std::move(reason));
}

}  // namespace polychron::kernels
