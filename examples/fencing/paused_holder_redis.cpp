// A holder that was paused past its deadline damages a value in Redis. Then a script that compares fencing tokens guards the
// value. The environment names the lock's nodes; the data is on a separate server.
#include "paused_holder.hpp"

#include <hiredis/hiredis.h>

#include <exception>
#include <iostream>
#include <memory>
#include <redlock/fencing/fenced_value.hpp>
#include <redlock/testing/local_nodes.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class RedisBalance {
 public:
  explicit RedisBalance(int port) : context_{redisConnect("127.0.0.1", port), redisFree} {
    if (!context_ || context_->err != 0) throw std::runtime_error{"cannot connect to the data's server"};
  }

  int read() { return std::stoi(ask({"GET", key})); }
  void write(int balance) { ask({"SET", key, std::to_string(balance)}); }

  int read(redlock::FencingToken token) { return std::stoi(ask_guarded({std::to_string(token.value())})); }
  void write(int balance, redlock::FencingToken token) {
    ask_guarded({std::to_string(token.value()), std::to_string(balance)});
  }

 private:
  using Words = std::vector<std::string>;

  std::string ask_guarded(const Words& arguments) {
    Words words{"EVAL", std::string{redlock::fenced_value_script}, "2", key,
                redlock::fenced_value_token_key(key)};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return ask(words);
  }

  std::string ask(const Words& words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    void* const answer =
        redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
    const std::unique_ptr<redisReply, void (*)(void*)> reply{static_cast<redisReply*>(answer),
                                                             freeReplyObject};
    if (!reply) throw std::runtime_error{"no answer from the data's server"};
    std::string text{reply->str == nullptr ? "" : reply->str};
    if (text.starts_with("FENCED ")) throw paused_holder::Refused{text};
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error{text};
    return text;
  }

  const std::string key = "balance/alice";
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
};

}  // namespace

int main() try {
  const redlock::testing::LocalNodes data{1};  // the application's Redis
  const int port = data.port(0);
  return paused_holder::show([port] { return RedisBalance{port}; });
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
