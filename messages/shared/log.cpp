#include "messages/shared/log.hpp"

#include <string>
#include <utility>

namespace polychron::msg {

/// A record on its way. An exception of the sink is dropped: to report it would be to log it.
struct Log::Telling final : polychron::detail::Deferred {
  Telling(std::shared_ptr<Log> to, LogRecord what) : log(std::move(to)), record(std::move(what)) {}
  ~Telling() override { --log->on_their_way_; }
  void run() override {
    try {
      log->sink_(record);
    } catch (...) {
    }
  }
  const std::shared_ptr<Log> log;
  const LogRecord record;
};

void Log::tell(LogLevel level, std::string_view source, std::string_view message) noexcept {
  if (!takes(level)) return;
  if (++on_their_way_ > most) {
    --on_their_way_;
    return;
  }
  std::shared_ptr<Telling> telling;
  try {
    telling = std::make_shared<Telling>(
        shared_from_this(), LogRecord{level, std::string(source), std::string(message)});
  } catch (...) {
    --on_their_way_;
    return;
  }
  callbacks_->post(std::move(telling));
}

}  // namespace polychron::msg
