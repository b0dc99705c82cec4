import { invalidAtStart } from '../errors/configuration.ts'

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
  if (typeof client !== 'function' && !(isObject && ('call' in client || 'sendCommand' in client)))
    throw invalidAtStart('redisStore needs a client of redis or ioredis, or a function that sends a command.')
  const send = createSender(client)
  const commands = toCommands(send)
  return {
    ...commands,
    durable: wait === undefined ? commands : toCommands(createReplicatedSender(client, send, wait)),
  }
}

export interface ReplicaWait {
  /** How many replicas have to confirm a write before it counts as done: a positive integer. */
  count: number
  /** How long to wait for them, in milliseconds: a positive integer. Default 500. */
  timeout?: number | undefined
}

/** A write that the primary has, but too few replicas have confirmed: a failover may lose it. */
export class NotReplicatedError extends Error {
  override readonly name = 'NotReplicatedError'
}

/** Sends commands on one connection. Rejects if one of them fails, or if the connection ends between them. */
type Pipeline = (commands: string[][], key: string) => Promise<unknown[]>

/** A client of `ioredis`. */
interface Pipelining {
  pipeline(commands: string[][]): { exec(): Promise<[error: unknown, reply: unknown][] | null> }
}

/** A client of `redis`. The arguments before those of the command are those of its `sendCommand`. */
interface Batching {
  multi(): { addCommand(...args: unknown[]): unknown; execAsPipeline(): Promise<unknown[]> }
}

const isPipelining = (client: object): client is Pipelining => 'pipeline' in client
const isBatching = (client: object): client is Batching => 'multi' in client

function createPipeline(client: RedisClient): Pipeline {
  if (isPipelining(client)) {
    return async (commands) => {
      const replies = (await client.pipeline(commands.map((command) => ['call', ...command])).exec()) ?? []
      return replies.map(([error, reply]) => {
        if (error) throw error
        return reply
      })
    }
  }
  if (isBatching(client)) {
    const routing = (key: string): unknown[] => {
      if ('masters' in client) return [key, false]
      return 'getMasterNode' in client ? [false] : []
    }
    return async (commands, key) => {
      const batch = client.multi()
      for (const command of commands) batch.addCommand(...routing(key), command)
      return batch.execAsPipeline()
    }
  }
  throw invalidAtStart(
    'waitForReplicas needs a client of redis or ioredis: WAIT has to use the connection that sent the command.',
  )
}

/* Clients do not follow a redirection of a pipeline. The command was not run. Until a slot has moved (`ASK`), repeating is of no use. */
const isRedirection = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('MOVED ')

/**
 * Creates a sender that succeeds only when enough replicas have the write of the command.
 *
 * @throws InvalidConfigurationError `wait` is not valid, or the client cannot send two commands on one connection
 */
function createReplicatedSender(
  client: RedisClient,
  send: RedisCommand,
  { count, timeout = 500 }: ReplicaWait,
): RedisCommand {
  if (![count, timeout].every((value) => Number.isSafeInteger(value) && value > 0))
    throw invalidAtStart('waitForReplicas needs count and timeout (milliseconds) as positive integers.')
  const pipeline = createPipeline(client)

  return async (command, key) => {
    const attempt = (): Promise<unknown[]> =>
      pipeline([command, ['WAIT', String(count), String(timeout)]], key)
    const [reply, copies] = await attempt().catch(async (error: unknown) => {
      if (!isRedirection(error)) throw error
      // The client follows the redirection of a single command, and then knows the new node. The scripts need the permission for this
      // one, too, and it works with keys of every type.
      await send(['TTL', key], key)
      return attempt()
    })
    if (Number(copies) >= count) return reply
    throw new NotReplicatedError(`${copies} of ${count} replicas confirmed a write within ${timeout} ms`)
  }
}
