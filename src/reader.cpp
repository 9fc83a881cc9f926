#include "reader.hpp"

#include <hiredis/hiredis.h>
#include <hiredis/read.h>

#include <new>
#include <type_traits>

namespace redlock::inline v1::detail {

using core::Reply;

struct ReplyInProgress {
  Reply root;
  std::size_t elements = 0;  // of all arrays in it
};

namespace {

constexpr std::size_t longest_reply = std::size_t{1} << 20U;
constexpr std::size_t most_elements = 4096;  // a master with hundreds of replicas names them all

/// Where the reader wants the next object: the root, or its place in the array above. Null refuses it.
Reply* place(const redisReadTask* task) noexcept {
  if (!task->parent) return &static_cast<ReplyInProgress*>(task->privdata)->root;
  auto* const parent = static_cast<Reply*>(task->parent->obj);
  const auto index = static_cast<std::size_t>(task->idx);
  return index < parent->elements.size() ? &parent->elements[index] : nullptr;
}

Reply* put(const redisReadTask* task, Reply::Kind kind) noexcept {
  Reply* const reply = place(task);
  if (!reply) return nullptr;
  reply->kind = kind;
  reply->integer = 0;
  reply->text.clear();
  reply->elements.clear();
  return reply;
}

// No exception may pass through the reader, which is C: for lack of memory these return null, as it expects.

void* put_string(const redisReadTask* task, char* text, std::size_t size) noexcept try {
  const Reply::Kind kind = task->type == REDIS_REPLY_ERROR    ? Reply::Kind::error
                           : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                              : Reply::Kind::string;
  Reply* const reply = put(task, kind);
  if (reply) reply->text.assign(text, size);
  return reply;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// The type of the size changed from int to size_t with hiredis 1.0.
template <class Size>
void* put_array(const redisReadTask* task, Size size) noexcept try {
  const auto wanted = static_cast<std::size_t>(size);
  std::size_t& elements = static_cast<ReplyInProgress*>(task->privdata)->elements;
  if (wanted > most_elements - elements) return nullptr;
  Reply* const reply = put(task, Reply::Kind::array);
  if (!reply) return nullptr;
  reply->elements.resize(wanted);
  elements += wanted;
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

redisReplyObjectFunctions make_functions() noexcept {
  redisReplyObjectFunctions functions{};
  functions.createString = put_string;
  functions.createArray = put_array;
  functions.createInteger = put_integer;
  functions.createNil = put_nil;
  functions.freeObject = [](void*) {};  // objects belong to the root reply
#if HIREDIS_MAJOR >= 1
  // RESP3, which we never ask for.
  functions.createDouble = [](const redisReadTask*, double, char*, std::size_t) -> void* { return nullptr; };
  functions.createBool = [](const redisReadTask*, int) -> void* { return nullptr; };
#endif
  return functions;
}

}  // namespace

void Reader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

Reader::Reader() : in_progress_{std::make_unique<ReplyInProgress>()} {
  static redisReplyObjectFunctions functions = make_functions();
  reader_.reset(redisReaderCreateWithFunctions(&functions));
  if (!reader_) throw std::bad_alloc{};
  reader_->privdata = in_progress_.get();
}

Reader::~Reader() = default;

void Reader::feed(const char* bytes, std::size_t size) { redisReaderFeed(reader_.get(), bytes, size); }

const Reply* Reader::next() {
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) return nullptr;
  if (reply)
    in_progress_->elements = 0;
  else
    too_long_ = reader_->len - reader_->pos > longest_reply;
  return static_cast<const Reply*>(reply);
}

const char* Reader::error() const noexcept {
  if (too_long_) return "a reply of more than 1 MiB";
  return reader_->err ? reader_->errstr : nullptr;
}

}  // namespace redlock::inline v1::detail
