// Threads of callbacks: the runtime's callback thread in order, or the embedder's executor. And the
// handling of their exceptions.
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// An embedder's executor: keeps callbacks until it is told to run them.
struct Shelf {
  struct Content {
    std::mutex mutex;
    std::deque<std::function<void()>> work;
  };
  std::function<void(std::function<void()>)> executor() const {
    return [content = content](std::function<void()> work) {
      const std::lock_guard lock(content->mutex);
      content->work.push_back(std::move(work));
    };
  }
  std::size_t size() const {
    const std::lock_guard lock(content->mutex);
    return content->work.size();
  }
  void run() const {
    for (;;) {
      std::function<void()> work;
      {
        const std::lock_guard lock(content->mutex);
        if (content->work.empty()) return;
        work = std::move(content->work.front());
        content->work.pop_front();
      }
      work();
    }
  }
  std::shared_ptr<Content> content = std::make_shared<Content>();
};

RuntimeOptions on(const Shelf& shelf) {
  RuntimeOptions options;
  options.executor = shelf.executor();
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(executor)

BOOST_AUTO_TEST_CASE(by_default_callbacks_run_on_one_thread_in_the_order_of_their_replies) {
  Rig rig;
  const auto t = rig.tensor();
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  constexpr int calls = 200;
  for (int i = 0; i < calls; ++i)
    rig.context.read_tensor(t).then([&, i](const Result<Buffer>&) {
      const std::lock_guard lock(mutex);
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  BOOST_REQUIRE(comes([&] {
    const std::lock_guard lock(mutex);
    return order.size() == calls;
  }));
  BOOST_TEST(std::is_sorted(order.begin(), order.end()));
  for (const auto& thread : threads) BOOST_TEST((thread == threads[0]));
  BOOST_TEST((threads[0] != std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(every_callback_goes_to_the_embedders_executor) {
  const Shelf shelf;
  std::optional<Rig> made(std::in_place, ContextOptions{}, on(shelf));
  auto& rig = *made;
  int ran = 0;
  const auto note = [&](const auto&...) { ++ran; };
  auto t = rig.tensor();
  auto lease = rig.context.export_tensor(t).get();
  lease.on_revoked(note);
  auto read = rig.context.read_tensor(rig.tensor());
  read.wait();
  std::move(read).then(note);  // settled: all the same
  rig.context.pending().then(note);
  rig.context.on_uncaptured_error(note);
  throws(ErrorKind::type_error, [&] { rig.context.write_tensor(t, std::vector<float>(1)); });
  t.destroy();
  BOOST_TEST(comes([&] { return shelf.size() == 4; }));
  BOOST_TEST(ran == 0);
  shelf.run();
  BOOST_TEST(ran == 4);
  // Work that waits for no callback goes on.
  BOOST_TEST(rig.read(rig.tensor()) == 0.0F);
  made.reset();
  shelf.run();  // now the error handler is dropped; it holds an object that holds the shelf
}

BOOST_AUTO_TEST_CASE(an_executor_that_runs_nothing_holds_up_nobody_but_callbacks) {
  const Shelf shelf;
  int ran = 0;
  {
    Rig rig({}, on(shelf));
    const auto t = rig.tensor();
    rig.context.read_tensor(t).then([&](const Result<Buffer>&) { ++ran; });
    rig.context.destroy();
    BOOST_TEST(rig.runtime.shutdown().empty());
  }
  // After the runtime: the embedder has them, and may run them.
  shelf.run();
  BOOST_TEST(ran == 1);
}

BOOST_AUTO_TEST_CASE(a_throwing_executor_harms_nobody) {
  RuntimeOptions options;
  options.executor = [](const std::function<void()>&) { throw std::runtime_error("full"); };
  Rig rig({}, options);
  const auto t = rig.tensor();
  rig.context.read_tensor(t).then([](const Result<Buffer>&) {});
  rig.write(t, 3);
  BOOST_TEST(rig.read(t) == 3.0F);
  BOOST_TEST(rig.runtime.shutdown().empty());
}

BOOST_AUTO_TEST_CASE(what_a_throwing_executor_does_not_run_may_wait) {
  RuntimeOptions options;
  options.executor = [](const std::function<void()>&) { throw std::runtime_error("full"); };
  // On the heap: if this fails its end would not end.
  auto rig = std::make_unique<Rig>(ContextOptions{}, options);
  const auto t = rig->tensor();
  std::atomic<int> ran{0};
  for (int i = 0; i < 8; ++i)
    rig->context.read_tensor(t).then([&, context = rig->context](const Result<Buffer>&) mutable {
      context.read_tensor(t).wait();
      ++ran;
    });
  const bool all = comes([&] { return ran == 8; });
  BOOST_TEST(all, ran << " of 8 callbacks came to their end");
  if (!all) static_cast<void>(rig.release());
}

BOOST_AUTO_TEST_CASE(an_executor_that_takes_a_callback_and_throws_runs_it_once) {
  const Shelf shelf;
  RuntimeOptions options;
  options.executor = [take = shelf.executor()](std::function<void()> work) {
    take(std::move(work));
    throw std::runtime_error("late");
  };
  Rig rig({}, options);
  const auto t = rig.tensor();
  std::atomic<int> ran{0};
  for (int i = 0; i < 8; ++i)
    rig.context.read_tensor(t).then([&](const Result<Buffer>&) { ++ran; });
  BOOST_TEST(comes([&] { return ran == 8; }));
  shelf.run();
  BOOST_TEST(ran == 8);
  BOOST_TEST(rig.runtime.callback_exceptions() == 0U);
}

// -- exceptions -----------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(what_a_callback_throws_reaches_the_handler) {
  std::mutex mutex;
  std::vector<std::string> heard;
  RuntimeOptions options;
  options.on_callback_exception = [&](const std::exception_ptr& exception) {
    const std::lock_guard lock(mutex);
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      heard.emplace_back(error.what());
    } catch (int number) {
      heard.emplace_back(std::to_string(number));
    }
  };
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return heard.size();
  };
  Rig rig({}, options);
  auto t = rig.tensor();
  rig.context.read_tensor(t).then([](const Result<Buffer>&) { throw std::runtime_error("then"); });
  BOOST_REQUIRE(comes([&] { return count() == 1; }));
  rig.context.read_tensor(t).then([](const Result<Buffer>&) { throw 42; });
  BOOST_REQUIRE(comes([&] { return count() == 2; }));
  rig.context.on_uncaptured_error([](const Error&) { throw std::runtime_error("handler"); });
  throws(ErrorKind::type_error, [&] { rig.context.write_tensor(t, std::vector<float>(1)); });
  BOOST_REQUIRE(comes([&] { return count() == 3; }));
  auto lease = rig.context.export_tensor(t).get();
  lease.on_revoked([] { throw std::runtime_error("revoked"); });
  t.destroy();
  BOOST_REQUIRE(comes([&] { return count() == 4; }));
  BOOST_TEST(heard == (std::vector<std::string>{"then", "42", "handler", "revoked"}),
             boost::test_tools::per_element());
  BOOST_TEST(rig.runtime.callback_exceptions() == 4U);
  BOOST_TEST(!rig.context.lost().ready());
}

BOOST_AUTO_TEST_CASE(without_a_handler_exceptions_are_counted) {
  Rig rig;
  const auto t = rig.tensor();
  for (int i = 0; i < 10; ++i)
    rig.context.read_tensor(t).then([](const Result<Buffer>&) { throw std::runtime_error("x"); });
  BOOST_TEST(comes([&] { return rig.runtime.callback_exceptions() == 10; }));
  BOOST_TEST(rig.read(t) == 0.0F);
}

BOOST_AUTO_TEST_CASE(a_throwing_exception_handler_harms_nobody) {
  RuntimeOptions options;
  options.on_callback_exception = [](const std::exception_ptr& e) { std::rethrow_exception(e); };
  Rig rig({}, options);
  const auto t = rig.tensor();
  rig.context.read_tensor(t).then([](const Result<Buffer>&) { throw std::runtime_error("x"); });
  BOOST_TEST(comes([&] { return rig.runtime.callback_exceptions() >= 1; }));
  BOOST_TEST(rig.read(t) == 0.0F);
}

BOOST_AUTO_TEST_SUITE_END()
