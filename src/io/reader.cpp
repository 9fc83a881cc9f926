#include "io/reader.hpp"

#include <hiredis/hiredis.h>
#include <hiredis/read.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <string_view>
#include <type_traits>

namespace redlock::inline v1::detail {

using core::Reply;

struct ReplyInProgress {
  ReplyLimits limits;
  ReplyLimits left;  // what remains of the limits for the rest of the reply
  Reply root;
  const char* refusal = nullptr;
  std::string too_long;  // the refusal of a reply that is larger than the limits
};

namespace {

constexpr std::size_t longest_error = 4096;  // bytes that are kept
constexpr std::size_t longest_framing = 32;  // of a string: type byte, digits of the length, two line ends
constexpr int most_levels = 8;               // of nested arrays; hiredis before 1.0 itself refuses more

ReplyInProgress& in_progress(const redisReadTask* task) noexcept {
  return *static_cast<ReplyInProgress*>(task->privdata);
}

/// Returns null, which makes hiredis stop reading.
std::nullptr_t refuse(const redisReadTask* task, const char* why) noexcept {
  in_progress(task).refusal = why;
  return nullptr;
}

int level_of(const redisReadTask* task) noexcept {
  int level = 0;
  for (; task; task = task->parent) ++level;
  return level;
}

/// The reply that the next object is stored in: the root, or an element of the enclosing array. Null refuses the object.
Reply* place(const redisReadTask* task) noexcept {
  if (!task->parent) return &in_progress(task).root;
  auto* const parent = static_cast<Reply*>(task->parent->obj);
  const auto index = static_cast<std::size_t>(task->idx);
  return index < parent->elements.size() ? &parent->elements[index] : nullptr;
}

Reply* put(const redisReadTask* task, Reply::Kind kind) noexcept {
  // RESP3 has a separate type for null. In RESP2, null is a string or an array of length -1.
  const bool is_resp3 = task->type == REDIS_REPLY_NIL || task->type > REDIS_REPLY_ERROR;
  if (is_resp3) return refuse(task, "the reply is in RESP3, which was not requested");
  Reply* const reply = place(task);
  if (!reply) return nullptr;
  reply->kind = kind;
  reply->integer = 0;
  reply->text.clear();
  reply->elements.clear();
  return reply;
}

// hiredis is C code, so no exception may pass through it. On lack of memory these functions return null, as it expects.

void* put_string(const redisReadTask* task, char* text, std::size_t size) noexcept try {
  const Reply::Kind kind = task->type == REDIS_REPLY_ERROR    ? Reply::Kind::error
                           : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                              : Reply::Kind::string;
  std::size_t& left = in_progress(task).left.text;
  if (size > left) return refuse(task, in_progress(task).too_long.c_str());
  Reply* const reply = put(task, kind);
  if (!reply) return nullptr;
  reply->text.assign(text, kind == Reply::Kind::error ? std::min(size, longest_error) : size);
  left -= size;
  return reply;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// A template because the type of the size changed from int to size_t in hiredis 1.0.
template <class Size>
void* put_array(const redisReadTask* task, Size size) noexcept try {
  const auto wanted = static_cast<std::size_t>(size);
  std::size_t& left = in_progress(task).left.elements;
  if (wanted > left) return refuse(task, "the reply has too many elements");
  if (level_of(task) > most_levels) return refuse(task, "the reply has too many nested arrays");
  Reply* const reply = put(task, Reply::Kind::array);
  if (!reply) return nullptr;
  reply->elements.resize(wanted);
  left -= wanted;
  return reply;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void* put_integer(const redisReadTask* task, long long integer) noexcept {
  Reply* const reply = put(task, Reply::Kind::integer);
  if (reply) reply->integer = integer;
  return reply;
}

void* put_nil(const redisReadTask* task) noexcept { return put(task, Reply::Kind::nil); }

constexpr redisReplyObjectFunctions make_functions() noexcept {
  redisReplyObjectFunctions functions{};
  functions.createString = put_string;
  functions.createArray = put_array;
  functions.createInteger = put_integer;
  functions.createNil = put_nil;
  functions.freeObject = [](void*) {};  // objects belong to the root reply
#if HIREDIS_MAJOR >= 1
  functions.createDouble = [](const redisReadTask* task, double, char*, std::size_t) -> void* {
    return put(task, Reply::Kind::nil);
  };
  functions.createBool = [](const redisReadTask* task, int) -> void* { return put(task, Reply::Kind::nil); };
#endif
  return functions;
}

/// Digits without a leading zero, of a number that is surely not too large.
bool is_usual(std::string_view number) noexcept {
  return number.size() <= 18 && (number.front() != '0' || number.size() == 1) &&
         std::all_of(number.begin(), number.end(), [](char digit) { return digit >= '0' && digit <= '9'; });
}

// Not a local variable, as a child of fork() could wait for ever for another thread that was just initialising it.
constinit redisReplyObjectFunctions functions = make_functions();  // not const, as hiredis wants it

}  // namespace

void Reader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

Reader::Reader(ReplyLimits limits) : in_progress_{std::make_unique<ReplyInProgress>()} {
  in_progress_->limits = limits;
  in_progress_->left = limits;
  in_progress_->too_long = "the reply is larger than " + std::to_string(limits.text / 1024) + " KiB";
  reader_.reset(redisReaderCreateWithFunctions(&functions));
  if (!reader_) throw std::bad_alloc{};
  reader_->privdata = in_progress_.get();
}

Reader::~Reader() = default;

void Reader::feed(const char* bytes, std::size_t size) {
  pass_lines_on();
  const bool is_between_replies = reader_->pos == reader_->len && reader_->ridx < 0;
  if (!is_between_replies || size > lines_.size()) {
    redisReaderFeed(reader_.get(), bytes, size);
    return;
  }
  std::copy_n(bytes, size, lines_.begin());
  lines_end_ = size;
}

/// Gives the rest of the lines to hiredis.
void Reader::pass_lines_on() {
  if (lines_begin_ < lines_end_)
    redisReaderFeed(reader_.get(), lines_.data() + lines_begin_, lines_end_ - lines_begin_);
  lines_begin_ = lines_end_ = 0;
}

/// Returns null if no short status, nil or integer in its usual form comes next.
const Reply* Reader::next_line() noexcept {
  const std::string_view lines{lines_.data() + lines_begin_, lines_end_ - lines_begin_};
  const std::size_t end = lines.find_first_of("\r\n");
  if (end == std::string_view::npos || end < 2 || lines.substr(end, 2) != "\r\n") return nullptr;
  const std::string_view value = lines.substr(1, end - 1);
  // So short that the text needs no memory.
  const bool is_status =
      lines.front() == '+' && value.size() <= std::min<std::size_t>(15, in_progress_->limits.text);
  const bool is_nil = lines.substr(0, end) == "$-1";
  const bool is_integer = lines.front() == ':' && is_usual(value);
  if (!is_status && !is_nil && !is_integer) return nullptr;
  Reply& reply = in_progress_->root;
  reply.kind = is_status ? Reply::Kind::status : is_nil ? Reply::Kind::nil : Reply::Kind::integer;
  reply.text.assign(is_status ? value : std::string_view{});
  reply.elements.clear();
  reply.integer = 0;
  if (is_integer) std::from_chars(value.data(), value.data() + value.size(), reply.integer);
  lines_begin_ += end + 2;
  return &reply;
}

const Reply* Reader::next() {
  if (lines_begin_ < lines_end_ && !error()) {
    if (const Reply* const reply = next_line()) return reply;
    pass_lines_on();
  }
  // Without bytes, hiredis would begin a reply, and no line could be read here until that is complete.
  if (reader_->pos == reader_->len) return nullptr;
  auto& [limits, left, root, refusal, too_long] = *in_progress_;
  void* reply = nullptr;
  if (refusal || redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) return nullptr;
  if (reply) {
    left = limits;
    return &root;
  }
  // Refuse a string that is too long before the rest of it arrives.
  if (reader_->len - reader_->pos > left.text + longest_framing) refusal = too_long.c_str();
  return nullptr;
}

const char* Reader::error() const noexcept {
  if (in_progress_->refusal) return in_progress_->refusal;
  return reader_->err ? reader_->errstr : nullptr;
}

}  // namespace redlock::inline v1::detail
