import { InvalidConfigurationError } from '../errors/configuration.ts'

/** Sends a command with its arguments; `key` is the only key in it, by which a cluster finds the node. */
export type RedisCommand = (command: string[], key: string) => Promise<unknown>

/**
 * A connected client: of `redis` (client, pool or cluster), of `ioredis` (client or cluster), or for any other a
 * function that sends a command.
 */
export type RedisClient =
  | RedisCommand
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> }
  | {
      readonly masters: unknown
      sendCommand(key: string, isReadonly: boolean, command: string[]): Promise<unknown>
    }

function createSender(client: RedisClient): RedisCommand {
  if (typeof client === 'function') return client
  if ('call' in client) return ([name = '', ...args]) => client.call(name, ...args)
  // Of the clients of `redis` only a cluster has masters; it is told the key, and never to ask a replica.
  if ('masters' in client) return (command, key) => client.sendCommand(key, false, command)
  return (command) => client.sendCommand(command)
}

/** The commands of one client; every one has one key. */
export interface RedisCommands {
  send(name: string, key: string, ...args: string[]): Promise<unknown>
  /** Runs a Lua script, which finds the key in `KEYS[1]` and the rest in `ARGV`, as one atomic step. */
  run(script: string, key: string, ...args: string[]): Promise<unknown>
}

/** @throws InvalidConfigurationError it is no client that we know */
export function redisCommands(client: RedisClient): RedisCommands {
  const isObject = typeof client === 'object' && client !== null
  if (typeof client !== 'function' && !(isObject && ('call' in client || 'sendCommand' in client))) {
    const detail = 'redisStore needs a client of redis or ioredis, or a function that sends a command.'
    throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
  }
  const send = createSender(client)
  return {
    send: (name, key, ...args) => send([name, key, ...args], key),
    run: (script, key, ...args) => send(['EVAL', script, '1', key, ...args], key),
  }
}
