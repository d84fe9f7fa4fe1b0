// Polychron's futures in Boost.Asio's coroutines: docs/embedding.md explains it.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <polychron/future.hpp>
#include <utility>

namespace polychron::server {

/// `co_await async_get(std::move(future))` gives its Result, on the coroutine's own executor.
template <class T, class Token = boost::asio::use_awaitable_t<>>
auto async_get(Future<T> future, Token&& token = {}) {
  return boost::asio::async_initiate<Token, void(Result<T>)>(
      [](auto handler, Future<T> awaited) {
        struct Waiting {
          decltype(handler) resume;
          decltype(boost::asio::make_work_guard(handler)) work;
        };
        auto work = boost::asio::make_work_guard(handler);
        auto waiting = std::make_shared<Waiting>(Waiting{std::move(handler), std::move(work)});
        std::move(awaited).then([waiting = std::move(waiting)](Result<T> result) {
          boost::asio::post(waiting->work.get_executor(),
                            [waiting, result = std::move(result)]() mutable {
                              waiting->work.reset();
                              std::move(waiting->resume)(std::move(result));
                            });
        });
      },
      token, std::move(future));
}

}  // namespace polychron::server
