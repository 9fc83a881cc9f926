// node lock.js LIBRARY RESOURCE ATTEMPTS TIMES COMMAND…: takes the lock RESOURCE by a library from npm, runs the command and
// releases the lock, TIMES times. Exits with 9 if it has not got the lock after that many attempts.
const { execFile } = require("node:child_process");
const { promisify } = require("node:util");
const Redis = require("ioredis");
const Redlock = require("redlock");
const { RedlockMutex } = require("redis-semaphore");

const [library, resource, attempts, times, ...command] = process.argv.slice(2);
const ttl = 30_000;
const pause = 10;
const nodes = process.env.REDLOCK_NODES.split(",").map((url) => new Redis(url));

// Each returns how to release the lock, or nothing if others had it.
const lockers = {
  async redlock() {
    const locks = new Redlock(nodes, { retryCount: attempts - 1, retryDelay: pause, retryJitter: pause });
    try {
      const lock = await locks.lock(resource, ttl);
      return () => lock.unlock();
    } catch (error) {
      if (error.name !== "LockError") throw error;
    }
  },
  async "redis-semaphore"() {
    const mutex = new RedlockMutex(nodes, resource.replace(/^mutex:/, ""), {
      lockTimeout: ttl,
      acquireTimeout: 600_000,
      acquireAttemptsLimit: Number(attempts),
      retryInterval: pause,
    });
    if (await mutex.tryAcquire()) return () => mutex.release();
  },
};

async function main() {
  for (let time = 0; time < times; ++time) {
    const release = await lockers[library]();
    if (!release) return 9;
    await promisify(execFile)(command[0], command.slice(1));
    await release();
  }
  return 0;
}

main()
  .then((code) => process.exit(code))
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
