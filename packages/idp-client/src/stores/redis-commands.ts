import { invalidStore } from './record.ts'
import type { ReplicaWait } from './redis-replicas.ts'
import { createReplicatedSender } from './redis-replicas.ts'

/** Sends a command with its arguments; `key` is its only key, which a cluster needs to find the node. */
export type RedisCommand = (command: string[], key: string) => Promise<unknown>

/**
 * A connected client: of `redis` (client, pool, cluster or sentinel), of `ioredis` (client or cluster), or for any other
 * library a function that sends a command.
 */
export type RedisClient =
  | RedisCommand
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> }
  | {
      readonly masters: unknown
      sendCommand(key: string, isReadonly: boolean, command: string[]): Promise<unknown>
    }
  | {
      getMasterNode(): unknown
      sendCommand(isReadonly: boolean, command: string[]): Promise<unknown>
    }

function createSender(client: RedisClient): RedisCommand {
  if (typeof client === 'function') return client
  if ('call' in client) return ([name = '', ...args]) => client.call(name, ...args)
  // Of the clients of `redis` only a cluster has masters; it needs the key, and must never read from a replica.
  if ('masters' in client) return (command, key) => client.sendCommand(key, false, command)
  if ('getMasterNode' in client) return (command) => client.sendCommand(false, command)
  return (command) => client.sendCommand(command)
}

/** Commands of one client; each has one key. */
export interface RedisCommands {
  send(name: string, key: string, ...args: string[]): Promise<unknown>
  /** Runs a Lua script atomically, with the key in `KEYS[1]` and the rest in `ARGV`. */
  run(script: string, key: string, ...args: string[]): Promise<unknown>
}

export interface AllRedisCommands extends RedisCommands {
  /** The same commands for writes that must not be lost: with `waitForReplicas` they wait for replicas. */
  readonly durable: RedisCommands
}

const toCommands = (send: RedisCommand): RedisCommands => ({
  send: (name, key, ...args) => send([name, key, ...args], key),
  run: (script, key, ...args) => send(['EVAL', script, '1', key, ...args], key),
})

/** @throws InvalidConfigurationError the client is not supported, or `wait` is not valid or needs another client */
export function redisCommands(client: RedisClient, wait: ReplicaWait | undefined): AllRedisCommands {
  const isObject = typeof client === 'object' && client !== null
  if (typeof client !== 'function' && !(isObject && ('call' in client || 'sendCommand' in client))) {
    throw invalidStore('redisStore needs a client of redis or ioredis, or a function that sends a command.')
  }
  const send = createSender(client)
  const commands = toCommands(send)
  return {
    ...commands,
    durable: wait === undefined ? commands : toCommands(createReplicatedSender(client, send, wait)),
  }
}
