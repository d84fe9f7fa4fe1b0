#include "core/access_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <polychron/error.hpp>
#include <utility>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

constexpr std::size_t most_lines = 10'000;

void write_all(int file, const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto written = ::write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody to tell
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char date[32], text[40];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof(text), "%s.%03dZ", date, static_cast<int>(ms.count() % 1000));
  return text;
}

AccessLog::AccessLog(const std::string& file, bool quiet) : quiet_(quiet) {
  if (file == "-") requests_ = ::dup(STDOUT_FILENO);
  if (!file.empty() && file != "-")
    requests_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (!file.empty() && requests_ < 0)
    throw Error(ErrorKind::bad_data, "the access log '" + file + "': " + std::strerror(errno));
  worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

AccessLog::~AccessLog() {
  worker_.request_stop();
  worker_.join();
  if (requests_ >= 0) ::close(requests_);
}

void AccessLog::request(const AccessEntry& entry) {
  if (requests_ < 0) return;
  boost::json::object line;
  line["time"] = timestamp();
  line["method"] = printable(entry.method, 20);
  line["target"] = printable(entry.target);
  line["status"] = entry.status;
  line["us"] = std::chrono::duration_cast<std::chrono::microseconds>(entry.time).count();
  line["received"] = entry.received;
  line["sent"] = entry.sent;
  if (!entry.id.empty()) line["id"] = printable(entry.id, 64);
  if (!entry.trace.empty()) line["traceparent"] = printable(entry.trace, 64);
  if (!entry.error.empty()) line["error"] = printable(entry.error, 1000);
  push(requests_, boost::json::serialize(line));
}

void AccessLog::server(const std::string& line) {
  if (!quiet_) push(STDERR_FILENO, timestamp() + " " + line);
}

void AccessLog::push(int file, std::string line) {
  if (file < 0) return;
  const std::lock_guard lock(mutex_);
  if (lines_.size() >= most_lines) {
    ++dropped_;
    return;
  }
  lines_.push_back({file, std::move(line) + "\n"});
  wake_.notify_one();
}

void AccessLog::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, stop, [&] { return !lines_.empty(); });
    if (lines_.empty()) return;  // stopped
    auto lines = std::exchange(lines_, {});
    lock.unlock();
    for (const auto& [file, text] : lines) write_all(file, text);
    lock.lock();
  }
}

}  // namespace polychron::server
