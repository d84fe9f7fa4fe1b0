// The kernel interface: per operator a list of implementations, best first, the reference last.
//
// An implementation either prepares a kernel for a problem or refuses it with a reason. A prepared
// kernel is immutable and shared by all lanes; binding it to memory gives a lane its own executable
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

/// Where a step finds its operands. Absent operands, and constants that the kernel has taken over
/// (Kernel::keeps_constant), are null. Owned by the plan instance; outlives the Bound.
struct Arguments {
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  std::byte* scratch = nullptr;  ///< Kernel::scratch_bytes() bytes, aligned to 64
};

/// Bytes from one plane of channels to the next where a picture is some rows of a larger one; 0:
/// planes follow each other.
struct Planes {
  std::size_t in = 0;   ///< of input 0
  std::size_t out = 0;  ///< of the result, and of what is added to it
};

/// A kernel with its arguments. Used by one thread, or by those of one team.
class Bound {
 public:
  virtual ~Bound() = default;
  /// The pointers in the Arguments have changed.
  virtual void rebind() {}
  /// Computes. Throws Error or dnnl::error; allocates nothing unless it throws.
  virtual void run() = 0;
  /// Of how many parts run() consists: each may run on another thread, at the same time.
  virtual std::size_t parts() const noexcept { return 1; }
  /// Computes one of them.
  virtual void run_part([[maybe_unused]] std::size_t part) { run(); }
  /// The constants that a part reads first, or run(), which begins as part 0 does: a step
  /// before it may fetch them as it ends. Empty where that gains nothing.
  virtual std::span<const std::byte> reads_first([[maybe_unused]] std::size_t part) const noexcept {
    return {};
  }
  /// `next`, perhaps some steps on, is the first that has such; it stays as long as this does.
  virtual void precedes([[maybe_unused]] const Bound& next) {}
};

/// A kernel prepared for one problem. Immutable, thread-safe.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::size_t scratch_bytes() const noexcept { return 0; }
  /// Adds the constants that the kernel has transformed and keeps. Other kernels may hold the same.
  virtual void add_constants([[maybe_unused]] Constants& constants) const {}
  /// Bytes of these together.
  std::size_t constant_bytes() const {
    Constants constants;
    add_constants(constants);
    keep_each_once(constants);
    return total_bytes(constants);
  }
  /// True if the kernel has its own copy of constant input `index` and needs the original no more.
  virtual bool keeps_constant(std::size_t index) const noexcept {
    static_cast<void>(index);
    return false;
  }
  /// True if the kernel may write output 0 over input `index` (same bytes, same layout).
  virtual bool in_place(std::size_t index) const noexcept {
    static_cast<void>(index);
    return false;
  }
  /// Of how many parts its Bounds are.
  virtual std::size_t parts() const noexcept { return 1; }
  /// A library computes it by its reference implementation: right, and much slower than its other
  /// ones.
  virtual bool runs_reference() const noexcept { return false; }
  /// `arguments` must stay where it is as long as the Bound lives.
  virtual std::unique_ptr<Bound> bind(const Arguments& arguments) const = 0;
  /// Whether it computes rows of larger pictures where they lie, of one picture.
  virtual bool takes_rows() const noexcept { return false; }
  /// Binds it to such; only if it takes them.
  virtual std::unique_ptr<Bound> bind_rows(const Arguments& arguments,
                                           [[maybe_unused]] const Planes& planes) const {
    return bind(arguments);
  }
};

using KernelResult = Result<std::unique_ptr<Kernel>>;

/// Refuses with an Error of kind not_supported whose message is the reason.
using Prepare = KernelResult (*)(const Problem& problem);

/// Why an implementation does not take a problem; nullopt: it does.
using Refusal = std::optional<std::string>;

/// A row of a folder's tables: one implementation of an operator. Those of one operator stand best
/// first. Passes, cuts and layouts ask these rows; nobody else knows which kernel takes what.
struct Entry {
  ops::OpId op;
  Prepare prepare;
  std::string_view way{};  ///< names it beside others of its folder
  /// Says why the implementation refuses a problem, and prepares nothing. Null if only prepare()
  /// knows.
  Refusal (*refusal)(const Problem& problem) = nullptr;
  /// Its kernels divide their work into parts themselves, better than by the operands' shapes.
  bool cuts_itself = false;
};

/// Names of ways that others ask for.
inline constexpr std::string_view by_panels = "panels";
inline constexpr std::string_view by_minimal_filtering = "minimal filtering";  ///< Winograd's

/// A row with the name of its folder: "onednn", "eigen", "reference", ...
struct Implementation : Entry {
  std::string_view name;
};

/// The entries of a table whose lines have an `op` and more, for one function that prepares them.
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

/// The implementations of an operator, best first; empty for an operator that has none.
std::vector<Implementation> implementations(ops::OpId op);

/// The way of the first row whose refusal() takes `problem`, in the layouts that it has; empty if
/// there is none.
std::string_view way_of(const Problem& problem);

/// What prepare() returns to decline a problem.
inline KernelResult refuse(std::string reason) {
  return Error(ErrorKind::not_supported, std::move(reason));
}

}  // namespace polychron::kernels
