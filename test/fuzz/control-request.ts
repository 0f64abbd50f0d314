import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type JsonValue, writeJson } from '../../src/base/json.ts';
import { ApiError } from '../../src/control/api/api-error.ts';
import { type ContractName, contract, routeOf } from '../../src/control/api/contract/contract.ts';
import { decodeCursor, encodeCursor } from '../../src/control/api/cursor.ts';
import {
  parseRouteInput,
  type RawRouteInput,
  readBytes,
  readJson,
  readQuery,
} from '../../src/control/api/server/read-request.ts';
import { type JsonSchema, jsonFor } from './engine/generate-json.ts';
import type { Random } from './engine/mutate.ts';

export const from = 'clients of the control API';
export const covers = [
  'control/api/cursor.ts',
  'control/api/server/read-request.ts',
  'control/api/server/read-request.ts',
];

const names = Object.keys(contract) as ContractName[];
const ADDRESS = 'http://127.0.0.1:9/';

const bodies = [
  '{"name":"n","email":"a@b.example","role":"member","product":"rpc","plan":"default"}',
  '{"name":"n","product":"rpc","rules":{"cidrs":["192.0.2.0/24"],"origins":["https://a.example"],"methods":["get*"],"rate":{"perSecond":5,"burst":5}},"expiresAt":1700000000000}',
  '{"network":"devnet","name":"node","url":"https://a.example/key","headers":{"x":"y"},"requestsPerSecond":5}',
  '{"id":"p","limits":{"rpc_per_second":5,"prices":{"getBlock":2}},"enabled":true,"to":"https://a.example/hook"}',
];
const query = `cursor=${encodeCursor('abc', 5)}&limit=10&from=1700000000000&to=1700000100000&status=ok&key=7hQ2mKpZ`;

/** The first byte names the route, the second says whether a query or a body follows. */
export const seeds: readonly Uint8Array[] = [
  ...names.map((_, at) => Buffer.from([at, 0, ...Buffer.from(query)])),
  ...names.map((_, at) => Buffer.from([at, 1, ...Buffer.from(bodies[at % bodies.length] ?? '')])),
];

const schemas = names.map((name) => {
  const { query: requested, body } = routeOf(name);
  const schemaOf = (type: z.ZodType | undefined): JsonSchema | null =>
    type === undefined ? null : (z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as JsonSchema);
  return { query: schemaOf(requested), body: schemaOf(body) };
});

const asQuery = (value: JsonValue): string =>
  new URLSearchParams(
    Object.entries(value ?? {}).map(([name, one]): [string, string] => [name, String(one)]),
  ).toString();

/** Questions that are as the contract has them, or nearly. */
export function generate(random: Random): Uint8Array {
  const at = random() % names.length;
  const { query: requested, body } = schemas[at] ?? { query: null, body: null };
  if (body !== null) return Buffer.from([at, 1, ...Buffer.from(writeJson(jsonFor(body, random)))]);
  return Buffer.from([at, 0, ...Buffer.from(asQuery(requested === null ? {} : jsonFor(requested, random)))]);
}

async function questionIn(bytes: Uint8Array): Promise<RawRouteInput> {
  const rest = bytes.subarray(2);
  if ((bytes[1] ?? 0) % 2 === 0) {
    const text = Buffer.from(rest).toString('latin1');
    return { path: {}, query: readQuery(`${ADDRESS}?${text}`), body: undefined };
  }
  const headers = { 'content-type': 'application/json' };
  const request = new Request(ADDRESS, { method: 'POST', headers, body: Uint8Array.from(rest) });
  const arrived = await readBytes(request, { maxBytes: 4_096, timeoutMs: 60_000 });
  return {
    path: { id: Buffer.from(rest).toString('latin1', 0, 9) },
    query: {},
    body: readJson(request, arrived),
  };
}

function checkCursor(cursor: string): void {
  const parts = decodeCursor(cursor, 'string', 'number');
  if (parts === null || !isDeepStrictEqual(decodeCursor(encodeCursor(...parts), 'string', 'number'), parts))
    throw new Error('a cursor leads elsewhere when it is written again');
}

/** A question is as the contract has it, and the same when it is asked again as it was read; or it is refused. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  const name = names[(bytes[0] ?? 0) % names.length] as ContractName;
  try {
    const raw = await questionIn(bytes);
    if (typeof raw.query.cursor === 'string') checkCursor(raw.query.cursor);
    const given = parseRouteInput(name, raw);
    const again = parseRouteInput(name, { path: {}, query: given.query ?? {}, body: given.body ?? raw.body });
    if (!isDeepStrictEqual([again.query, again.body], [given.query, given.body]))
      throw new Error(`${name} reads what it has read as something else`);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) return false;
    throw error;
  }
}
