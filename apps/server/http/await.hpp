// What coroutines of connections wait for: docs/embedding.md explains the first.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <polychron/future.hpp>
#include <type_traits>
#include <utility>

#include "core/worker.hpp"

namespace polychron::server {

/// A coroutine that waits for something which happens on another thread.
template <class Handler>
struct Waiting {
  explicit Waiting(Handler&& handler)
      : work(boost::asio::make_work_guard(handler)), resume(std::move(handler)) {}
  decltype(boost::asio::make_work_guard(std::declval<Handler&>())) work;
  Handler resume;
};

/// `co_await async_get(std::move(future))` gives its Result, on the coroutine's own executor.
template <class T, class Token = boost::asio::use_awaitable_t<>>
auto async_get(Future<T> future, Token&& token = {}) {
  return boost::asio::async_initiate<Token, void(Result<T>)>(
      [](auto handler, Future<T> awaited) {
        const auto waiting = std::make_shared<Waiting<decltype(handler)>>(std::move(handler));
        std::move(awaited).then([waiting](Result<T> result) {
          boost::asio::post(waiting->work.get_executor(),
                            [waiting, result = std::move(result)]() mutable {
                              waiting->work.reset();
                              std::move(waiting->resume)(std::move(result));
                            });
        });
      },
      token, std::move(future));
}

/// Gives what `work()` returns or throws. On the worker if it is about a `bytes` that is large; the
/// coroutine goes on on its own executor.
template <class F>
boost::asio::awaitable<std::invoke_result_t<F>> async_work(Worker& worker, std::size_t bytes,
                                                           F work) {
  if (bytes < Worker::large) co_return work();
  std::optional<std::invoke_result_t<F>> made;
  std::exception_ptr failed;
  const auto run = [&] {
    try {
      made.emplace(work());
    } catch (...) {
      failed = std::current_exception();
    }
  };
  co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
      [&](auto handler) {
        const auto waiting = std::make_shared<Waiting<decltype(handler)>>(std::move(handler));
        worker.add(bytes, [waiting, &run] {
          run();
          boost::asio::post(waiting->work.get_executor(), [waiting] {
            waiting->work.reset();
            std::move(waiting->resume)();
          });
        });
      },
      boost::asio::use_awaitable);
  if (failed) std::rethrow_exception(failed);
  co_return std::move(*made);
}

}  // namespace polychron::server
