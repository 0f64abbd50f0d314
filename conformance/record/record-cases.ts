import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { JsonValue } from '../../src/base/json.ts';
import type { NodeAddress, RpcNode } from '../node.ts';
import type { Facts, HttpRequest, RecordedCase } from './cases/recorded-case.ts';
import { shownFacts } from './facts.ts';
import type { Names } from './names.ts';
import { Normalizer } from './normalize.ts';
import { pause, type ScriptRun, type Wait } from './run-script.ts';

/** A response as it is compared. Headers are those of `HEADERS` that are present. */
export type RecordedResponse = Readonly<{
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Normalized. */
  body: string;
}>;

export type RecordedRow = Readonly<{ name: string; request: string; response: RecordedResponse }>;

const HEADERS = [
  ...['content-type', 'allow', 'accept', 'location', 'vary', 'content-encoding'],
  ...['access-control-allow-origin', 'access-control-allow-methods', 'access-control-allow-headers'],
  ...['access-control-max-age', 'access-control-allow-credentials'],
];

type Raw = Readonly<{ status: number; headers: Record<string, string>; body: string }>;

async function exchangeOnce(address: NodeAddress, request: HttpRequest, agent: Agent): Promise<Raw> {
  const { verb, path, headers, body } = request;
  const sent = httpRequest(path === '/' ? address.url : new URL(path, address.url), {
    ...{ method: verb, agent, timeout: 30_000 },
    headers: { ...address.headers, ...headers, 'content-length': Buffer.byteLength(body) },
  });
  sent.on('timeout', () => sent.destroy(new Error('no response within 30 s')));
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const shown = HEADERS.flatMap((name) => {
    const value = response.headers[name];
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(shown),
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

const NO_RESPONSE: Raw = { status: 0, headers: {}, body: 'no response' };

/** The server may close an idle connection at any time, so only the second failure counts. */
async function exchange(address: NodeAddress, request: HttpRequest, agent: Agent): Promise<Raw> {
  try {
    return await exchangeOnce(address, request, agent);
  } catch {
    return exchangeOnce(address, request, agent).catch(() => NO_RESPONSE);
  }
}

/** A request in one line, with names in place of values. */
export function showRequest({ request }: RecordedCase): string {
  const { verb, path, headers, body } = request(shownFacts);
  const isOrdinary = verb === 'POST' && path === '/' && headers['content-type'] === 'application/json';
  if (isOrdinary && Object.keys(headers).length === 1) return shorten(body);
  return shorten(`${verb} ${path} ${JSON.stringify(headers)} ${body}`);
}

const SHOWN_MAX_CHARS = 160;
const shorten = (text: string): string =>
  text.length > SHOWN_MAX_CHARS ? `${text.slice(0, SHOWN_MAX_CHARS)}… ${text.length} characters` : text;

/** Slots that pass until the blockhash of the first step has expired and the last step is finalized. */
const SETTLED_SLOTS = 160;

/** Waits until no response depends on how much time has passed since the script. */
export async function settle(node: RpcNode, { landed }: ScriptRun, wait: Wait = pause): Promise<void> {
  const slots = [...landed.values()].map(({ slot }) => slot);
  for (;;) {
    const finalized = Number(await node.requireResult('getSlot', [{ commitment: 'finalized' }]));
    if (finalized > Math.max(...slots) && finalized > Math.min(...slots) + SETTLED_SLOTS) return;
    await wait();
  }
}

export async function finalizedBlockhash(node: RpcNode): Promise<string> {
  const result = await node.requireResult('getLatestBlockhash', [{ commitment: 'finalized' }]);
  return String((result as { value: { blockhash: JsonValue } }).value.blockhash);
}

/** Sends cases to a settled ledger, one after the other. */
export async function recordCases(
  cases: readonly RecordedCase[],
  address: NodeAddress,
  facts: Facts,
  names: Names,
  onRow: (done: number) => void = () => {},
): Promise<RecordedRow[]> {
  const normalizer = new Normalizer(names);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const rows: RecordedRow[] = [];
  for (const recorded of cases) {
    const { status, headers, body } = await exchange(address, recorded.request(facts), agent);
    const response = { status, headers, body: normalizer.normalize(recorded.method, body) };
    rows.push({ name: recorded.name, request: showRequest(recorded), response });
    onRow(rows.length);
  }
  agent.destroy();
  return rows;
}
