#include "grpc/session.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstring>

#include "grpc/fields.hpp"
#include "grpc/messages.hpp"
#include "grpc/methods.hpp"
#include "http/await.hpp"
#include "protocol/compression.hpp"

namespace polychron::server {

namespace asio = boost::asio;

namespace {

constexpr std::uint32_t stream_window = 1 << 20, connection_window = 16 << 20;

std::size_t frame_of(std::uint8_t* into, std::size_t length, Call& call) {
  const auto part = std::min(length, call.answer.size() - call.sent);
  std::memcpy(into, call.answer.data() + call.sent, part);
  call.sent += part;
  return part;
}

}  // namespace

/// The library's calls. One that fails for want of memory ends the connection.
struct Session::Callbacks {
  template <class F>
  static int guarded(F&& work) {
    try {
      work();
      return 0;
    } catch (const std::exception&) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }
  static Session& of(void* user) { return *static_cast<Session*>(user); }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return guarded([&] { of(user).begin_call(frame->hd.stream_id); });
  }
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    auto* const call = of(user).find(frame->hd.stream_id);
    if (!call || call->method) return 0;
    return guarded([&] {
      of(user).add_header(*call, {reinterpret_cast<const char*>(name), name_size},
                          {reinterpret_cast<const char*>(value), value_size});
    });
  }
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto& self = of(user);
    const auto found = self.calls_.find(frame->hd.stream_id);
    if (found == self.calls_.end()) return 0;
    const auto call = found->second;
    return guarded([&] {
      if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        self.end_header(call);
      const bool has_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
      if (has_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) self.end_message(call);
    });
  }
  static int data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                  std::size_t size, void* user) {
    auto* const call = of(user).find(stream);
    if (!call) return 0;
    return guarded([&] { of(user).add_message(*call, std::as_bytes(std::span(bytes, size))); });
  }
  static int stream_closed(nghttp2_session*, std::int32_t stream, std::uint32_t, void* user) {
    return guarded([&] { of(user).end_stream(stream); });
  }
  /// A client that still sends to a call which has its status is told to stop.
  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool is_end =
        frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
    auto& self = of(user);
    if (!is_end || !self.find(frame->hd.stream_id)) return 0;
    if (nghttp2_session_get_stream_remote_close(self.session_, frame->hd.stream_id) == 0)
      self.reset(frame->hd.stream_id, NGHTTP2_NO_ERROR);
    return 0;
  }
  static ssize_t read(nghttp2_session*, std::int32_t stream, std::uint8_t* into, std::size_t length,
                      std::uint32_t* flags, nghttp2_data_source* source, void* user) {
    auto& call = *static_cast<Call*>(source->ptr);
    const auto part = frame_of(into, length, call);
    if (call.transfer.pass(part)) of(user).update_place();
    if (call.sent < call.answer.size()) return static_cast<ssize_t>(part);
    if (call.seen) return part > 0 ? static_cast<ssize_t>(part) : ssize_t{NGHTTP2_ERR_DEFERRED};
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    of(user).submit_trailer(stream);
    return static_cast<ssize_t>(part);
  }
};

Session::Session(asio::any_io_executor executor, std::shared_ptr<HttpShared> shared,
                 Connections::Place place, std::function<void()> wake)
    : executor_(std::move(executor)),
      shared_(std::move(shared)),
      place_(place),
      wake_(std::move(wake)),
      timer_(executor_) {}

Session::~Session() { nghttp2_session_del(session_); }

void Session::begin() {
  nghttp2_session_callbacks* made = nullptr;
  if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc();
  const std::unique_ptr<nghttp2_session_callbacks, decltype(&nghttp2_session_callbacks_del)>
      callbacks(made, nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_on_begin_headers_callback(made, Callbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(made, Callbacks::header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, Callbacks::frame_received);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Callbacks::data);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, Callbacks::stream_closed);
  nghttp2_session_callbacks_set_on_frame_send_callback(made, Callbacks::frame_sent);
  nghttp2_option* given = nullptr;
  if (nghttp2_option_new(&given) != 0) throw std::bad_alloc();
  const std::unique_ptr<nghttp2_option, decltype(&nghttp2_option_del)> options(given,
                                                                               nghttp2_option_del);
  nghttp2_option_set_no_closed_streams(given, 1);
  // A client whose deadlines pass resets its calls: a flood is more than that.
  nghttp2_option_set_stream_reset_rate_limit(given, 10'000, 1'000);
  if (nghttp2_session_server_new2(&session_, made, this, given) != 0) throw std::bad_alloc();
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, most_calls},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
       static_cast<std::uint32_t>(shared_->options.header_bytes)}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, connection_window);
}

