// A program on Boost.Asio: one of its own coroutines awaits Polychron's replies. `async_get` is the
// only link between the two; docs/embedding.md shows it. Prints the results of the graph.
#include <cstdio>
#include <exception>
#include <memory>
#include <polychron/polychron.hpp>
#include <utility>
// After <utility>, which Asio 1.74 (Debian 12's) uses and does not include:
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

using namespace polychron;
namespace asio = boost::asio;

namespace {

/// Waits for a reply without blocking: `co_await async_get(context.read_tensor(t))` gives its
/// Result. The handler runs on its own executor, never on a thread of Polychron's, and the executor
/// does not run out of work before. Any completion token will do.
template <class T, class Token = asio::use_awaitable_t<>>
auto async_get(Future<T> future, Token&& token = {}) {
  return asio::async_initiate<Token, void(Result<T>)>(
      [](auto handler, Future<T> awaited) {
        struct Waiting {
          decltype(handler) resume;
          decltype(asio::make_work_guard(handler)) work;
        };
        auto work = asio::make_work_guard(handler);
        auto waiting = std::make_shared<Waiting>(Waiting{std::move(handler), std::move(work)});
        std::move(awaited).then([waiting = std::move(waiting)](Result<T> result) {
          asio::post(waiting->work.get_executor(), [waiting, result = std::move(result)]() mutable {
            waiting->work.reset();
            std::move(waiting->resume)(std::move(result));
          });
        });
      },
      token, std::move(future));
}

#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
template <class T, class... Token>
void async_get(FutureOfBraces<T>, Token&&...) = delete;  // future_of() makes one that does
#endif

const OperandDescriptor four{DataType::float32, {4}};

/// y = x + x, for numbers from anywhere in a server.
asio::awaitable<void> serve(Context context) {
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  const NamedOperands outputs{{"y", builder.add(x, x)}};
  const Graph graph = (co_await async_get(builder.build(outputs))).value();
  const TensorDescriptor in{four, false, true, "in"}, out{four, true, false, "out"};
  const Tensor input = (co_await async_get(context.create_tensor(in))).value();
  const Tensor output = (co_await async_get(context.create_tensor(out))).value();
  context.write_tensor(input, std::vector<float>{1, 2, 4, 8});
  context.dispatch(graph, {{"x", input}}, {{"y", output}});
  const Buffer numbers = (co_await async_get(context.read_tensor(output))).value();
  for (const float number : numbers.as<float>()) std::printf("%g ", static_cast<double>(number));

  // An error is a value. value() would throw it.
  context.destroy();
  const auto refused = co_await async_get(context.create_tensor(in));
  std::printf("\n%s\n", refused ? "not refused" : to_string(refused.error().kind()).data());
}

}  // namespace

int main() {
  asio::io_context loop;  // outlives the runtime, whose callbacks post to it
  Runtime runtime;
  asio::co_spawn(loop, serve(runtime.create_context().get()), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
  try {
    loop.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
