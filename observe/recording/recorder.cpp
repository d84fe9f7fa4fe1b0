#include "observe/recording/recorder.hpp"

#include <errno.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "observe/recording/writer.hpp"

namespace polychron::recording {

namespace {

std::atomic<std::uint64_t> recorders{0};

Address address_of(const msg::MessageView& message) {
  return std::visit([](const auto* m) { return reinterpret_cast<std::uintptr_t>(m); }, message);
}

}  // namespace

void Recorder::Writer::renew(std::size_t bytes) {
  std::array<char, 16> name{};  // of a thread: at most 15 bytes
  const bool named = pthread_getname_np(pthread_self(), name.data(), name.size()) == 0 &&
                     !std::string_view(program_invocation_short_name).starts_with(name.data());
  const ThreadNamed record{name.data()};
  recorder->store_.renew(current, bytes + (named ? most_bytes(record) : 0));
  if (named) put(record);
  said.forget();
}

/// The writers of a thread: one for each live recorder that it has used.
struct Recorder::Writers {
  ~Writers() {
    for (auto& writer : all)
      if (const auto recorder = writer->alive.lock(); recorder && !recorder->process_.forked())
        recorder->store_.leave(writer->current);
    gone = true;
  }
  std::vector<std::unique_ptr<Writer>> all;
  static thread_local bool gone;  ///< objects destroyed even later still send messages
};
thread_local bool Recorder::Writers::gone = false;

Recorder::Recorder(Clock clock) : clock_(std::move(clock)), id_(++recorders) {}
Recorder::~Recorder() = default;

void Recorder::begin(const Settings& settings) {
  steps_.store(settings.steps, std::memory_order_relaxed);
  calls_.store(settings.calls, std::memory_order_relaxed);
  store_.begin(settings.max_bytes);
}

Recorder::Writer* Recorder::writer() noexcept {
  thread_local Writers writers;
  if (Writers::gone) return nullptr;
  for (auto& writer : writers.all)
    if (writer->id == id_) return writer.get();
  try {
    std::erase_if(writers.all, [](const auto& writer) { return writer->alive.expired(); });
    return writers.all.emplace_back(std::make_unique<Writer>(*this, weak_from_this())).get();
  } catch (...) {
    store_.count_dropped(1);
    return nullptr;
  }
}

class Recorder::ContextObserver final : public msg::Observer {
 public:
  ContextObserver(std::shared_ptr<Recorder> to, std::string label, std::size_t lanes)
      : recorder_(std::move(to)),
        context_(++recorder_->contexts_),
        label_(std::move(label)),
        lanes_(static_cast<std::uint32_t>(lanes)) {
    tell([&](Writer&) { return ContextMade{context_, recorder_->now()}; });
  }

