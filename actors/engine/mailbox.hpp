// The mail of one actor: many write, one reads. Urgent messages come first, in the order in which
// they came; then the others, in theirs.
#pragma once

#include <caf/all.hpp>
#include <caf/intrusive/lifo_inbox.hpp>
#include <utility>

namespace polychron::engine {

/// Elements that link themselves; CAF's queues count and weigh theirs, which takes three times the
/// space. Not thread-safe.
class Mail {
 public:
  using Element = caf::mailbox_element;

  Mail() = default;
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;
  ~Mail() { clear(); }

  bool empty() const noexcept { return first_ == nullptr; }
  const Element* first() const noexcept { return first_; }
  void push_back(caf::mailbox_element_ptr element) noexcept {
    auto* const before = std::exchange(last_, element.release());
    last_->next = nullptr;
    if (before == nullptr)
      first_ = last_;
    else
      before->next = last_;
  }
  void push_front(caf::mailbox_element_ptr element) noexcept {
    auto* const behind = std::exchange(first_, element.release());
    first_->next = behind;
    if (behind == nullptr) last_ = first_;
  }
  caf::mailbox_element_ptr pop_front() noexcept {
    caf::mailbox_element_ptr first(first_);
    if (first_ != nullptr) first_ = next_of(*first_);
    if (first_ == nullptr) last_ = nullptr;
    return first;
  }
  /// Takes `wanted`, which is here, out.
  caf::mailbox_element_ptr take(const Element& wanted) noexcept {
    Mail before;
    while (first_ != &wanted) before.push_back(pop_front());
    auto found = pop_front();
    before.append(*this);
    std::swap(first_, before.first_);
    std::swap(last_, before.last_);
    return found;
  }
  /// Moves the messages of `other` behind those here.
  void append(Mail& other) noexcept {
    if (other.empty()) return;
    if (last_ == nullptr)
      first_ = other.first_;
    else
      last_->next = other.first_;
    last_ = other.last_;
    other.first_ = other.last_ = nullptr;
  }
  template <class F>
  void for_each(F f) const {
    for (const auto* element = first_; element != nullptr; element = next_of(*element)) f(*element);
  }
  void clear() noexcept {
    while (pop_front()) {
    }
  }

 private:
  /// Links are between nodes, of which an element is one.
  static Element* next_of(const Element& element) noexcept {
    return static_cast<Element*>(element.next);
  }
  Element *first_ = nullptr, *last_ = nullptr;
};

/// Thread-safe where it says so; the rest is its reader's, the actor that runs.
class Mailbox {
 public:
  using Result = caf::intrusive::inbox_result;

  /// Thread-safe. unblocked_reader: the reader has nothing else to do, and must be run. Once it is
  /// closed the element goes.
  Result push(caf::mailbox_element_ptr element) noexcept {
    return inbox_.push_front(std::move(element));
  }
  bool closed() const noexcept { return inbox_.closed(); }

  /// Brings what has come into order.
  void fetch() noexcept {
    Arrived arrived;
    for (Node* node = inbox_.take_head(); node != nullptr;) {
      auto* const before = node->next;  // came before it
      arrived.add(static_cast<caf::mailbox_element*>(node));
      node = before;
    }
    keep(arrived);
  }
  caf::mailbox_element_ptr pop() noexcept {
    return (urgent_.empty() ? normal_ : urgent_).pop_front();
  }
  /// The next message, if the reader is run.
  const caf::mailbox_element* peek() noexcept {
    if (!closed() && !inbox_.blocked()) fetch();
    return (urgent_.empty() ? normal_ : urgent_).first();
  }
  bool fetched() const noexcept { return !urgent_.empty() || !normal_.empty(); }
  bool empty() const noexcept { return !fetched() && inbox_.empty(); }
  /// True if nothing is there: then the reader is through, and the next push() says so.
  bool try_block() noexcept { return !fetched() && inbox_.try_block(); }
  /// The messages that have been fetched.
  const Mail& urgent() const noexcept { return urgent_; }
  const Mail& normal() const noexcept { return normal_; }
  /// `element` was fetched: it is next from here on, whatever came before.
  void put_first(const caf::mailbox_element& element, bool urgent) noexcept {
    auto& from = urgent ? urgent_ : normal_;
    urgent_.push_front(from.take(element));
  }
  /// Nothing comes from here on, and each that is here is given to `drop` and goes.
  template <class F>
  void close(const F& drop) noexcept {
    Arrived arrived;
    const auto add = [&](caf::mailbox_element* element) noexcept { arrived.add(element); };
    if (!closed()) inbox_.close(add);
    keep(arrived);
    while (const auto element = pop()) drop(*element);
  }

 private:
  struct Policy {
    using mapped_type = caf::mailbox_element;
    using unique_pointer = caf::mailbox_element_ptr;
  };
  using Node = caf::mailbox_element::node_type;
  /// The latest first, as the inbox has them.
  struct Arrived {
    Mail urgent, normal;
    void add(caf::mailbox_element* element) noexcept {
      auto& mail = element->is_high_priority() ? urgent : normal;
      mail.push_front(caf::mailbox_element_ptr(element));
    }
  };
  void keep(Arrived& arrived) noexcept {
    urgent_.append(arrived.urgent);
    normal_.append(arrived.normal);
  }

  caf::intrusive::lifo_inbox<Policy> inbox_;
  Mail urgent_, normal_;
};

}  // namespace polychron::engine
