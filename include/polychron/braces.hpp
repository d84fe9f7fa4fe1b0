// Futures of calls with braces, in coroutines.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "polychron/future.hpp"

/// GCC 12 (Debian 12) miscompiles braced arguments inside a `co_await` expression: the label of
/// `co_await f({.label = "x"})` is destroyed twice. There FutureFrom makes such calls return a
/// FutureOfBraces, which refuses to compile in a co_await; future_of() makes a future that
/// compiles. (GCC 13 is untested.)
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define POLYCHRON_NO_BRACES_IN_CO_AWAIT 1
#endif

namespace polychron {

#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
/// The Future of a call with braced or std::move()d options or descriptor. It is a Future in all
/// respects, except that `co_await call({...})` does not compile: write `co_await future_of([&] {
/// return call({...}); })`, or name the braced argument.
template <class T>
class [[nodiscard]] FutureOfBraces : public Future<T> {
 public:
  FutureOfBraces(Future<T>&& future) noexcept : Future<T>(std::move(future)) {}
  /// Deleted: this compiler miscompiles braces inside a co_await. Use future_of().
  void operator co_await() && = delete;
};
/// The future of a call with arguments of types `A`, as a forwarding reference deduces them.
template <class T, class... A>
using FutureFrom =
    std::conditional_t<(std::is_lvalue_reference_v<A> && ...), Future<T>, FutureOfBraces<T>>;
#else
/// The future of a call with arguments of types `A`: here a plain one.
template <class T, class... A>
using FutureFrom = Future<T>;
#endif

/// An argument for a parameter of type T: a variable, or braces such as `{.label = "x"}`.
template <class A, class T>
concept ArgumentOf = std::derived_from<std::remove_cvref_t<A>, T>;

/// The future that `call`, a lambda, returns: `co_await future_of([&] { return builder.build({{"y",
/// builder.mul(x, x, "square")}}, {.label = "graph"}); })`. Braces inside the lambda are
/// safe with every compiler (GCC 12 miscompiles or rejects them in a co_await). With GCC 12 a
/// lambda written in the call may capture references and trivially destructible values only. Throws
/// what `call` throws.
template <class F>
requires requires { typename std::remove_cvref_t<std::invoke_result_t<F>>::ValueType; }
auto future_of(F&& call) {
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  static_assert(std::is_lvalue_reference_v<F> || std::is_trivially_destructible_v<F>,
                "this compiler destroys what the lambda holds twice: capture by reference");
#endif
  auto future = std::forward<F>(call)();
  return Future<typename decltype(future)::ValueType>(std::move(future));
}

}  // namespace polychron
