// The log callback, which hears events besides the errors of calls.
#include <mutex>
#include <stdexcept>

#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(log_records)

namespace {

/// The logged records in order, as "level source: message"; of callbacks that ran.
class Records {
 public:
  RuntimeOptions options(LogLevel least) {
    RuntimeOptions options;
    options.log_level = least;
    options.log = [this](const LogRecord& record) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(std::string(to_string(record.level)) + " " + record.source + ": " +
                       record.message);
    };
    return options;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::size_t count(const std::string& words) {
    const auto all = lines();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& line) {
      return line.find(words) != std::string::npos;
    }));
  }
  /// Exactly one line has `words` in it.
  void has(const std::string& words) {
    std::string all;
    for (const auto& line : lines()) all += "\n" + line;
    BOOST_TEST(count(words) == 1U, "expected once: " << words << ", there is:" << all);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

const TensorDescriptor one{{DataType::float32, {1}}, true, true, "t"};

}  // namespace

BOOST_AUTO_TEST_CASE(contexts_and_graphs_are_told_at_info) {
  Records records;
  {
    Runtime runtime(records.options(LogLevel::info));
    auto context = runtime.create_context({.label = "main", .threads = 1, .lanes = 2}).get();
    GraphBuilder builder(context);
    const auto x = builder.input("x", one);
    builder.build({{"y", builder.neg(x)}}, {"negative"}).get();
    context.destroy();
    context.destroy();
  }
  records.has("info context 'main': created on ");
  records.has("2 lanes, up to 1 threads for a dispatch");
  records.has("info context 'main': graph 'negative' compiled: 1 steps, ");
  records.has("info context 'main': the context was destroyed");
  BOOST_TEST(records.lines().size() == 3U);
}

BOOST_AUTO_TEST_CASE(below_the_level_nothing_is_told) {
  Records records;
  {
    Runtime runtime(records.options(LogLevel::warning));
    auto context = runtime.create_context().get();
    context.log(LogLevel::info, "not this");
    context.log(LogLevel::warning, "this");
    context.log(LogLevel::error, "and this");
  }
  const auto lines = records.lines();
  BOOST_REQUIRE_EQUAL(lines.size(), 2U);
  BOOST_TEST(lines[0] == "warning context: this");
  BOOST_TEST(lines[1] == "error context: and this");
}

BOOST_AUTO_TEST_CASE(errors_that_no_scope_takes) {
  Records records;
  {
    Runtime runtime(records.options(LogLevel::error));
    auto context = runtime.create_context({.label = "main"}).get();
    const auto tensor = context.create_tensor(one).get();
    const std::vector<float> many(2);
    context.push_error_scope(ErrorFilter::validation);
    throws(ErrorKind::type_error, [&] { context.write_tensor(tensor, many, {.label = "taken"}); });
    context.pop_error_scope().get();
    throws(ErrorKind::type_error, [&] { context.write_tensor(tensor, many, {.label = "heard"}); });
    context.pending().get();  // after the report
  }
  records.has("error context 'main': tensor 't': expected 4 bytes");
  BOOST_TEST(records.lines().size() == 1U);
}

BOOST_AUTO_TEST_CASE(missed_deadlines_are_no_errors) {
  for (const auto least : {LogLevel::info, LogLevel::warning}) {
    Records records;
    {
      Runtime runtime(records.options(least));
      auto context = runtime.create_context().get();
      const auto tensor = context.create_tensor(one).get();
      WriteOptions late{.label = "late"};
      late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
      context.write_tensor(tensor, std::vector{1.0F}, late);
      static_cast<void>(context.read_tensor(tensor).take());
      context.pending().get();  // after the report, which the lane sends before it answers the read
    }
    if (least == LogLevel::info)
      records.has("write 'late'");
    else
      BOOST_TEST(records.lines().empty());
  }
}

BOOST_AUTO_TEST_CASE(callbacks_that_throw) {
  Records records;
  {
    Runtime runtime(records.options(LogLevel::warning));
    auto context = runtime.create_context().get();
    context.create_tensor(one).then([](auto) { throw std::runtime_error("no such key"); });
  }
  records.has("warning runtime: a callback threw: no such key");
}

BOOST_AUTO_TEST_CASE(what_the_log_throws_is_lost) {
  RuntimeOptions options;
  options.log = [](const LogRecord&) { throw std::runtime_error("no disk"); };
  Runtime runtime(options);
  auto context = runtime.create_context().get();
  for (int i = 0; i < 10; ++i) context.log(LogLevel::error, "again");
  context.create_tensor(one).get();
  runtime.shutdown();
  BOOST_TEST(runtime.callback_exceptions() == 0U);
}

BOOST_AUTO_TEST_CASE(a_log_that_is_slow_hears_some) {
  const auto go = Promise<void>::make();
  auto gone = go.future();
  std::size_t heard = 0;
  RuntimeOptions options;
  options.log = [&](const LogRecord&) {
    if (heard++ == 0) gone.get();
  };
  {
    Runtime runtime(options);
    const auto context = runtime.create_context().get();
    for (int i = 0; i < 5000; ++i) context.log(LogLevel::error, "a flood");
    go.resolve();
  }
  BOOST_TEST(heard == 1024U);
}

BOOST_AUTO_TEST_CASE(it_is_heard_where_callbacks_run) {
  std::mutex mutex;
  std::vector<std::function<void()>> tasks;
  Records records;
  auto options = records.options(LogLevel::error);
  options.executor = [&](std::function<void()> task) {
    const std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
  };
  Runtime runtime(options);
  const auto context = runtime.create_context().get();
  context.log(LogLevel::error, "later");
  BOOST_TEST(records.lines().empty());
  BOOST_REQUIRE_EQUAL(tasks.size(), 1U);
  tasks[0]();
  records.has("error context: later");
}

BOOST_AUTO_TEST_CASE(a_context_that_is_none_cannot_log) {
  throws(ErrorKind::type_error, [] { Context().log(LogLevel::error, "to nobody"); });
}

BOOST_AUTO_TEST_SUITE_END()
