// A call of the public interface, again and again, while each of its allocations fails in turn.
#pragma once

#include <boost/test/unit_test.hpp>
#include <concepts>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "polychron/future.hpp"
#include "tests/scarcity/scarce.hpp"

namespace polychron::testing {

/// The call must throw Error (out_of_memory), or return a reply that is rejected so, or do without
/// that memory. `prepare` makes what the call takes, anew each time. `mistake`: what the call does
/// when nothing fails, if it is wrong.
template <class Prepare, std::invocable<std::invoke_result_t<Prepare>&> Call>
void each_allocation_fails(const std::string& name, Prepare prepare, Call call,
                           std::optional<ErrorKind> mistake = std::nullopt) {
  using Given = decltype(prepare());
  using Returned = decltype(call(std::declval<Given&>()));
  constexpr bool replies = requires {
    std::declval<std::add_lvalue_reference_t<Returned>>().take();
  };
  std::int64_t failed = 0;
  for (bool happened = true; happened; failed += happened) {
    BOOST_REQUIRE_LT(failed, 5000);
    auto given = prepare();
    std::optional<Error> error;
    bool other = false;
    std::optional<std::conditional_t<replies, Returned, bool>> reply;
    {
      const OwnAllocationFails failing(failed + 1);
      try {
        if constexpr (replies)
          reply.emplace(call(given));
        else
          static_cast<void>(call(given));
      } catch (const Error& thrown) {
        error = thrown;
      } catch (...) {
        other = true;
      }
      happened = failing.happened();
    }
    if constexpr (replies)
      if (reply)
        if (const auto result = reply->take(); !result) error = result.error();
    BOOST_TEST(!other, name << ", allocation " << failed + 1 << ": it throws no Error");
    const bool expected = !error || error->root().kind() == mistake ||
                          (happened && error->root().kind() == ErrorKind::out_of_memory);
    BOOST_TEST(expected,
               name << ", allocation " << failed + 1 << ": " << (error ? error->what() : ""));
    if (!happened) BOOST_TEST((error ? error->root().kind() == mistake : !mistake), name);
  }
  BOOST_TEST_MESSAGE(name << ": " << failed << " allocations");
}

/// The same for a call that needs nothing new.
template <class Call>
void each_allocation_fails(const std::string& name, Call call,
                           std::optional<ErrorKind> mistake = std::nullopt) {
  each_allocation_fails(
      name, [] { return 0; }, [&](int&) { return call(); }, mistake);
}

}  // namespace polychron::testing
