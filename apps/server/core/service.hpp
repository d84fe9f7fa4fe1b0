// What both transports share: the models, the limits, the counters, the log and the state of the
// server as a whole.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "core/access_log.hpp"
#include "core/tokens.hpp"
#include "models/repository.hpp"

namespace polychron::server {

/// Bytes that bodies of requests may take together.
class Budget {
 public:
  explicit Budget(std::uint64_t most) : most_(most) {}
  bool take(std::uint64_t bytes);
  /// Throws Refusal (unavailable) if so many bytes do not fit now. Takes none.
  void refuse_beyond(std::uint64_t bytes) const;
  void give_back(std::uint64_t bytes) { used_ -= bytes; }
  std::uint64_t used() const { return used_; }
  std::uint64_t most() const { return most_; }

 private:
  const std::uint64_t most_;
  std::atomic<std::uint64_t> used_{0};
};

/// A share of the budget, which ends with this object.
class BudgetShare {
 public:
  explicit BudgetShare(Budget& budget) : budget_(budget) {}
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;
  ~BudgetShare() { budget_.give_back(bytes_); }
  /// Makes it `bytes`. Throws Refusal (unavailable), and keeps what it has.
  void set(std::uint64_t bytes);

 private:
  Budget& budget_;
  std::uint64_t bytes_ = 0;
};

/// A failed request, for the page.
struct RecentError {
  std::string when;  ///< as in the log
  std::string model;
  Status status = Status::internal;
  std::string message;
};

struct ServiceOptions {
  std::uint64_t body_budget = std::uint64_t{1} << 30;
  bool repository_interface = false;
  bool recording = false;  ///< there is one
  std::string version = POLYCHRON_VERSION;
  std::vector<std::string> tokens;  ///< bearer tokens; empty: nobody needs one
};

class Service {
 public:
  Service(ServiceOptions of_service, Repository& models, Metrics& counters, AccessLog& lines)
      : repository(models),
        metrics(counters),
        log(lines),
        options(std::move(of_service)),
        budget(options.body_budget) {}

  Repository& repository;
  Metrics& metrics;
  AccessLog& log;
  const ServiceOptions options;
  Tokens tokens{options.tokens};  ///< may change
  Budget budget;
  std::atomic<bool> draining{false};
  const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  /// True if requests are wanted: the folder has been read, and the server is not about to end.
  bool ready() const { return !draining && repository.looked(); }
  /// Throws Refusal (unauthorized) unless a header "Authorization" of this value is enough.
  void check_token(std::string_view authorization) const;
  /// Throws Refusal (forbidden) if clients may not see and change the table of models.
  void check_repository() const;
  /// Counts, logs and remembers the end of an inference.
  void answered(const std::string& model, Status status, const std::string& message);
  std::vector<RecentError> recent_errors() const;

 private:
  mutable std::mutex mutex_;
  std::deque<RecentError> errors_;
};

}  // namespace polychron::server
