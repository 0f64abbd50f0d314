import { join } from 'node:path';
import { writeConfigFile } from './config-file.ts';
import { METHODS } from './keys.ts';
import { findProgram, freePort, SERVER_CPU, spawnOn } from './processes.ts';
import { type Environment, listening, type Server } from './servers.ts';
import type { Authorize } from './wrk.ts';

const ADMIN = 'bench-admin';

/** It takes bearer tokens for JWTs, and a password for a key. */
const authorize: Authorize = (key) => `Basic ${Buffer.from(`:${key}`).toString('base64')}`;

/** Keeps responses for the time of a slot. */
const CACHE = JSON.stringify({
  connectors: [{ id: 'memory', driver: 'memory', memory: { maxItems: 100_000, maxTotalSize: '256MB' } }],
  policies: [{ network: '*', method: '*', finality: 'realtime', connector: 'memory', ttl: '400ms' }],
});

/** The memory connector finds a key only if its user is the wildcard of its look-ups, so all keys share this user. */
const USER = '*';

async function addKey({ port }: Server, apiKey: string): Promise<void> {
  const key = { projectId: 'v1', connectorId: 'keys', apiKey, userId: USER };
  const response = await fetch(`http://127.0.0.1:${port}/admin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-erpc-secret-token': ADMIN },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'erpc_addApiKey', params: [key] }),
  });
  const text = await response.text();
  if (!text.includes('"success":true')) throw new Error(`erpc did not add a key: ${text}`);
}

/**
 * Starts eRPC with a Solana network.
 * @param usesCache - whether it caches and coalesces.
 * @returns null if it is not installed.
 */
export async function startErpc(
  name: string,
  { dir, nodePort, keys, cpus = SERVER_CPU }: Environment,
  usesCache: boolean,
): Promise<Server | null> {
  const program = findProgram('erpc');
  if (program === null) return null;
  const port = await freePort();
  const file = writeConfigFile(join(import.meta.dirname, 'erpc.yaml'), dir, {
    ...{ PORT: port, NODE_PORT: nodePort, ADMIN, COALESCE: usesCache, CACHE: usesCache ? CACHE : '~' },
    METHODS: METHODS.map((method) => `"${method}"`).join(', '),
  });
  const server = { name, port, process: spawnOn(cpus, program, ['--config', file]), authorize };
  // Until it knows the node, its health check fails.
  await listening(server, '/v1/rpc/healthcheck', ({ ok }) => ok);
  for (const secret of keys.secrets) await addKey(server, secret);
  return server;
}
