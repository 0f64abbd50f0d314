import type { rpcHandlers } from '../../packages/localnet/src/rpc-handlers.ts';
import type { Rig } from '../../packages/localnet/test/rig.ts';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../src/base/json.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { type NodeError, NodeRejection } from '../../src/protocol/rest/node-rejection.ts';
import type { RestCaller, RestInput, RestResponse } from '../../src/protocol/rest/route.ts';
import { type Endpoint, failuresOf } from '../../src/rest-api/endpoint.ts';
import { routeOf } from '../../src/rest-api/routes.ts';
import type { Services } from '../../src/rest-api/services.ts';

export type RecordedCall = Readonly<{ network: string; method: string; params: readonly WritableJson[] }>;

/** Replaces the ledger's response; undefined forwards the call. */
export type Answering = (made: RecordedCall) => Promise<JsonValue> | undefined;

/** REST caller on an embedded ledger that counts calls. */
export class LedgerCaller implements RestCaller {
  readonly ownerId = 'somebody';
  readonly calls: RecordedCall[] = [];
  readonly leaving = new AbortController();
  answering: Answering = () => undefined;
  readonly #rig: Rig;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  get signal(): AbortSignal {
    return this.leaving.signal;
  }

  readonly request: RestCaller['request'] = async (network, method, params) => {
    const made = { network, method, params };
    this.calls.push(made);
    const given = this.answering(made);
    if (given !== undefined) return given;
    const wire = parseJson(writeJson(params)) as JsonValue[];
    const answer = await this.#rig.callRpc(method as keyof typeof rpcHandlers, ...wire);
    const error = (answer as { error?: unknown } | null)?.error;
    if (error !== undefined) throw new NodeRejection(error as NodeError);
    return answer;
  };

  /** Calls per method since the last reading. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { method } of this.calls.splice(0)) counts[method] = (counts[method] ?? 0) + 1;
    return counts;
  }
}

export function inputOf(endpoint: Endpoint, fields: { [name: string]: WritableJson }): RestInput {
  const wire = parseJson(writeJson(fields)) as { [name: string]: JsonValue };
  if (endpoint.from !== 'query') return { query: new Map(), body: wire, file: null };
  const query = new Map(Object.entries(wire).map(([name, value]) => [name, [String(value)]]));
  return { query, body: undefined, file: null };
}

/** Checks a thrown failure against the declared ones; CLIENT_GONE is exempt. */
function declared(endpoint: Endpoint, thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.code === 'CLIENT_GONE') return thrown;
  if (failuresOf(endpoint).includes(thrown.code)) return thrown;
  return new Error(`${endpoint.name} does not declare that it may fail with ${thrown.code}`);
}

export async function answerOf(
  endpoint: Endpoint,
  fields: { [name: string]: WritableJson },
  caller: RestCaller,
  services: Partial<Services> = {},
): Promise<RestResponse & { result: JsonValue }> {
  const settings = { historyDays: 4, domainSuffix: '.sol' };
  const route = routeOf(endpoint, { settings, ...services } as Services);
  const { message, result } = await route.handle(inputOf(endpoint, fields), caller).catch((thrown) => {
    throw declared(endpoint, thrown);
  });
  const read = parseJson(writeJson(result));
  endpoint.result.parse(read);
  return { message, result: read };
}

export async function failureOf(
  ...request: Parameters<typeof answerOf>
): Promise<Error & { code?: string; problems?: unknown; error?: unknown; text?: string }> {
  return answerOf(...request).then(
    () => {
      throw new Error('the request did not fail');
    },
    (failure: Error) => failure,
  );
}