// -- bytes ----------------------------------------------------------------------------------------

bool Session::receive(std::span<const std::byte> bytes) {
  const auto used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return used == static_cast<ssize_t>(bytes.size());
}

void Session::collect(std::string& output) {
  const std::uint8_t* frame = nullptr;
  while (output.size() < Transfer::least) {
    const auto size = nghttp2_session_mem_send(session_, &frame);
    if (size < 0) throw std::bad_alloc();
    if (size == 0) return;
    output.append(reinterpret_cast<const char*>(frame), static_cast<std::size_t>(size));
  }
}

bool Session::is_full() const { return nghttp2_session_get_outbound_queue_size(session_) > 1000; }

bool Session::is_over() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

// -- calls ----------------------------------------------------------------------------------------

Call* Session::find(int stream) {
  const auto found = calls_.find(stream);
  return found == calls_.end() ? nullptr : found->second.get();
}

void Session::begin_call(int stream) {
  if (calls_.size() + running_ >= 2 * most_calls)
    return reset(stream, NGHTTP2_REFUSED_STREAM);  // many that were reset still run
  calls_.emplace(stream, std::make_shared<Call>(stream, *shared_));
  update_place();
  look_at_calls();
}

void Session::add_header(Call& call, std::string_view name, std::string_view value) {
  call.header_bytes += name.size() + value.size() + 32;  // as RFC 9113 counts, section 10.5.1
  if (call.header_bytes <= shared_->options.header_bytes) read_field(call, name, value);
}

void Session::end_header(const CallPtr& call) {
  const auto header = *std::exchange(call->header, std::nullopt);
  if (header.verb != "POST" || !header.content_type.starts_with("application/grpc")) {
    const nghttp2_nv fields[] = {field(":status", "415")};
    nghttp2_submit_response(session_, call->stream, fields, std::size(fields), nullptr);
    call->state = Call::State::sending;
    return;
  }
  try {
    check_header(*shared_, header, *call);
  } catch (...) {
    refuse(*call, current_refusal());
  }
}

void Session::add_message(Call& call, std::span<const std::byte> bytes) {
  if (call.state != Call::State::receiving) return;
  try {
    call.reader->add(bytes);
    if (call.transfer.pass(bytes.size())) update_place();
  } catch (...) {
    refuse(call, current_refusal());
  }
}

void Session::end_message(const CallPtr& call) {
  if (call->state != Call::State::receiving) return;
  try {
    call->message = call->reader->take();
  } catch (...) {
    return refuse(*call, current_refusal());
  }
  if (!call->method->answer) return watch(*call);
  call->state = Call::State::running;
  ++running_;
  asio::co_spawn(executor_, run(shared_from_this(), call), asio::detached);
}

namespace {

/// Replaces a compressed message by what it has.
asio::awaitable<void> decompress_message(HttpShared& shared, Call& call) {
  if (call.encoding != "gzip" && call.encoding != "deflate")
    throw Refusal(Status::bad_request,
                  "the message is compressed, and grpc-encoding does not say how");
  const auto most = call.reader->most();
  const auto bytes = std::max(Worker::large, call.message.bytes.size());
  call.message = co_await async_work(shared.worker, bytes, [&] {
    return decompressed(call.message.bytes, 0, most, shared.service.budget);
  });
}

}  // namespace

asio::awaitable<void> Session::run(std::shared_ptr<Session> self, CallPtr call) {
  auto& shared = *self->shared_;
  std::optional<Refusal> refusal;
  std::string message;
  try {
    if (!shared.connections.run(self->place_, call->method->kind == Method::Kind::probe))
      throw Refusal(Status::unavailable, "too many connections run requests", 1);
    if (call->reader->is_compressed()) co_await decompress_message(shared, *call);
    message = co_await call->method->answer(shared, *call);
  } catch (...) {
    refusal = current_refusal();
  }
  --self->running_;
  call->message = {};
  if (self->find(call->stream) == call.get()) {
    if (refusal)
      self->refuse(*call, *refusal);
    else
      self->answer(*call, std::move(message));
  }
  self->update_place();
  self->wake_();
}

void Session::end_stream(int stream) {
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return;
  found->second->cancellation.cancel();
  calls_.erase(found);
  if (leaving_ && calls_.empty()) nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  update_place();
}