  void started(msg::ActorId actor, const char* kind) noexcept override {
    if (auto* const to = writer()) {
      const ActorBegan record{context_, actor, recorder_->now(), kind};
      say_context(*to, most_bytes(record));
      to->write(record);
    }
  }
  void ended(msg::ActorId actor) noexcept override {
    auto* const to = writer();
    if (to == nullptr) return;
    end_handling(*to, actor, true);
    const ActorEnded record{context_, actor, recorder_->now(), msg::tick()};
    say_context(*to, most_bytes(record));
    to->write(record);
  }
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override {
    auto* const writer = this->writer();
    if (writer == nullptr) return;
    auto& described = writer->description;
    described.about = {};
    auto& footprint = described.footprint;
    footprint.lane = 0;
    footprint.turn = footprint.graph = 0;
    footprint.waits.clear(), footprint.reads.clear(), footprint.writes.clear();
    try {
      describe(message, described);
    } catch (...) {
      return recorder_->store_.count_dropped(1);
    }
    const auto at = recorder_->now();
    if (auto* const frame = from == 0 ? nullptr : writer->frame_of(from)) {
      settle(*writer, *frame);
      // A lane whose device failed has lost the context, or found that another did so before. Its
      // operation comes after that, and after those of actors that looked before.
      if (std::holds_alternative<const msg::actor_failed*>(message))
        frame->carried.clock = msg::logical_clock();
    }
    // The record takes its lists along and gives them back, with their memory.
    Sent record{context_,
                at,
                msg::tick(),
                from,
                to,
                address_of(message),
                described.about,
                std::move(footprint)};
    auto bytes = most_bytes(record);
    const auto objects = [&](const auto& each) {
      if (const auto* const* m = std::get_if<const msg::carry_out*>(&message))
        msg::footprint_of((*m)->operation,
                          [&](const auto* object, bool) { each(name_of(*object)); });
    };
    objects([&](const ObjectNamed& name) { bytes += most_bytes(name); });
    say_context(*writer, bytes);
    objects([&](const ObjectNamed& name) {
      if (writer->said.is_new(name.graph ? a_graph : a_tensor, context_, name.id))
        writer->write(name);
    });
    writer->write(record);
    footprint = std::move(record.footprint);
  }
  void received(msg::ActorId by, const msg::MessageView& message,
                msg::LogicalTime sent) noexcept override {
    auto* const to = writer();
    if (to == nullptr) return;
    end_handling(*to, by, true);
    try {
      // Frames of a recording that ended inside them.
      std::erase_if(to->frames,
                    [&](const Frame& f) { return f.epoch != recorder_->store_.epoch(); });
      auto& frame = to->frames.emplace_back();
      frame.epoch = recorder_->store_.epoch();
      frame.open = Frame::Open::handling;
      frame.begin = recorder_->now();
      frame.handling.context = context_;
      frame.handling.by = by;
      const HandlingBegan record{context_,
                                 frame.begin,
                                 msg::tick(),
                                 sent,
                                 by,
                                 address_of(message),
                                 static_cast<std::uint32_t>(message.index())};
      say_context(*to, most_bytes(record));
      to->write(record);
    } catch (...) {
      recorder_->store_.count_dropped(1);
    }
  }
  void finished(msg::ActorId by, const msg::MessageView&) noexcept override {
    if (auto* const to = writer()) end_handling(*to, by, false);
  }
  void has_turn(msg::ActorId lane, const msg::carry_out& m) noexcept override {
    auto* const to = writer();
    auto* const frame = to == nullptr ? nullptr : to->frame_of(lane);
    if (frame == nullptr) return;
    settle(*to, *frame);
    msg::tick();
    frame->open = Frame::Open::operation;
    frame->carried.context = context_;
    frame->carried.begin = recorder_->now();
    frame->carried.lane = lane;
    frame->carried.ticket = m.stamp.ticket;
    frame->carried.operation = static_cast<std::uint32_t>(m.operation.index() + 1);
  }
  void carried_out(msg::ActorId lane, msg::Ticket ticket, bool submitted) noexcept override {
    auto* const to = writer();
    auto* const frame = to == nullptr ? nullptr : to->frame_of(lane);
    if (frame == nullptr || frame->carried.ticket != ticket) return;
    settle(*to, *frame);
    msg::tick();
    frame->open = Frame::Open::end;
    frame->carried.duration = since(frame->carried.begin);
    frame->carried.submitted = submitted;
  }
  void takes(msg::ActorId, const msg::submit& call) noexcept override {
    const auto kept = recorder_->calls_.load(std::memory_order_relaxed);
    if (kept == TraceCalls::none) return;
    const bool contents = kept == TraceCalls::payloads;
    // Do not even copy it: it would not fit.
    if (contents && content_bytes(call) > recorder_->store_.most_bytes())
      return recorder_->store_.count_dropped(1);
    tell([&](Writer& to) {
      auto record = describe(call, contents, to.call_bytes);
      record.context = context_;
      record.at = recorder_->now();
      record.clock = msg::logical_clock();
      return record;
    });
  }
  void answers(msg::ActorId lane, msg::Ticket ticket, const std::optional<Error>& error,
               std::span<const Buffer> results) noexcept override {
    const auto kept = recorder_->calls_.load(std::memory_order_relaxed);
    if (kept == TraceCalls::none) return;
    tell([&](Writer& to) {
      auto& text = to.description.error_text;
      text = error ? lines_of(*error) : "";
      const bool digests = kept == TraceCalls::payloads && !error;
      return Answered{context_, recorder_->now(), lane, ticket, digests ? digest_of(results) : 0,
                      text};
    });
  }
  void rejects(msg::ActorId tensor, msg::Ticket ticket) noexcept override {
    auto* const to = writer();
    auto* const frame = to == nullptr ? nullptr : to->frame_of(tensor);
    if (frame == nullptr) return;
    settle(*to, *frame);
    msg::tick();
    frame->open = Frame::Open::rejection;
    frame->rejected = {context_, recorder_->now(), 0, tensor, ticket};
  }
  void loses(msg::ActorId by, msg::Ticket ticket) noexcept override {
    tell([&](Writer&) {
      return Lost{context_, recorder_->now(), msg::logical_clock(), by, ticket};
    });
  }
  void left_out() noexcept override {
    tell([&](Writer&) { return LeftOut{context_, recorder_->now()}; });
  }
  void unheard(msg::ActorId lane, msg::Ticket ticket, const Error& error) noexcept override {
    tell([&](Writer& to) {
      auto& text = to.description.error_text;
      text = lines_of(error);
      return Unheard{context_, recorder_->now(), lane, ticket, text};
    });
  }
  void takes_back(msg::ActorId, msg::Ticket ticket,
                  std::span<const std::byte> bytes) noexcept override {
    if (recorder_->calls_.load(std::memory_order_relaxed) != TraceCalls::payloads) return;
    tell([&](Writer&) {
      return GivenBack{context_,
                       recorder_->now(),
                       ticket,
                       {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
    });
  }
  std::int64_t now() const noexcept override { return recorder_->now(); }
  void waited(msg::CallerWait why, std::int64_t begun) noexcept override {
    tell([&](Writer&) {
      return CallerWaited{context_, begun, since(begun), static_cast<std::uint32_t>(why)};
    });
  }
  bool wants_steps() const noexcept override {
    return recorder_->recording() && recorder_->steps_.load(std::memory_order_relaxed);
  }
  void steps_taken(msg::ActorId lane, msg::Ticket ticket, const msg::GraphSlot& graph,
                   std::span<const double> seconds) noexcept override {
    auto* const to = writer();
    const auto* const frame = to == nullptr ? nullptr : to->frame_of(lane);
    if (frame == nullptr) return;
    try {
      StepsTaken record{context_, lane, ticket, graph.id, frame->carried.begin, {}};
      for (const double s : seconds)
        record.nanoseconds.push_back(static_cast<std::uint64_t>(s * 1e9));
      std::string lines;
      for (const auto& line : graph.plan->describe()) lines += line + '\n';
      const PlanNamed plan{context_, graph.id, lines};
      say_context(*to, most_bytes(plan) + most_bytes(record));
      if (to->said.is_new(a_plan, context_, graph.id)) to->write(plan);
      to->write(record);
    } catch (...) {
      recorder_->store_.count_dropped(1);
    }
  }

 private:
  Writer* writer() const noexcept { return recorder_->recording() ? recorder_->writer() : nullptr; }
  /// Writes the record that `make(Writer&)` returns.
  template <class Make>
  void tell(const Make& make) noexcept {
    auto* const to = writer();
    if (to == nullptr) return;
    try {
      const auto record = make(*to);
      say_context(*to, most_bytes(record));
      to->write(record);
      to->put_large_away();
    } catch (...) {
      recorder_->store_.count_dropped(1);
    }
  }
  std::uint64_t since(Time begin) const {
    return static_cast<std::uint64_t>(std::max<Time>(0, recorder_->now() - begin));
  }
  /// Ends the actor's last handler, if any. No hook reports a handler that `threw` at that time.
  void end_handling(Writer& to, msg::ActorId actor, bool threw) noexcept {
    auto* const frame = to.frame_of(actor);
    if (frame == nullptr) return;
    settle(to, *frame);
    auto& handling = frame->handling;
    handling.duration = since(frame->begin);
    handling.end_clock = msg::logical_clock();
    handling.threw = threw;
    say_context(to, most_bytes(handling));
    to.write(handling);
    to.frames.erase(to.frames.begin() + (frame - to.frames.data()));
  }
  /// Before the actor's next event: what it did before has its logical time.
  void settle(Writer& to, Frame& frame) noexcept {
    const auto write = [&](const auto& record) {
      say_context(to, most_bytes(record));
      to.write(record);
    };
    const auto now = msg::logical_clock();
    switch (std::exchange(frame.open, Frame::Open::none)) {
      case Frame::Open::none:
        break;
      case Frame::Open::handling:
        frame.handling.clock = now;
        break;
      case Frame::Open::operation:
        frame.carried.clock = now;
        break;
      case Frame::Open::end:
        frame.carried.end_clock = now;
        write(frame.carried);
        break;
      case Frame::Open::rejection:
        frame.rejected.clock = now;
        write(frame.rejected);
        break;
    }
  }
  /// `bytes`: of what follows, and has to be in the same block.
  void say_context(Writer& to, std::size_t bytes) noexcept {
    const ContextNamed name{context_, label_, lanes_};
    to.make_room(most_bytes(name) + bytes);
    if (to.said.is_new(a_context, 0, context_)) to.write(name);
  }
  ObjectNamed name_of(const msg::TensorSlot& tensor) const {
    const auto actor = tensor.actor ? tensor.actor->id() : 0;
    return {context_, false, tensor.id, actor, tensor.bytes, tensor.label};
  }
  ObjectNamed name_of(const msg::GraphSlot& graph) const {
    const auto actor = graph.actor ? graph.actor->id() : 0;
    return {context_, true, graph.id, actor, 0, graph.label};
  }

  const std::shared_ptr<Recorder> recorder_;
  const ContextNumber context_;
  const std::string label_;
  const std::uint32_t lanes_;
};

std::shared_ptr<msg::Observer> Recorder::observer_for(std::string context_label,
                                                      std::size_t lanes) {
  return std::make_shared<ContextObserver>(shared_from_this(), std::move(context_label), lanes);
}

}  // namespace polychron::recording
