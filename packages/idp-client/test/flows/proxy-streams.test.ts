import { createServer } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { customClock, IdpClient } from '../../src/adapters/node/index.ts'
import { MemorySessionStore } from '../../src/stores/memory.ts'