void Session::refuse(Call& call, const Refusal& refusal) {
  const auto status = std::to_string(grpc_status_of(refusal.status()));
  const auto message = percent_encoded(printable(refusal.message(), 4000));
  std::vector<nghttp2_nv> fields{field(":status", "200"), field("content-type", "application/grpc"),
                                 field("grpc-status", status), field("grpc-message", message)};
  std::string pushback;
  if (const auto seconds = refusal.retry_after_s()) {
    pushback = std::to_string(*seconds * 1000);
    fields.push_back(field("grpc-retry-pushback-ms", pushback));
  }
  if (refusal.status() == Status::unsupported)
    fields.push_back(field("grpc-accept-encoding", "identity,deflate,gzip"));
  call.state = Call::State::sending;
  call.transfer = Transfer(shared_->options.transfer_timeout);
  call.reader.reset();
  call.share.set(0);
  nghttp2_submit_response(session_, call.stream, fields.data(), fields.size(), nullptr);
}

void Session::answer(Call& call, std::string&& message) {
  try {
    // Until the client has read it. The answer of a health check needs no room.
    call.share.set(message.size() < Worker::large ? 0 : message.size());
  } catch (const Refusal& refusal) {
    return refuse(call, refusal);
  }
  call.answer = std::move(message);
  call.state = Call::State::sending;
  call.transfer = Transfer(shared_->options.transfer_timeout);
  const nghttp2_nv fields[] = {field(":status", "200"), field("content-type", "application/grpc")};
  nghttp2_data_provider provider{{.ptr = &call}, Callbacks::read};
  nghttp2_submit_response(session_, call.stream, fields, std::size(fields), &provider);
}

void Session::append(Call& call, const std::string& message) {
  call.answer = call.answer.substr(std::exchange(call.sent, 0)) + message;
  nghttp2_session_resume_data(session_, call.stream);
}

void Session::submit_trailer(int stream) {
  const nghttp2_nv fields[] = {field("grpc-status", "0")};
  nghttp2_submit_trailer(session_, stream, fields, std::size(fields));
}

void Session::reset(int stream, std::uint32_t code) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, code);
}

/// Answers with the server's health, and again whenever that changes.
void Session::watch(Call& call) {
  try {
    call.seen = check_watch(*shared_, call);
    answer(call, health_message(*call.seen));
  } catch (...) {
    refuse(call, current_refusal());
  }
}

// -- the connection -------------------------------------------------------------------------------

void Session::update_place() {
  if (gone_ || running_ > 0) return;
  shared_->connections.wait(
      place_, calls_.empty() ? Connections::State::idle : Connections::State::transferring);
}

/// Ends calls that make no progress, and tells those that watch, each second while there are calls.
void Session::look_at_calls() {
  if (timer_runs_ || gone_) return;
  timer_runs_ = true;
  timer_.expires_after(std::chrono::seconds(1));
  timer_.async_wait([self = shared_from_this()](boost::system::error_code failed) {
    self->timer_runs_ = false;
    if (failed || self->gone_) return;
    const auto now = Transfer::Clock::now();
    const auto calls = self->calls_;
    for (const auto& [stream, call] : calls) {
      const bool is_late = call->state != Call::State::running && call->transfer.due() <= now;
      if (call->seen) {
        if (const bool ready = self->shared_->service.ready(); ready != *call->seen) {
          call->seen = ready;
          self->append(*call, health_message(ready));
        }
      } else if (is_late && call->state == Call::State::receiving && call->method) {
        self->refuse(*call, Refusal(Status::too_slow, "the message did not arrive in time"));
      } else if (is_late) {
        self->reset(stream, NGHTTP2_CANCEL);
      }
    }
    if (!self->calls_.empty()) self->look_at_calls();
    self->wake_();
  });
}

bool Session::close(End which) {
  const bool drains = shared_->service.draining;
  const bool ends = calls_.empty() || (which == End::unless_running && running_ == 0 && !drains);
  if (ends) {
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
  } else if (drains && !leaving_) {
    leaving_ = true;
    for (const auto& [stream, call] : calls_)
      if (call->seen) {
        call->seen.reset();  // it ends behind this
        append(*call, health_message(false));
      }
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                          nullptr, 0);
  }
  wake_();
  return ends;
}

void Session::abandon() {
  gone_ = true;
  timer_.cancel();
  for (const auto& [stream, call] : calls_) call->cancellation.cancel();
  calls_.clear();
}

}  // namespace polychron::server
