import { Agent, request } from 'undici';
import { SocketClient } from '../../service/socket-client.ts';

/** The outcome of a call. `broken`: the response was incomplete. */
export type Reply =
  | Readonly<{ kind: 'result'; result: unknown }>
  | Readonly<{ kind: 'error'; code: number; text: string; data: Readonly<Record<string, unknown>> }>
  | Readonly<{ kind: 'broken' | 'none'; text: string }>;

export type RpcCallInput = Readonly<{ method: string; params: readonly unknown[] }>;

/** A client for a protocol of the gateway. Returns a reply for each call and never throws. */
export type TestClient = Readonly<{
  name: string;
  send(calls: readonly RpcCallInput[], session?: string): Promise<Reply[]>;
  close(): Promise<unknown>;
}>;

/** Longer than the gateway's own timeout. */
const WAIT_MS = 45_000;
const TEXT_MAX = 300;

type Answer = Readonly<{
  id?: unknown;
  result?: unknown;
  error?: Readonly<{ code: number; message: string; data?: unknown }>;
}>;

function replyOf(answer: Answer | undefined): Reply {
  if (answer?.error !== undefined) {
    const { code, data } = answer.error;
    const text = JSON.stringify(answer.error).slice(0, TEXT_MAX);
    return { kind: 'error', code, text, data: (data ?? {}) as Readonly<Record<string, unknown>> };
  }
  if (answer === undefined || !('result' in answer))
    return { kind: 'none', text: `no answer: ${JSON.stringify(answer)}` };
  return { kind: 'result', result: answer.result };
}

/** JSON-RPC over HTTP; several calls are sent as a batch. */
export function openHttpClient(url: string, key: string): TestClient {
  // One connection per request, so that the client queues none.
  const agent = new Agent({ pipelining: 1, headersTimeout: WAIT_MS, bodyTimeout: WAIT_MS });
  const fixed = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const send: TestClient['send'] = async (calls, session) => {
    const all = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    const headers = session === undefined ? fixed : { ...fixed, 'x-solway-session': session };
    const body = JSON.stringify(all.length === 1 ? all[0] : all);
    let received = '';
    try {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent });
      answer.body.setEncoding('utf8');
      for await (const piece of answer.body) received += piece;
    } catch (fault) {
      const kind = received === '' ? 'none' : 'broken';
      return calls.map(() => ({ kind, text: `${String(fault)} after ${received.length} characters` }));
    }
    try {
      const answer = JSON.parse(received) as Answer | Answer[];
      // A rejected batch has a single error.
      if (!Array.isArray(answer)) return calls.map(() => replyOf(answer));
      const byId = new Map(answer.map((one) => [one.id, one]));
      return calls.map((_, id) => replyOf(byId.get(id)));
    } catch {
      return calls.map(() => ({ kind: 'none', text: `no JSON: ${received.slice(0, TEXT_MAX)}` }));
    }
  };
  return { name: 'http', send, close: () => agent.destroy() };
}

/** JSON-RPC over one WebSocket, which is reopened after it closes. */
export function openSocketClient(url: string): TestClient {
  let opening: Promise<SocketClient> | null = null;
  const open = async (): Promise<SocketClient> => {
    const client = await SocketClient.open(url);
    void client.ended.then(() => {
      opening = null;
    });
    return client;
  };
  const call = async ({ method, params }: RpcCallInput): Promise<Reply> => {
    let timer: NodeJS.Timeout | undefined;
    try {
      opening ??= open();
      const client = await opening;
      const late = new Promise<Reply>((resolve) => {
        timer = setTimeout(resolve, WAIT_MS, { kind: 'none', text: `no answer in ${WAIT_MS} ms` });
      });
      const closed = client.ended.then(({ code, reason }): Reply => {
        return { kind: 'none', text: `the socket was closed with ${code} ${reason}` };
      });
      return await Promise.race([client.call(method, params).then(replyOf), late, closed]);
    } catch (fault) {
      opening = null;
      return { kind: 'none', text: String(fault) };
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    name: 'websocket',
    send: (calls) => Promise.all(calls.map(call)),
    close: async () => (await opening)?.close(),
  };
}
